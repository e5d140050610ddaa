"""A group that files may be given to here, and whom a file is open to."""

import grp
import os
import stat
from pathlib import Path


def other_group() -> grp.struct_group:
    """Other than the group of this process, where it may give files to one."""
    mine = os.getegid()
    may_have = {group.gr_gid for group in grp.getgrall()} if os.geteuid() == 0 else set(os.getgroups())
    return grp.getgrgid(max(may_have - {mine}, default=mine))


def access(place: Path) -> tuple[int, int]:
    """Its permissions, and the number of its group."""
    found = place.lstat()
    return stat.S_IMODE(found.st_mode), found.st_gid
