"""One task: a tile of the Mandelbrot set.   tile.py COLUMN ROW COLUMNS ROWS SIZE   writes tile-COLUMN-ROW.gray

A tile is SIZE x SIZE bytes, one a pixel: how soon the point escapes.
"""

import sys
from pathlib import Path

LEFT, TOP, EDGE = -2.0, -1.3, 2.6  # the square of the plane that the picture shows
STEPS = 160


def escape(point: complex) -> int:
    z = 0j
    for step in range(STEPS):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return 255 - 255 * step // STEPS
        z = z * z + point
    return 0


column, row, columns, rows, size = map(int, sys.argv[1:])
pixels = bytearray()
for y in range(size):
    for x in range(size):
        across = LEFT + EDGE * (column * size + x) / (columns * size)
        down = TOP + EDGE * (row * size + y) / (rows * size)
        pixels.append(escape(complex(across, down)))
Path(f"tile-{column}-{row}.gray").write_bytes(pixels)
