"""The chain of hashes of the audit trail, verified for `cigri doctor --audit`; pure but for reading."""

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.errors import UsageError
from cigri.flow.audit import AuditChainState, ChainedEntry, find_chain, walk_audit

HEAD_TEXT = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


class AuditHead(NamedTuple):
    """An entry and its hash, which say what all entries up to it were; 0: before the first one."""

    id: int
    hash: str

    def __str__(self) -> str:
        return f"{self.id}:{self.hash}"


class AuditVerdict(NamedTuple):
    """Up to where the trail goes, and what is wrong with it, a sentence each."""

    head: AuditHead
    wrong: list[str]


def parse_head(text: str) -> AuditHead:
    """Raise UsageError for what `cigri doctor --audit` has not written."""
    parts = HEAD_TEXT.fullmatch(text)
    if parts is None:
        raise UsageError(f"{text!r} is no head of an audit trail: NUMBER:HASH, as cigri doctor --audit writes it")
    return AuditHead(int(parts[1]), parts[2])


def verify(conn: Connection, since: AuditHead | None) -> AuditVerdict:
    """All entries, in a transaction that sees one instant; `since`: a head that was kept elsewhere."""
    chain = find_chain(conn)
    return AuditVerdict(AuditHead(chain.last_id, chain.last_hash), find_faults(chain, walk_audit(conn), since))


def find_faults(chain: AuditChainState, entries: Iterable[ChainedEntry], since: AuditHead | None) -> list[str]:
    """The first entry that is not what was written, whether the last one is missing, and whether `since` is there."""
    reached, wrong, is_since_there = AuditHead(chain.removed_id, chain.removed_hash), list[str](), since is None
    for entry in entries:
        is_since_there = is_since_there or reached == since
        expected = hashlib.sha256((reached.hash + entry.text).encode()).hexdigest()
        if entry.hash != expected and not wrong:
            wrong.append(f"entry {entry.id} or one before it was changed or removed after it had been written")
        reached = AuditHead(entry.id, entry.hash)
    if reached != (chain.last_id, chain.last_hash):
        wrong.append(f"it ends with entry {reached.id}, and the last one that was written is {chain.last_id}")
    if not (is_since_there or reached == since):
        assert since is not None, "it is there, then"
        wrong.append(_why_missing(chain, since))
    return wrong


def _why_missing(chain: AuditChainState, since: AuditHead) -> str:
    if since.id <= chain.removed_id and chain.removed_until is not None:
        return (
            f"entry {since.id} was removed, as all until {chain.removed_until:%Y-%m-%d %H:%M}: "
            "hold the trail against a head that is younger than history.keep_events"
        )
    return f"entry {since.id} is not there with this hash: the trail was written anew since"
