"""Names and other text of users, as HTML and SVG may hold them."""

import re
from html import escape

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold


def escaped(text: str) -> str:
    """For text and for attributes; what no document may hold becomes the sign of a missing character."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
