"""Paths that come from clusters, and are to lie below a directory."""


def leads_below(path: bytes) -> bool:
    """Is it a path below a directory, and nothing else?"""
    return b"\0" not in path and not {b"", b".", b".."} & set(path.split(b"/"))
