"""A message by mail, to the server that the operator names."""

import smtplib
import socket
import ssl
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from cigri.settings.listen_address import read_server
from cigri.settings.sections import NotifySettings
from modules.notifier.delivery_errors import DeliveryRefused
from modules.notifier.message_text import MessageText

TLS_FROM_THE_START = 465  # the port of such servers
NEVER_TAKEN = 500  # and above: what SMTP answers where it would answer the same again


def send_mail(settings: NotifySettings, address: str, letter: MessageText, at: datetime) -> None:
    """Raise DeliveryRefused where the server does not take it; that it was sent twice its Message-ID tells."""
    if not settings.smtp:
        raise DeliveryRefused("this grid sends no mail: its operator has not set notify.smtp", is_final=True)
    try:
        with _server(settings) as server:
            server.send_message(_mail(settings, address, letter, at), settings.sender, [address])
    except smtplib.SMTPRecipientsRefused as error:
        code, said = error.recipients[address]
        raise DeliveryRefused(
            f"{settings.smtp}: {code} {said.decode(errors='replace')}", is_final=code >= NEVER_TAKEN
        ) from None
    except (OSError, smtplib.SMTPException) as error:
        raise DeliveryRefused(f"{settings.smtp}: {error}") from None


def _server(settings: NotifySettings) -> smtplib.SMTP:
    """Connected; an account is used over TLS only."""
    host, port = read_server(settings.smtp)
    name, limit = socket.gethostname(), settings.timeout
    if not settings.smtp_user:
        return smtplib.SMTP(host, port, name, limit)
    context = ssl.create_default_context()
    if port == TLS_FROM_THE_START:
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, name, timeout=limit, context=context)
    else:
        server = smtplib.SMTP(host, port, name, limit)
    try:
        if port != TLS_FROM_THE_START:
            server.starttls(context=context)
        server.login(settings.smtp_user, _password(settings.smtp_password_file))
    except BaseException:
        server.close()
        raise
    return server


def _password(file: Path | None) -> str:
    return file.read_text().strip() if file else ""


def _mail(settings: NotifySettings, address: str, letter: MessageText, at: datetime) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = letter.subject
    mail["From"] = settings.sender
    mail["To"] = address
    mail["Date"] = format_datetime(at)
    mail["Message-ID"] = f"<{letter.key}@{settings.sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-CiGri-Message"] = letter.key
    mail.set_content(letter.body)
    return mail
