"""Who a job runs as, and the environment that its owner would find at login."""

import os
import pwd
from collections.abc import Mapping, Sequence
from typing import NamedTuple

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
USUAL_UMASK = 0o022  # of logins; ours, 077 under systemd, is no other account's


class JobOwner(NamedTuple):
    """An account of this host; `groups` is None when it is the daemon's own, so that nothing has to be changed."""

    uid: int
    gid: int
    groups: Sequence[int] | None
    home: str
    environment: Mapping[str, str]


def owner_of(uid: int) -> JobOwner:
    """The account of a user id; raise LookupError when there is none."""
    account = pwd.getpwuid(uid)
    groups = None if uid == os.geteuid() else os.getgrouplist(account.pw_name, account.pw_gid)
    environment = {
        "HOME": account.pw_dir,
        "USER": account.pw_name,
        "LOGNAME": account.pw_name,
        "SHELL": account.pw_shell or "/bin/sh",
        "PATH": os.environ.get("PATH", DEFAULT_PATH),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    home = account.pw_dir if os.path.isdir(account.pw_dir) else "/"
    return JobOwner(uid, account.pw_gid, groups, home, environment)
