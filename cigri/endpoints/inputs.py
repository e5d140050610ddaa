"""Inputs of campaigns are sent to the grid before the campaign that names them, each once, from where it was cut.

To know the sum of a file is not to have it: whoever names one has sent all of it.
"""

from typing import TYPE_CHECKING

from cigri.answers.inputs import SentBytes
from cigri.endpoints import May, reads, receives
from cigri.endpoints.bodies import Body
from cigri.errors import UsageError
from cigri.rules.callers import Caller
from cigri.text.units import MEGABYTE, as_size

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.inputs.store import InputStore


@reads("/inputs/{sha256}", May.EVERYBODY)
def sent_input(conn: "Connection", caller: Caller, *, sha256: str) -> SentBytes:
    """How much of the file with this SHA-256 has come from you."""
    from cigri.flow.stored_inputs import is_sent

    _require_sum(sha256)
    store = _store()
    if is_sent(conn, caller.user, sha256) and store.holds(sha256):
        return SentBytes(sha256, 0, True)
    return SentBytes(sha256, store.begun(caller.user, sha256), False)


@receives("/inputs/{sha256}", May.EVERYBODY)
def send_input(
    database: "Database", caller: Caller, body: Body, *, sha256: str, size: int, offset: int = 0
) -> SentBytes:
    """Bytes of a file of yours that has `size` of them, from `offset` on; once all are there they are verified."""
    from cigri.flow.audit import put_audit
    from cigri.flow.stored_inputs import count_sent, is_sent, put_sent
    from cigri.settings.loading import load

    _require_sum(sha256)
    limits, user = load().inputs, caller.user
    store = _store()
    with database.begin() as conn:
        if is_sent(conn, user, sha256) and store.holds(sha256):
            return SentBytes(sha256, 0, True)
        kept = count_sent(conn, user) + store.arriving(user) - store.begun(user, sha256)
    if not 0 <= offset <= size or offset + body.size > size:
        raise UsageError(f"of {size} bytes, {body.size} from {offset} on cannot be")
    if size > limits.largest * MEGABYTE:
        raise UsageError(f"this input has {as_size(size)}, and one may have {limits.largest} MB (inputs.largest)")
    if kept + size > limits.of_user * MEGABYTE:
        raise UsageError(
            f"with this input of {as_size(size)} yours would have {as_size(kept + size)}, and {limits.of_user} MB are "
            f"kept of each user (inputs.of_user); those that no open campaign needs go after {limits.keep:g} days"
        )
    held = store.add(user, sha256, offset, body.file)
    if held < size:
        return SentBytes(sha256, held, False)
    store.finish(user, sha256)
    with database.begin() as conn:
        put_sent(conn, user, sha256, size)
        put_audit(conn, caller, "send_input", {"sha256": sha256, "size": size})
    return SentBytes(sha256, 0, True)


def _store() -> "InputStore":
    from cigri.inputs.store import store_of
    from cigri.settings.loading import load

    return store_of(load())


def _require_sum(sha256: str) -> None:
    from cigri.jdl.inputs import SHA256

    if not SHA256.fullmatch(sha256):
        raise UsageError(f"{sha256[:80]!r} is no SHA-256 of a file: 64 of the digits 0-9 and a-f")
