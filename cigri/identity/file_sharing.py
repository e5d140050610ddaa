"""Outputs that their user shares: the mode that files get, the one that follows for directories, and a group."""

import grp
import os
from typing import NamedTuple

from cigri.errors import CigriError

READS, WRITES, ALL_READS, ENTERS = 0o4, 0o2, 0o444, 2
PERMISSIONS = 0o7777


class NoSuchGroup(CigriError):
    """Why nobody but the owner gets these files here."""


class FileSharing(NamedTuple):
    """Bits of files, and the name of the group that they are given to; empty: the one that they have anyway."""

    mode: int
    group: str = ""

    @property
    def directory_mode(self) -> int:
        """Whoever may read a file may enter its directory."""
        return self.mode | (self.mode & ALL_READS) >> ENTERS

    def require_group(self) -> "GroupSharing":
        """Raise NoSuchGroup where the group is unknown to this host, or this process is no member of it."""
        if not self.group:
            return GroupSharing(self.mode, self.directory_mode, -1)
        try:
            gid = grp.getgrnam(self.group).gr_gid
        except KeyError:
            raise NoSuchGroup(f"outputs_mode: there is no group {self.group} on this host") from None
        if os.geteuid() != 0 and gid not in (*os.getgroups(), os.getegid()):
            raise NoSuchGroup(f"outputs_mode: you are no member of the group {self.group} on this host")
        return GroupSharing(self.mode, self.directory_mode, gid)


class GroupSharing(NamedTuple):
    """The same with the number of the group on this host; -1: it stays as it is."""

    mode: int
    directory_mode: int
    gid: int

    def share(self, descriptor: int, *, is_directory: bool = False) -> None:
        """Give it to the group first: no other group sees it for a moment."""
        os.fchown(descriptor, -1, self.gid)
        os.fchmod(descriptor, self.directory_mode if is_directory else self.mode)


def sharing_of(mode: str | None, group: str | None) -> FileSharing | None:
    """As they are stored and sent; None: they are their owner's alone."""
    return FileSharing(int(mode, 8), group or "") if mode else None
