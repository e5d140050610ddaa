"""Inputs of campaigns are sent to the grid before the campaign that names them, each once, from where it was cut.

To know the sum of a file is not to have it: whoever names one has sent all of it.
"""

from typing import TYPE_CHECKING

from cigri.api_models.files import CampaignInputs, InputUploadStatus, LackedInputs, RefreshedInputs, TakenInputs
from cigri.endpoints import Access, change_endpoint, read_endpoint, upload_endpoint, with_settings
from cigri.endpoints.campaigns import find_campaign
from cigri.endpoints.parameters import FromZero
from cigri.endpoints.request_bodies import SpooledBody, SpooledLines
from cigri.errors import NotFound, StorageFull, UsageError
from cigri.formats.units import MEGABYTE, as_size
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.settings.sections import InputSettings, Settings


@read_endpoint("/inputs/{sha256}", Access.EVERYBODY)
@with_settings
def sent_input(conn: "Connection", caller: Caller, settings: "Settings", *, sha256: str) -> InputUploadStatus:
    """How much of the file with this SHA-256 has come from you."""
    from cigri.flow.stored_inputs import is_sent
    from cigri.inputs.store import store_of

    _require_sum(sha256)
    store = store_of(settings)
    if is_sent(conn, caller.user, sha256) and store.holds(sha256):
        return InputUploadStatus(sha256, 0, True)
    return InputUploadStatus(sha256, store.begun(caller.user, sha256), False)


@upload_endpoint("/inputs/{sha256}", Access.EVERYBODY)
@with_settings
def send_input(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    sha256: str,
    size: FromZero,
    offset: FromZero = 0,
) -> InputUploadStatus:
    """Bytes of a file of yours that has `size` of them, from `offset` on; once all are there they are verified."""
    from cigri.flow.audit import put_audit
    from cigri.flow.stored_inputs import count_sent, is_sent, put_sent
    from cigri.inputs.store import store_of

    _require_sum(sha256)
    limits, user = settings.inputs, caller.user
    store = store_of(settings)
    with database.begin() as conn:
        if is_sent(conn, user, sha256) and store.holds(sha256):
            return InputUploadStatus(sha256, 0, True)
        kept = count_sent(conn, user) + store.arriving(user, besides=sha256)
    if not 0 <= offset <= size or offset + body.size > size:
        raise UsageError(
            f"of {size} bytes, {body.size} from {offset} on cannot be", "size" if size < body.size else "offset"
        )
    if size > limits.largest * MEGABYTE:
        most = f"{limits.largest} MB (inputs.largest)"
        raise UsageError(f"this input has {as_size(size)}, and one may have {most}", "size")
    _require_room(limits, kept + size, "this input", size)
    held = store.add(user, sha256, offset, body.file, size)
    if held < size:
        return InputUploadStatus(sha256, held, False)
    with database.begin() as conn:
        put_sent(conn, user, sha256, size)
        put_audit(conn, caller, "send_input", {"sha256": sha256, "size": size})
    return InputUploadStatus(sha256, 0, True)


@upload_endpoint("/lacked-inputs", Access.EVERYBODY)
@with_settings
def lacked_inputs(database: "Database", caller: Caller, settings: "Settings", body: SpooledBody) -> LackedInputs:
    """Those of the SHA-256 sums that are sent, one JSON text a line, of whose files not all has come from you."""
    from cigri.flow.stored_inputs import list_sent
    from cigri.inputs.store import store_of

    sums = [str(value) for value in SpooledLines(body, 0)]
    for sum in sums:
        _require_sum(sum)
    with database.begin() as conn:
        sent = list_sent(conn, caller.user, sums)
    store = store_of(settings)
    return LackedInputs([sum for sum in dict.fromkeys(sums) if sum not in sent or not store.holds(sum)])


@upload_endpoint("/inputs", Access.EVERYBODY)
@with_settings
def send_inputs(database: "Database", caller: Caller, settings: "Settings", body: SpooledBody) -> TakenInputs:
    """Small files of yours, many at once: of each a line with its SHA-256, a blank and its size, then its bytes."""
    from cigri.flow.audit import put_audit
    from cigri.flow.stored_inputs import count_sent, put_many_sent
    from cigri.inputs.packing import unpacked_inputs
    from cigri.inputs.store import store_of

    store, user = store_of(settings), caller.user
    with database.begin() as conn:
        kept = count_sent(conn, user) + store.arriving(user) + body.size
    _require_room(settings.inputs, kept, "these inputs", body.size)
    sizes, wrong = dict[str, int](), list[str]()
    for sum, content in unpacked_inputs(body.file):
        if store.put(user, sum, content):
            sizes[sum] = len(content)
        else:
            wrong.append(sum)
    with database.begin() as conn:
        put_many_sent(conn, user, sizes)
        put_audit(conn, caller, "send_inputs", {"inputs": len(sizes), "size": body.size})
    return TakenInputs(len(sizes), wrong)


@read_endpoint("/campaigns/{campaign_id}/inputs", Access.OWNER)
def campaign_inputs(conn: "Connection", caller: Caller, *, campaign_id: int) -> CampaignInputs:
    """What a campaign of yours takes along to each cluster, and what it took along before."""
    from cigri.flow.views.input_versions import find_sent_from, list_input_versions

    if not caller.sees(find_campaign(conn, campaign_id).user):
        raise NotFound(f"you have no campaign {campaign_id}; `gridstat -u {caller.user}` lists yours")
    return CampaignInputs(campaign_id, find_sent_from(conn, campaign_id), list_input_versions(conn, campaign_id))


@change_endpoint("/campaigns/{campaign_id}/inputs", Access.OWNER)
def replace_inputs(
    conn: "Connection", caller: Caller, *, campaign_id: int, inputs: list[tuple[str, str]]
) -> RefreshedInputs:
    """Tasks that are still to be started find other files, which were sent before, in place of these inputs."""
    return replaced_inputs(conn, caller, campaign_id, inputs)


def replaced_inputs(
    conn: "Connection", caller: Caller, campaign_id: int, inputs: list[tuple[str, str]]
) -> RefreshedInputs:
    """Each by its path as it was written, with the SHA-256 of its new content."""
    from cigri.flow import input_versions
    from cigri.jdl.inputs import MOST_INPUTS

    if not inputs or len(inputs) > MOST_INPUTS:
        raise UsageError(f"inputs: name from 1 to {MOST_INPUTS} of them, each with its path and SHA-256", "inputs")
    for _, sha256 in inputs:
        _require_sum(sha256)
    return RefreshedInputs(campaign_id, *input_versions.replace_inputs(conn, campaign_id, caller, dict(inputs)))


def _require_room(limits: "InputSettings", all_of_user: int, what: str, size: int) -> None:
    if all_of_user > limits.of_user * MEGABYTE:
        raise StorageFull(
            f"with {what} of {as_size(size)} yours would have {as_size(all_of_user)}, and {limits.of_user} MB are "
            f"kept of each user (inputs.of_user); those that no open campaign needs go after {limits.keep:g} days"
        )


def _require_sum(sha256: str) -> None:
    from cigri.jdl.inputs import SHA256

    if not SHA256.fullmatch(sha256):
        raise UsageError(f"{sha256[:80]!r} is no SHA-256 of a file: 64 of the digits 0-9 and a-f", "sha256")
