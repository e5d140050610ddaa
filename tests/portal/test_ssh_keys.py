"""Who signs a challenge with a registered SSH key is its user, for what was asked, once; anything else is nobody."""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.endpoints import challenges
from cigri.endpoints.ssh_keys import add_key, remove_key
from cigri.flow.audit import list_audit
from cigri.flow.grid_identity import put_grid_key
from cigri.flow.ssh_keys import MOST_KEYS, put_key
from cigri.identity.callers import AccessScope
from cigri.settings.sections import PortalSettings, Settings
from cigri.ssh_keys.challenge_text import NAMESPACE
from cigri.ssh_keys.public_keys import read_public_key
from cigri.ssh_keys.signatures import LONGEST_SIGNATURE
from modules.portal import fair_queue, portal_door
from tests.factories import NOON, set_time
from tests.portal.conftest import Answered, Mint, Serve, Served, bearer
from tests.portal.ssh_keys import KEYGEN, make_key, public, signed

pytestmark = [pytest.mark.process, pytest.mark.skipif(KEYGEN is None, reason="needs OpenSSH's ssh-keygen")]
JSON = {"Content-Type": "application/json"}
REFUSED = (403, challenges.SIGNS_NOTHING)
HERE = "localhost"


def post(portal: Served, path: str, *, uid: int | None = None, token: str = "", **asked: object) -> Answered:
    headers = JSON | (bearer(token) if token else {})
    return portal.request("POST", f"/api/v1{path}", json.dumps(asked), uid=uid, headers=headers)


def challenge(portal: Served, user: str = "nobody", **asked: object) -> Any:
    what: Any = {"user": user, "host": HERE, **asked}
    told = post(portal, "/challenges", **what)
    assert told.status == 200, told.body
    return told.body


def answer(portal: Served, nonce: str, signature: str) -> Answered:
    return post(portal, "/challenges/answer", nonce=nonce, signature=signature)


def refusal(told: Answered) -> tuple[int, str]:
    return told.status, told.body["detail"]


def count(database: Database, table: str) -> int:
    with database.read() as conn:
        counted: int = conn.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
    return counted


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("keys")
    return {name: make_key(place / name) for name in ("own", "other", "daemons")}


@pytest.fixture
def key(keys: dict[str, Path], database: Database) -> Path:
    """Number 1, of nobody's; number 2 is daemon's."""
    with database.begin() as conn:
        put_key(conn, "nobody", read_public_key(public(keys["own"])))
        put_key(conn, "daemon", read_public_key(public(keys["daemons"])))
    return keys["own"]


def test_a_signature_gives_a_token_of_what_was_asked(portal: Served, key: Path, database: Database) -> None:
    asked = challenge(portal, scope="submit", expires_in=600, comment="laptop")
    made = answer(portal, asked["nonce"], signed(key, asked["text"])).body
    assert (made["user"], made["scope"], made["comment"]) == ("nobody", "submit", "laptop")
    known = portal.get("/api/v1/whoami", headers=bearer(made["token"])).body
    assert known == {"user": "nobody", "is_operator": False, "scope": "submit", "how": f"token {made['id']}"}
    with database.begin() as conn:
        (entry,) = list_audit(conn)
    assert (entry.user, entry.how, entry.endpoint) == ("nobody", "SSH key 1", "answer_challenge")
    assert entry.asked == {"scope": "submit", "expires_in": 600, "comment": "laptop", "token_id": made["id"]}


@pytest.mark.parametrize("options", [("-t", "ecdsa", "-b", "521"), ("-t", "rsa", "-b", "2048")], ids=" ".join)
def test_keys_of_each_kind_sign(options: tuple[str, ...], portal: Served, database: Database, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key", *options)
    with database.begin() as conn:
        put_key(conn, "nobody", read_public_key(public(key)))
    asked = challenge(portal)
    assert answer(portal, asked["nonce"], signed(key, asked["text"])).status == 200


def test_a_challenge_is_answered_once(portal: Served, key: Path, database: Database) -> None:
    asked = challenge(portal)
    signature = signed(key, asked["text"])
    assert answer(portal, asked["nonce"], signature).status == 200
    assert refusal(answer(portal, asked["nonce"], signature)) == REFUSED
    assert count(database, "tokens") == 1


def test_of_many_answers_at_once_one_counts(portal: Served, key: Path, database: Database) -> None:
    asked = challenge(portal)
    signature = signed(key, asked["text"])
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(lambda _: answer(portal, asked["nonce"], signature).status, range(8)))
    assert told.count(200) == 1
    assert set(told) <= {200, 403, 503}
    assert count(database, "tokens") == 1


