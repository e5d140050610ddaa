"""Where the portal listens: on its unix socket, and by TCP on loopback where a setting says so."""

import os
import signal
import socket
import stat
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from cigri.errors import CigriError, ConfigError
from cigri.private_files import open_privately
from cigri.settings.listen_address import read_address
from modules.portal.connections import MOST_AT_ONCE, PeerHttpProtocol

LAST_PATIENCE = 10  # seconds that requests under way get at the end
BACKLOG = 128  # connections that the kernel holds until they are taken
LOOPBACK = "127.0.0.1"


class PortalListener:
    """A socket of ours alone at its place, and perhaps one by TCP; raise ConfigError where they cannot be."""

    def __init__(self, place: Path, mode: int, address: str = "", kept_port: Path | None = None) -> None:
        """`mode`: who may connect; `address`, as 127.0.0.1:8080, is open to all of this host.

        So is, without an address, any free port of 127.0.0.1: that of the file `kept_port`, or it is written there.
        """
        self._place = place
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sockets = [self.socket]
        try:
            self._bind(mode)
        except CigriError:
            self.socket.close()
            raise
        except OSError as error:
            self.socket.close()
            raise ConfigError(f"the portal cannot listen at {place}: {error.strerror}; see portal.socket") from None
        if address:
            self._open(address)
        elif kept_port is not None:
            self._open_kept(kept_port)

    def _bind(self, mode: int) -> None:
        """Under a name of its own first, so that nobody ever meets a socket with other permissions."""
        directory = os.open(self._place.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            # a path is as long as it likes, a socket's address is not: it is named through the directory
            here = Path(f"/proc/self/fd/{directory}")
            self._refuse_what_lives(here / self._place.name)
            new = here / f".{self._place.name}.{os.getpid()}"
            new.unlink(missing_ok=True)
            self.socket.bind(str(new))
            new.chmod(mode)
            self.socket.listen(BACKLOG)
            new.rename(here / self._place.name)
        finally:
            os.close(directory)

    def _open(self, address: str) -> None:
        """After the place is ours: who has no right to it opens no port either."""
        try:
            self._listen(*read_address(address))
        except OSError as error:
            self.close()
            raise ConfigError(f"the portal cannot listen at {address}: {error.strerror}; see portal.address") from None

    def _open_kept(self, file: Path) -> None:
        """The same as before, for the sake of pages that are open; another where somebody has taken it."""
        try:
            self._listen(LOOPBACK, int(file.read_text()))
        except (OSError, ValueError, OverflowError):
            self._listen(LOOPBACK, 0)
            with open(file, "w", opener=open_privately) as kept:
                kept.write(str(self.sockets[-1].getsockname()[1]))

    def _listen(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio looks for this number before it lets answers go at once, in place of 40 ms later
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, port))
            made.listen(BACKLOG)
        except (OSError, OverflowError):
            made.close()
            raise
        self.sockets.append(made)

    def _refuse_what_lives(self, place: Path) -> None:
        """What a dead portal has left is replaced, nothing else."""
        if not os.path.lexists(place):
            return
        if not stat.S_ISSOCK(place.lstat().st_mode):
            raise CigriError(f"{self._place} is there and no socket; remove it, or choose another portal.socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            if probe.connect_ex(str(place)) == 0:
                raise CigriError(f"another portal listens at {self._place}")

    def serve(self, app: ASGIApp) -> None:
        """Until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _noted)
        try:
            uvicorn.Server(self.config(app)).run(self.sockets)
        finally:
            self.close()

    @staticmethod
    def config(app: ASGIApp) -> uvicorn.Config:
        """Of a server whose callers the kernel tells, and no header."""
        return uvicorn.Config(
            app,
            http=PeerHttpProtocol,
            ws="none",
            lifespan="off",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=LAST_PATIENCE,
        )

    def close(self) -> None:
        for opened in self.sockets:
            opened.close()
        self._place.unlink(missing_ok=True)


def _noted(_number: int, _frame: FrameType | None) -> None:
    """The server raises again what has ended it, to end the process; we have to tidy up after it."""
