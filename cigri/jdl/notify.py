"""Who is told of what happens to a campaign: `notify: "[END,ERROR]mail:me@example.org"`, or a list of such."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from cigri.formats.subscriptions import HOW_SUBSCRIPTION, SubscriptionRequest, read_subscribing
from cigri.jdl.problems import invalid_value, unexpected_value

MOST_ADDRESSES = 10


def _told(value: object) -> tuple[SubscriptionRequest, ...]:
    """Of what is written alike the last one holds."""
    written = [value] if isinstance(value, str) else value
    if not isinstance(written, list | tuple):
        raise unexpected_value("whom to tell, or a list of such", value, f"write {HOW_SUBSCRIPTION}")
    if len(written) > MOST_ADDRESSES:
        raise invalid_value(f"{len(written)} are to be told; {MOST_ADDRESSES} at the most")
    read = [_read(each) for each in written]
    return tuple({(each.channel, each.target): each for each in read}.values())


def _read(value: object) -> SubscriptionRequest:
    if isinstance(value, SubscriptionRequest):
        return value
    if not isinstance(value, str):
        raise unexpected_value("whom to tell", value, f"write {HOW_SUBSCRIPTION}")
    try:
        return read_subscribing(value)
    except ValueError as error:
        raise invalid_value(str(error)) from None


Notify = Annotated[
    tuple[SubscriptionRequest, ...],
    BeforeValidator(_told, json_schema_input_type=Annotated[list[str], Field(max_length=MOST_ADDRESSES)] | str),
]