def test_a_wrong_answer_uses_it_up(portal: Served, key: Path, keys: dict[str, Path]) -> None:
    asked = challenge(portal)
    assert refusal(answer(portal, asked["nonce"], signed(keys["other"], asked["text"]))) == REFUSED
    assert refusal(answer(portal, asked["nonce"], signed(key, asked["text"]))) == REFUSED


def test_a_challenge_is_over_after_a_minute(portal: Served, key: Path, database: Database) -> None:
    set_time(database, NOON)
    late, in_time = challenge(portal), challenge(portal)
    set_time(database, NOON + timedelta(seconds=59))
    assert answer(portal, in_time["nonce"], signed(key, in_time["text"])).status == 200
    set_time(database, NOON + timedelta(seconds=60))
    assert refusal(answer(portal, late["nonce"], signed(key, late["text"]))) == REFUSED


Forge = Callable[[dict[str, Path], Any], str]
FORGERIES: dict[str, Forge] = {
    "of a key that nobody registered": lambda keys, asked: signed(keys["other"], asked["text"]),
    "of another user's key": lambda keys, asked: signed(keys["daemons"], asked["text"]),
    "in another namespace": lambda keys, asked: signed(keys["own"], asked["text"], "git"),
    "in a longer namespace": lambda keys, asked: signed(keys["own"], asked["text"], f"{NAMESPACE}2"),
    "of another user": lambda keys, asked: signed(keys["own"], asked["text"].replace("nobody", "daemon")),
    "of more": lambda keys, asked: signed(keys["own"], asked["text"].replace("scope: read", "scope: operate")),
    "of a longer life": lambda keys, asked: signed(keys["own"], asked["text"].replace("2592000", "7776000")),
    "of another grid": lambda keys, asked: signed(keys["own"], asked["text"].replace(f": {asked['grid']}\n", ": x\n")),
    "of another host": lambda keys, asked: signed(keys["own"], asked["text"].replace(HERE, "evil.example.org")),
    "of another challenge": lambda keys, asked: signed(keys["own"], asked["text"].replace(asked["nonce"], "n" * 43)),
    "of a line more": lambda keys, asked: signed(keys["own"], asked["text"] + "scope: operate\n"),
    "of nothing": lambda keys, _: signed(keys["own"], ""),
    "of a key that it only names": lambda keys, asked: renamed(keys, signed(keys["other"], asked["text"])),
    "empty": lambda keys, _: "",
    "no signature": lambda keys, _: "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n",
    "no base64": lambda keys, _: "-----BEGIN SSH SIGNATURE-----\n=\n-----END SSH SIGNATURE-----\n",
    "cut": lambda keys, asked: signed(keys["own"], asked["text"])[:-60],
    "twice": lambda keys, asked: signed(keys["own"], asked["text"]) * 2,
    "too large": lambda keys, asked: signed(keys["own"], asked["text"]) + "\n" * LONGEST_SIGNATURE,
    "huge": lambda keys, _: "-----BEGIN SSH SIGNATURE-----\n" + "A" * 5_000_000 + "\n-----END SSH SIGNATURE-----\n",
    "with NUL": lambda keys, asked: signed(keys["own"], asked["text"]) + "\0",
    "a key": lambda keys, _: public(keys["own"]),
}


def renamed(keys: dict[str, Path], signature: str) -> str:
    """Of the other key, with the registered one in its place."""
    begin, *lines, end = signature.splitlines()
    own, other = (read_public_key(public(keys[name])).blob for name in ("own", "other"))
    data = b64decode("".join(lines))
    assert other in data
    return "\n".join([begin, b64encode(data.replace(other, own)).decode(), end, ""])


@pytest.mark.parametrize("what", FORGERIES)
def test_a_signature_is_good_for_nothing_else(
    what: str, portal: Served, key: Path, keys: dict[str, Path], database: Database
) -> None:
    asked = challenge(portal)
    assert refusal(answer(portal, asked["nonce"], FORGERIES[what](keys, asked))) == REFUSED
    assert count(database, "tokens") == 0


def test_a_challenge_of_one_grid_is_none_of_another(portal: Served, key: Path, database: Database) -> None:
    """The same tables, as in a copy that has been given a key of its own."""
    asked = challenge(portal)
    signature = signed(key, asked["text"])
    with database.begin() as conn:
        assert put_grid_key(conn, "other")
    assert refusal(answer(portal, asked["nonce"], signature)) == REFUSED


@pytest.mark.parametrize("user", ["daemon", "games", "gone-for-good", "x" * 256, "%", "*", "nobody,daemon", "!nobody"])
def test_whoever_is_asked_for_the_answers_look_alike(user: str, portal: Served, key: Path) -> None:
    asked = challenge(portal, user)
    assert refusal(answer(portal, asked["nonce"], signed(key, asked["text"]))) == REFUSED


