"""The epilogue: all tiles in one picture.   assemble.py COLUMNS ROWS SIZE PICTURE   reads tile-COLUMN-ROW.gray"""

import struct
import sys
import zlib
from pathlib import Path


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


columns, rows, size = map(int, sys.argv[1:4])
lines = bytearray()
for row in range(rows):
    tiles = [Path(f"tile-{column}-{row}.gray").read_bytes() for column in range(columns)]
    for y in range(size):
        lines += b"\0" + b"".join(tile[y * size : (y + 1) * size] for tile in tiles)
header = struct.pack(">IIBBBBB", columns * size, rows * size, 8, 0, 0, 0, 0)
png = (
    b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(lines), 9)) + chunk(b"IEND", b"")
)
Path(sys.argv[4]).write_bytes(png)
