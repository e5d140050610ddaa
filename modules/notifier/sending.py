"""One try to send a message, and what becomes of the message then."""

import json
import logging
import socket

from cigri.estimates.backoff import MESSAGES_THAT_ARE_NOT_TAKEN
from cigri.flow.messages import DueMessage, put_given_up, put_sent, put_unsent
from cigri.runtime.failure_isolation import described
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import NotifySettings
from cigri.states import Channel
from modules.notifier.commands import run_command
from modules.notifier.delivery_errors import DeliveryRefused
from modules.notifier.mail import send_mail
from modules.notifier.message_text import as_object, letter
from modules.notifier.webhooks import post

logger = logging.getLogger(__name__)


def send(tools: PassContext, message: DueMessage) -> bool:
    """With no transaction open; False: it is tried again, or given up."""
    try:
        _reach(tools.settings.notify, message)
    except DeliveryRefused as error:
        _settle_unsent(tools, message, str(error), is_final=error.is_final)
        return False
    except Exception as error:  # a fault of ours, that what is in this message brings out
        logger.exception("Message %s of %s cannot be made", message.id, message.user)
        _settle_unsent(tools, message, described(error), is_final=False)
        return False
    with tools.database.begin() as conn:
        put_sent(conn, message)
    return True


def _reach(settings: NotifySettings, message: DueMessage) -> None:
    told = letter(message, socket.gethostname())
    match message.channel:
        case Channel.MAIL:
            send_mail(settings, message.target, told, message.created_at)
        case Channel.EXEC:
            run_command(settings, message.user, message.target, told)
        case Channel.WEBHOOK:
            body = json.dumps(as_object(message, told)).encode()
            post(settings, message.target, body, key=message.key, secret=message.secret)


def _settle_unsent(tools: PassContext, message: DueMessage, error: str, *, is_final: bool) -> None:
    is_over = is_final or message.tries >= tools.settings.notify.tries
    logger.warning(
        "%s was not told by %s:%s, try %s%s: %s",
        *(message.user, message.channel, message.target, message.tries, ", the last" if is_over else "", error),
    )
    with tools.database.begin() as conn:
        if is_over:
            put_given_up(conn, message, error)
        else:
            put_unsent(conn, message, error, MESSAGES_THAT_ARE_NOT_TAKEN.seconds(message.tries))
