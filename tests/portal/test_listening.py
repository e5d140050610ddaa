"""A socket alone at its place, with its permissions from the first moment on."""

import os
import socket
import stat
from pathlib import Path

import pytest

from cigri.errors import CigriError, ConfigError
from cigri.identity.unix_sockets import is_served
from modules.portal.listening import PortalListener


def test_a_path_may_be_longer_than_the_address_of_a_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    listener = PortalListener(deep / "portal.sock", 0o600)
    assert is_served(deep / "portal.sock")
    assert stat.S_IMODE((deep / "portal.sock").stat().st_mode) == 0o600
    listener.close()
    assert not os.listdir(deep)


def test_a_second_portal_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    place = tmp_path / "portal.sock"
    first = PortalListener(place, 0o600)
    with pytest.raises(CigriError, match="another portal listens"):
        PortalListener(place, 0o600)
    assert is_served(place)
    first.close()


def test_the_socket_of_a_dead_portal_is_replaced(tmp_path: Path) -> None:
    place = tmp_path / "portal.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place))
    PortalListener(place, 0o600).close()


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "portal.sock"
    place.write_text("precious")
    with pytest.raises(CigriError, match="no socket"):
        PortalListener(place, 0o600)
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CigriError, match="no socket"):
        PortalListener(place, 0o600)


def test_a_missing_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"portal\.socket"):
        PortalListener(tmp_path / "none" / "portal.sock", 0o600)


def test_an_own_grid_keeps_its_port_and_takes_another_where_it_must(tmp_path: Path) -> None:
    def port() -> int:
        listener = PortalListener(tmp_path / "portal.sock", 0o600, kept_port=kept)
        try:
            host, port = listener.sockets[-1].getsockname()
            assert (host, kept.read_text()) == ("127.0.0.1", str(port))
            return int(port)
        finally:
            listener.close()

    kept = tmp_path / "portal.port"
    first = port()
    assert port() == first
    with socket.create_server(("127.0.0.1", first)):
        assert port() != first
    for spoilt in ("", "no number", "70000"):
        kept.write_text(spoilt)
        assert port()
