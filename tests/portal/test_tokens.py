"""Who shows a token is its user, as far as its scope goes; one that is worthless opens nothing."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cigri.api_models.identity import CreatedToken
from cigri.database import Database
from cigri.endpoints.identity import MAX_VALID_TOKENS
from cigri.flow.ssh_keys import end_key, forget_keys, list_keys, put_key
from cigri.flow.tokens import end_token, forget_tokens, list_tokens, put_token
from cigri.formats.units import DAY
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of, read_token
from cigri.settings.sections import PortalSettings, Settings
from cigri.ssh_keys.public_keys import PublicKey
from tests.factories import NOON, set_time
from tests.portal.conftest import SECRET, Answered, Mint, Serve, Served, bearer


def post(portal: Served, path: str, *, uid: int | None = None, token: str = "", **asked: object) -> Answered:
    headers = {"Content-Type": "application/json", **(bearer(token) if token else {})}
    return portal.request("POST", f"/api/v1{path}", json.dumps(asked), uid=uid, headers=headers)


def rows(database: Database) -> list[Any]:
    with database.read() as conn:
        return list(conn.execute(text("SELECT * FROM tokens ORDER BY id")).mappings())


def test_a_token_is_its_user_as_far_as_its_scope_goes(portal: Served, nobody: int) -> None:
    made = post(portal, "/tokens", uid=nobody, comment="laptop").body
    assert set(made) == set(CreatedToken._fields)
    told = portal.get("/api/v1/whoami", headers=bearer(made["token"]))
    assert told.body == {"user": "nobody", "is_operator": False, "scope": "read", "how": f"token {made['id']}"}
    refused = post(portal, f"/tokens/{made['id']}/revoke", token=made["token"])
    assert (refused.status, refused.body["detail"]) == (
        403,
        "this token allows to read; to do this, make one with --scope submit",
    )


def test_only_its_hash_is_kept(portal: Served, nobody: int, database: Database) -> None:
    token = read_token(post(portal, "/tokens", uid=nobody).body["token"])
    assert token is not None
    (kept,) = rows(database)
    assert kept["sha256"] == hash_of(token.secret)
    assert token.secret not in str(kept)


def test_a_user_has_so_many_valid_tokens_and_no_more(portal: Served, nobody: int, database: Database) -> None:
    with database.begin() as conn:
        for number in range(MAX_VALID_TOKENS):
            put_token(conn, "nobody", f"{number:064x}", scope=AccessScope.READ, expires_in=60)
    refused = post(portal, "/tokens", uid=nobody)
    assert (refused.status, "gridtoken revoke" in refused.body["detail"]) == (400, True)
    assert post(portal, "/tokens", for_root=True).status == 200, "others are not told so"
    with database.begin() as conn:
        end_token(conn, 1, Caller("nobody"))
    assert post(portal, "/tokens", uid=nobody).status == 200


def test_tokens_are_told_in_pages(portal: Served, nobody: int, database: Database) -> None:
    with database.begin() as conn:
        for number in range(5):
            put_token(conn, "nobody", f"{number:064x}", scope=AccessScope.READ, expires_in=60)
    told = [
        [token["id"] for token in portal.get(f"/api/v1/tokens?limit=2{more}", uid=nobody).body]
        for more in ("", "&before=4", "&before=2")
    ]
    assert told == [[4, 5], [2, 3], [1]]
    assert portal.get("/api/v1/tokens?limit=0", uid=nobody).status == 400


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-1] + "x",
        lambda token: token.replace("cgr_1_", "cgr_2_"),
        lambda token: token.replace("cgr_1_", "cgr_01_"),
        lambda token: token + "s",
        lambda token: token + " " + token,
        lambda token: token.upper(),
        lambda _: "",
        lambda _: hash_of(SECRET),
        lambda _: f"cgr_1_{hash_of(SECRET)[:43]}",
        lambda _: "cgr_" + "9" * 30 + "_" + SECRET,
    ],
)
def test_a_wrong_token_is_nobody_not_even_who_the_kernel_says(
    spoil: Callable[[str], str], portal: Served, mint: Mint
) -> None:
    right = mint()
    assert portal.get("/api/v1/whoami", headers=bearer(right)).status == 200
    for scheme in ("Bearer", "bearer", "BEARER"):
        told = portal.get("/api/v1/whoami", headers={"Authorization": f"{scheme} {spoil(right)}"})
        assert (told.status, told.body["type"]) == (401, "/problems/NotAuthenticated")


def test_an_expired_token_opens_nothing(portal: Served, mint: Mint, database: Database) -> None:
    set_time(database, NOON)
    token = mint(expires_in=10)
    assert portal.get("/api/v1/whoami", headers=bearer(token)).status == 200
    set_time(database, NOON + timedelta(seconds=10))
    assert portal.get("/api/v1/whoami", headers=bearer(token)).status == 401


def test_a_revoked_token_opens_nothing_ever_again(portal: Served, mint: Mint, nobody: int) -> None:
    token = mint()
    first = post(portal, "/tokens/1/revoke", uid=nobody).body
    assert not first["is_valid"]
    assert portal.get("/api/v1/whoami", headers=bearer(token)).status == 401
    assert post(portal, "/tokens/1/revoke", uid=nobody).body == first


def test_the_token_of_an_account_that_is_gone_opens_nothing(portal: Served, mint: Mint) -> None:
    told = portal.get("/api/v1/whoami", headers=bearer(mint("gone-for-good")))
    assert (told.status, told.body["detail"]) == (401, "there is no account gone-for-good any more")


@pytest.mark.parametrize("scope", AccessScope)
def test_a_token_makes_no_tokens(scope: AccessScope, portal: Served, mint: Mint, database: Database) -> None:
    token = mint("root", scope)
    assert post(portal, "/tokens", token=token, for_root=True).status == 403
    assert len(rows(database)) == 1


def test_operators_are_so_with_a_token_that_says_it(serve: Serve, mint: Mint) -> None:
    portal = serve(Settings(portal=PortalSettings(operators=("nobody",))))
    for scope in AccessScope:
        told = portal.get("/api/v1/whoami", headers=bearer(mint(scope=scope))).body
        assert told["is_operator"] is (scope is AccessScope.OPERATE)


def test_what_is_no_operators_makes_no_operator(portal: Served, mint: Mint, nobody: int) -> None:
    refused = post(portal, "/tokens", uid=nobody, scope="operate")
    assert (refused.status, refused.body["detail"]) == (
        403,
        "tokens of scope operate are for operators only, and you are nobody",
    )
    assert not portal.get("/api/v1/whoami", headers=bearer(mint(scope=AccessScope.OPERATE))).body["is_operator"]


def test_root_has_to_say_that_it_wants_one(portal: Served, database: Database, nobody: int) -> None:
    if portal.get("/api/v1/whoami").body["user"] != "root":
        pytest.skip("only root is root")
    refused = post(portal, "/tokens")
    assert (refused.status, "--root" in refused.body["detail"]) == (400, True)
    assert post(portal, "/tokens", for_root=True).body["user"] == "root"
    assert [row["grid_user"] for row in rows(database)] == ["root"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"expires_in": 0}, "90 days at most"),
        ({"expires_in": 90 * 86400 + 1}, "90 days at most"),
        ({"expires_in": 10**18}, "90 days at most"),
        ({"expires_in": 10**30}, "expires_in: numbers go from"),
        ({"comment": "c" * 201}, "one line of 200 characters"),
        ({"comment": "two\nlines"}, "one line of 200 characters"),
        ({"comment": "\a"}, "one line of 200 characters"),
        ({"comment": "\0"}, "comment: neither NUL nor"),
    ],
    ids=str,
)
def test_limits_are_told(asked: dict[str, Any], says: str, portal: Served, nobody: int, database: Database) -> None:
    told = post(portal, "/tokens", uid=nobody, **asked)
    assert (told.status, says in told.body["detail"]) == (400, True)
    assert rows(database) == []


def test_the_database_itself_lets_none_live_longer(mint: Mint) -> None:
    mint(expires_in=90 * 86400)
    with pytest.raises(IntegrityError):
        mint(expires_in=90 * 86400 + 1)


def test_tokens_of_others_are_neither_seen_nor_revoked(
    serve: Serve, mint: Mint, nobody: int, database: Database
) -> None:
    portal = serve(Settings(portal=PortalSettings()))
    mint("root")
    mint("nobody")
    assert [token["id"] for token in portal.get("/api/v1/tokens", uid=nobody).body] == [2]
    assert [token["id"] for token in portal.get("/api/v1/tokens").body] == [1, 2], "operators see all"
    assert post(portal, "/tokens/1/revoke", uid=nobody).status == 404
    assert post(portal, "/tokens/1/revoke", token=mint(scope=AccessScope.SUBMIT)).status == 404
    assert [row["revoked_at"] for row in rows(database)] == [None] * 3
    assert post(portal, "/tokens/1/revoke").status == 200


def test_its_use_is_noted_once_a_minute(portal: Served, mint: Mint, database: Database) -> None:
    token = mint()
    noted = []
    for seconds in (0, 30, 59, 61, 62):
        set_time(database, NOON + timedelta(seconds=seconds))
        portal.get("/api/v1/whoami", headers=bearer(token))
        noted.append(int((rows(database)[0]["last_used_at"] - NOON).total_seconds()))
    assert noted == [0, 0, 0, 61, 61]


def test_a_worthless_token_notes_no_use(portal: Served, mint: Mint, database: Database) -> None:
    portal.get("/api/v1/whoami", headers=bearer(mint()[:-1] + "x"))
    assert rows(database)[0]["last_used_at"] is None


def test_other_schemes_are_not_ours(portal: Served, nobody: int) -> None:
    told = portal.get("/api/v1/whoami", uid=nobody, headers={"Authorization": "Basic cm9vdDpyb290"})
    assert told.body["user"] == "nobody"


def test_a_caller_owns_all_by_its_scope_only() -> None:
    assert Caller("alice", is_operator=True).owns_all
    assert not Caller("alice", is_operator=True, scope=AccessScope.SUBMIT).owns_all


@pytest.mark.noon
def test_those_that_are_over_are_forgotten_after_a_while(database: Database, mint: Mint) -> None:
    """1 expires, 2 is revoked on the tenth day, and 3 opens something for long."""
    for days in (1, 80, 90):
        mint(expires_in=days * DAY)
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(days=10))
        end_token(conn, 2, Caller("nobody"))
        set_time(conn, NOON + timedelta(days=91))
        assert forget_tokens(conn, 90) == 0
        set_time(conn, NOON + timedelta(days=92))
        assert forget_tokens(conn, 90) == 1
        assert [token.id for token in list_tokens(conn, Caller("nobody"))] == [2, 3]
        set_time(conn, NOON + timedelta(days=101))
        assert forget_tokens(conn, 90) == 1
        assert [token.id for token in list_tokens(conn, Caller("nobody"))] == [3]


@pytest.mark.noon
def test_keys_that_are_removed_are_forgotten_once_no_token_names_them(database: Database) -> None:
    key = PublicKey("ssh-ed25519", b"k", "")
    with database.begin() as conn:
        made = [put_key(conn, user, key).id for user in ("nobody", "daemon", "games")]
        put_token(conn, "nobody", "0" * 64, scope=AccessScope.READ, expires_in=90 * DAY, ssh_key_id=made[0])
        for key_id in made[:2]:
            end_key(conn, key_id, Caller("root"))
        set_time(conn, NOON + timedelta(days=91))
        assert forget_keys(conn, 90) == 1
        assert [key.id for key in list_keys(conn, Caller("root"))] == [made[0], made[2]]
        forget_tokens(conn, 0)
        assert forget_keys(conn, 90) == 1
        assert [key.id for key in list_keys(conn, Caller("root"))] == [made[2]]
