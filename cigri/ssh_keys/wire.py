"""Fields of SSH's binary format: each with its length before it."""

import struct

LENGTH = struct.Struct(">I")


def read_fields(data: bytes) -> list[bytes]:
    """All of them; raise ValueError where the last one is not whole."""
    fields, at = list[bytes](), 0
    while at < len(data):
        if at + LENGTH.size > len(data):
            raise ValueError("a field without its length")
        (length,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size
        if at + length > len(data):
            raise ValueError("a field that is not whole")
        fields.append(data[at : at + length])
        at += length
    return fields
