"""A message in words: subject, comment, body, and the same for programs; pure."""

from typing import Any, NamedTuple

from cigri.flow.messages import DueMessage
from cigri.formats.untrusted_text import escape_line
from cigri.lifecycle.notifications import Notification, gravest
from cigri.states import NewsTag

LONGEST_COMMENT_TOLD = 2000
GRID_ITSELF = "grid"


class MessageText(NamedTuple):
    """`id`: of the campaign, "0" of the grid itself; names and what jobs wrote steer nothing that reads it."""

    key: str
    id: str
    name: str
    host: str
    tag: NewsTag
    tasks: str
    lines: list[str]

    @property
    def subject(self) -> str:
        """As OAR writes it."""
        about = f"{self.id} ({self.name})" if self.id != "0" else self.name
        return f"*CIGRI* [{self.tag}]: {about} on {self.host}"

    @property
    def comment(self) -> str:
        """In one line."""
        text = "; ".join([*self.lines, *([self.tasks] if self.tasks else [])])
        return text if len(text) <= LONGEST_COMMENT_TOLD else f"{text[: LONGEST_COMMENT_TOLD - 3]}..."

    @property
    def body(self) -> str:
        """For a person."""
        if self.id == "0":
            head, foot = [], "`gridevents --global` shows more."
        else:
            head = [f"campaign {self.id} ({self.name}) on {self.host}: {self.tasks}", ""]
            foot = f"`gridstat {self.id}` shows how far it is, `gridevents {self.id}` what went wrong."
        return "\n".join([*head, *self.lines, "", foot, ""])


def letter(message: DueMessage, host: str) -> MessageText:
    """What is told of a campaign, or of the grid itself."""
    news = [Notification(**each) for each in message.news]
    is_of_campaign = message.campaign_id is not None
    return MessageText(
        message.key,
        str(message.campaign_id or 0),
        escape_line(message.name) if is_of_campaign else GRID_ITSELF,
        host,
        gravest(news),
        f"{message.done} of {message.tasks} tasks done, {message.failed} failed" if is_of_campaign else "",
        list(map(_line, news)),
    )


def as_object(message: DueMessage, letter: MessageText) -> dict[str, Any]:
    """For programs, as JSON."""
    return {
        "id": message.key,
        "tag": letter.tag,
        "campaign": message.campaign_id,
        "name": letter.name,
        "user": message.user,
        "host": letter.host,
        "at": message.created_at.isoformat(),
        "tasks": message.tasks,
        "done": message.done,
        "failed": message.failed,
        "comment": letter.comment,
        "news": [{name: each[name] for name in ("tag", "code", "cluster", "said", "number")} for each in message.news],
    }


def _line(news: Notification) -> str:
    times = f"{news.number} x " if news.number > 1 else ""
    where = f" on {news.cluster}" if news.cluster else ""
    return escape_line(f"{news.tag}: {times}{news.code}{where}: {news.said}")