@pytest.mark.parametrize("nonce", ["n" * 43, "", "n" * 44, "\0", "ü" * 43, "n" * 42 + "\n"], ids=ascii)
def test_an_unknown_challenge_looks_like_it_too(nonce: str, portal: Served, key: Path) -> None:
    assert refusal(answer(portal, nonce, signed(key, "text"))) == REFUSED


def test_a_removed_key_gives_nothing_and_its_tokens_go(portal: Served, key: Path, nobody: int, mint: Mint) -> None:
    asked, later = challenge(portal), challenge(portal)
    token = answer(portal, asked["nonce"], signed(key, asked["text"])).body["token"]
    by_kernel = mint()
    assert post(portal, "/ssh-keys/1/remove", uid=nobody).body["removed_at"]
    assert portal.get("/api/v1/whoami", headers=bearer(token)).status == 401
    assert portal.get("/api/v1/whoami", headers=bearer(by_kernel)).status == 200, "no key has given it"
    assert refusal(answer(portal, later["nonce"], signed(key, later["text"]))) == REFUSED
    assert post(portal, "/ssh-keys", uid=nobody, public_key=public(key)).status == 200, "it may come again"
    assert portal.get("/api/v1/whoami", headers=bearer(token)).status == 401


def test_a_key_that_is_removed_while_it_is_looked_at_gives_nothing(
    portal: Served, key: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cigri.ssh_keys import keygen

    asked, verifies = challenge(portal), keygen.verifies

    def slowly(*what: str) -> bool:
        portal.call(remove_key, key_id=1)
        return verifies(*what)

    monkeypatch.setattr(keygen, "verifies", slowly)
    assert refusal(answer(portal, asked["nonce"], signed(key, asked["text"]))) == REFUSED
    assert count(database, "tokens") == 0


def test_no_transaction_is_open_while_a_signature_is_looked_at_and_few_are(
    portal: Served, key: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cigri.ssh_keys import keygen

    asked = [challenge(portal) for _ in range(portal_door.MOST_LOOKED_AT + 1)]
    begun, go_on = threading.Semaphore(0), threading.Event()

    def waits(*_: str) -> bool:
        begun.release()
        return go_on.wait(30.0)

    monkeypatch.setattr(keygen, "verifies", waits)
    monkeypatch.setattr(fair_queue, "MOST_WORKING_OF_USER", len(asked) + 1)  # all of these are one user's
    with ThreadPoolExecutor(len(asked)) as threads:
        answers = [threads.submit(answer, portal, one["nonce"], signed(key, one["text"])) for one in asked[:-1]]
        assert all(begun.acquire(timeout=30.0) for _ in answers)
        with database.read() as conn:
            idle = conn.scalar(text("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"))
        assert idle == 0
        busy = answer(portal, asked[-1]["nonce"], signed(key, asked[-1]["text"]))
        assert (busy.status, busy.body["type"]) == (503, "/problems/TooManyRequests")
        assert portal.get("/api/v1/whoami").status == 200, "others are served"
        go_on.set()
        assert {one.result().status for one in answers} == {200}
    assert answer(portal, asked[-1]["nonce"], signed(key, asked[-1]["text"])).status == 200, "it was not used up"


def test_a_flood_of_challenges_fills_nothing(
    portal: Served, key: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cigri.flow.challenges.MOST_OPEN", 5)
    oldest = challenge(portal)
    for _ in range(20):
        last = challenge(portal, "somebody-else")
    assert count(database, "challenges") == 5
    assert count(database, "audit") == 0
    assert refusal(answer(portal, oldest["nonce"], signed(key, oldest["text"]))) == REFUSED
    asked = challenge(portal)
    assert answer(portal, asked["nonce"], signed(key, asked["text"])).status == 200, "nobody is kept out"
    assert last["nonce"] != asked["nonce"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"host": "grid.example.org"}, "is not reached as 'grid.example.org'"),
        ({"host": ""}, "is not reached as"),
        ({"host": "h" * 1000}, "is not reached as"),
        ({"user": ""}, "is no name of an account"),
        ({"user": "nobody\nscope: operate"}, "is no name of an account"),
        ({"user": "no\u2028body"}, "is no name of an account"),
        ({"user": "n\0"}, "is no name of an account"),
        ({"user": "u" * 257}, "is no name of an account"),
        ({"expires_in": 90 * 86400 + 1}, "90 days at most"),
        ({"comment": "two\nlines"}, "one line of 200 characters"),
        ({"user": "root"}, "--root"),
    ],
    ids=ascii,
)
def test_what_may_not_be_asked_for_is_told(asked: Any, says: str, portal: Served, database: Database) -> None:
    told = post(portal, "/challenges", **{"user": "nobody", "host": HERE, **asked})
    assert (told.status, says in told.body["detail"]) == (400, True)
    assert count(database, "challenges") == 0


