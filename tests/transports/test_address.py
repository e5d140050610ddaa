"""What an operator may write as the address of a front-end, and which names of users go no further."""

import pytest
from pydantic import ValidationError

from cigri.errors import ConfigError
from cigri.transports.ssh import SshAddress, SshConnections


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host": ""},
        {"host": "-oProxyCommand=x"},
        {"host": "alice@alpha"},
        {"host": "alpha", "port": 0},
        {"host": "alpha", "port": 65536},
        {"host": "alpha", "prot": 22},
        {"host": "alpha", "account": "-u root"},
        {"host": "alpha", "jump": "a b"},
        {"host": "alpha", "jump": "gate:99999"},
        {"host": "alpha", "connect_timeout": 0},
    ],
)
def test_a_wrong_setting_is_an_error(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SshAddress.model_validate(settings)


@pytest.mark.parametrize("user", ["", "-u", "#0", "%wheel", "a b", "a;b", "a\nb", "../x"])
def test_a_name_that_is_no_account_never_reaches_a_cluster(user: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name of an account"):
        SshConnections().transport("alpha", SshAddress(host="alpha"), user)


def test_the_login_is_the_gateway_account_or_the_user() -> None:
    assert SshAddress(host="alpha").login("alice") == "alice"
    assert SshAddress(host="alpha", account="cigri").login("alice") == "cigri"


@pytest.mark.parametrize(
    ("jump", "hop"),
    [
        ("bob@gate:2222", ("gate", 2222, "bob")),
        ("gate", ("gate", 22, "alice")),
        ("bob@[::1]:22", ("::1", 22, "bob")),
        ("", None),
    ],
)
def test_a_jump_host_is_read(jump: str, hop: tuple[str, int, str] | None) -> None:
    assert SshAddress(host="alpha", jump=jump).jump_hop("alice") == hop


def test_each_user_may_have_a_key_file() -> None:
    address = SshAddress(host="alpha", key_file="/keys/{user}/id")
    assert str(address.key_path("alice")) == "/keys/alice/id"
    assert SshAddress(host="alpha").key_path("alice") is None
