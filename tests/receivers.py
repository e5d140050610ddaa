"""A real server of mail and a real web server, which keep what they are told."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class MailServer:
    """`refuses`: what it answers instead of taking a mail."""

    refuses: str = ""
    mails: list[EmailMessage] = field(default_factory=list)
    senders: list[str | None] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    port: int = 0

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.refuses:
            return self.refuses
        assert isinstance(envelope.content, bytes)
        self.senders.append(envelope.mail_from)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        if session.authenticated:
            account: Any = session.auth_data
            self.users.append(account.login.decode())
        return "250 taken"


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """With `tls` it takes mail of account `cigri`, password `secret`, after STARTTLS only."""
    kept = MailServer()

    def known(_server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: object) -> AuthResult:
        is_known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"cigri", b"secret")
        return AuthResult(success=is_known, auth_data=data)

    options = {"tls_context": tls, "require_starttls": True, "auth_required": True, "authenticator": known}
    given: dict[str, Any] = options if tls else {}
    kept.port = _free_port()
    controller = Controller(kept, hostname="127.0.0.1", port=kept.port, **given)
    controller.start()
    try:
        yield kept
    finally:
        controller.stop()


@dataclass
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebServer:
    """`status`: what it answers. Requests wait as long as `may_answer` is not set."""

    status: int = 204
    asked: list[Asked] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)
    port: int = 0


@contextmanager
def web_server(tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    kept = WebServer()
    kept.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.asked.append(Asked(self.path, dict(self.headers), body))
            kept.may_answer.wait(60)
            self.send_response(kept.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    kept.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield kept
    finally:
        kept.may_answer.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port