def test_a_grid_with_a_name_is_reached_by_it_only(serve: Serve) -> None:
    """Or what is signed for another grid, by a tunnel to `localhost` as well, would be good here."""
    portal = serve(Settings(portal=PortalSettings(names=("grid.example.org",))))
    assert "host: GRID.example.org\n" in challenge(portal, host="GRID.example.org")["text"]
    assert post(portal, "/challenges", user="nobody", host=HERE).status == 400


def test_what_is_no_operators_makes_no_operator(serve: Serve, key: Path, keys: dict[str, Path]) -> None:
    portal = serve(Settings(portal=PortalSettings(operators=("daemon",))))
    for user, own, status in (("nobody", key, 403), ("daemon", keys["daemons"], 200)):
        asked = challenge(portal, user, scope="operate")
        told = answer(portal, asked["nonce"], signed(own, asked["text"]))
        assert told.status == status
    assert portal.get("/api/v1/whoami", headers=bearer(told.body["token"])).body["is_operator"]


def test_the_key_of_an_account_that_is_gone_gives_nothing(portal: Served, database: Database, key: Path) -> None:
    with database.begin() as conn:
        put_key(conn, "gone-for-good", read_public_key(public(key)))
    asked = challenge(portal, "gone-for-good")
    assert answer(portal, asked["nonce"], signed(key, asked["text"])).status == 401
    assert count(database, "tokens") == 0


@pytest.mark.parametrize("scope", AccessScope)
def test_a_token_registers_no_key(scope: AccessScope, portal: Served, mint: Mint, keys: dict[str, Path]) -> None:
    """It would outlive its own revocation."""
    told = post(portal, "/ssh-keys", token=mint("root", scope), public_key=public(keys["own"]), for_root=True)
    assert told.status == 403


def test_keys_of_others_are_neither_seen_nor_made_nor_removed(
    portal: Served, nobody: int, key: Path, keys: dict[str, Path], database: Database
) -> None:
    assert [one["id"] for one in portal.get("/api/v1/ssh-keys", uid=nobody).body] == [1]
    assert post(portal, "/ssh-keys/2/remove", uid=nobody).status == 404
    told = post(portal, "/ssh-keys", uid=nobody, public_key=public(keys["other"]), user="daemon")
    assert (told.status, told.body["detail"]) == (
        403,
        "an SSH key of daemon is registered by daemon or an operator, and you are nobody",
    )
    assert count(database, "ssh_keys") == 2
    assert [one["id"] for one in portal.get("/api/v1/ssh-keys").body] == [1, 2], "operators see all"


def test_operators_register_keys_of_others_but_not_of_root(serve: Serve, nobody: int, keys: dict[str, Path]) -> None:
    portal = serve(Settings(portal=PortalSettings(operators=("nobody",))))
    line = public(keys["other"])
    assert post(portal, "/ssh-keys", uid=nobody, public_key=line, user="daemon").body["user"] == "daemon"
    assert post(portal, "/ssh-keys", uid=nobody, public_key=line, user="root", for_root=True).status == 403
    assert post(portal, "/ssh-keys", uid=nobody, public_key=line, user="gone-for-good").status == 404
    assert post(portal, "/ssh-keys", public_key=line).status == 400, "root has to say that it wants one"
    assert post(portal, "/ssh-keys", public_key=line, user="root").status == 400
    assert post(portal, "/ssh-keys", public_key=line, for_root=True).body["user"] == "root"


def test_a_user_has_each_key_once_and_not_too_many(
    portal: Served, nobody: int, key: Path, keys: dict[str, Path], database: Database
) -> None:
    told = post(portal, "/ssh-keys", uid=nobody, public_key=public(key))
    assert (told.status, told.body["detail"]) == (400, "nobody has this key already: it is number 1")
    with database.begin() as conn:
        for number in range(MOST_KEYS - 1):
            conn.execute(
                text("INSERT INTO ssh_keys VALUES (DEFAULT, 'nobody', '', 'SHA256:' || :sum, '', now(), NULL)"),
                {"sum": f"{number:043}"},
            )
    told = post(portal, "/ssh-keys", uid=nobody, public_key=public(keys["other"]))
    assert (told.status, told.body["detail"]) == (400, "nobody has 20 keys, which is the most: remove one first")


def test_who_registers_is_in_the_audit_trail(portal: Served, keys: dict[str, Path], database: Database) -> None:
    portal.call(add_key, public_key=public(keys["own"]), user="nobody")
    portal.call(remove_key, key_id=1)
    with database.begin() as conn:
        assert [(entry.endpoint, entry.how) for entry in list_audit(conn)] == [
            ("add_key", "kernel"),
            ("remove_key", "kernel"),
        ]
