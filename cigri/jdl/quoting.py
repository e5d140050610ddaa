"""Words of a command line, told apart as sh does, with nothing expanded."""

import re

BLANKS = " \t\r\n"
_CONTINUATION = "\\\n"
_QUOTING = re.compile(r"""['"\\]""")
_PLAIN_WORD = re.compile(rf"[^{BLANKS}]+")
_IN_DOUBLE = r"""[^"\\]*+(?:\\.[^"\\]*+)*"""
_WHOLE = re.compile(rf"""[^'"\\]*+(?:(?:\\.|'[^']*+'|"{_IN_DOUBLE}")[^'"\\]*+)*""", re.DOTALL)
_PIECE = re.compile(
    rf"""(?P<blank>[{BLANKS}]+)|(?P<plain>[^{BLANKS}'"\\]+)|(?P<escaped>\\.)|'(?P<single>[^']*)'"""
    rf'''|"(?P<double>{_IN_DOUBLE})"''',
    re.DOTALL,
)
_ESCAPED_IN_DOUBLE = re.compile(r'\\([$`"\\\n])')
_EXPANDED = re.compile(r"[;&|<>()$`*?]")
_EXPANDED_IN_DOUBLE = re.compile(r"(?<!\\)(?:\\\\)*([$`])")
_HOME_VARIABLE = re.compile(r"\$(?:HOME|\{HOME\})(?=/|$)")


def is_balanced(text: str) -> bool:
    """Every quote is closed and no backslash stands at the end."""
    return _WHOLE.fullmatch(text) is not None


def split(text: str) -> list[str]:
    """The words of a balanced line."""
    if not _QUOTING.search(text):
        return _PLAIN_WORD.findall(text)
    words: list[str] = []
    inside = False
    for piece in _PIECE.finditer(text):
        if piece.lastgroup == "blank":
            inside = False
        if piece.lastgroup == "blank" or piece[0] == _CONTINUATION:
            continue
        if not inside:
            words.append("")
        words[-1] += _unquoted(piece)
        inside = True
    return words


def expanded_by_sh(text: str) -> str:
    """The first piece of a balanced line that sh would not take as it is, $HOME at the head of a word aside, or ""."""
    at_head = True
    for piece in _PIECE.finditer(text.strip()):
        kind, content = piece.lastgroup, piece[piece.lastgroup or 0]
        if kind == "blank" and "\n" in content:
            return "a new line"
        if at_head and kind in ("plain", "double"):
            content = _HOME_VARIABLE.sub("", content, count=1) if _HOME_VARIABLE.match(content) else content
        if kind == "plain" and (special := _EXPANDED.search(content)):
            return special[0]
        if kind == "double" and (special := _EXPANDED_IN_DOUBLE.search(content)):
            return special[1]
        at_head = kind == "blank"
    return ""


def _unquoted(piece: re.Match[str]) -> str:
    content = piece[piece.lastgroup or 0]
    match piece.lastgroup:
        case "escaped":
            return content[1]
        case "double":
            return _ESCAPED_IN_DOUBLE.sub(lambda escaped: "" if escaped[1] == "\n" else escaped[1], content)
        case _:
            return content
