"""Words that jobs, clusters and users may write, put into every text of the database: readers are to survive them."""

from collections.abc import Mapping

from sqlalchemy import ARRAY, Column, Enum, String, inspect, text, update
from sqlalchemy.exc import DataError, IntegrityError

from cigri.database import Database
from cigri.tables import everything

WORDS: Mapping[str, str] = {
    "a date that there is not": "9999-99-99T99:99:99+00:00",
    "the last second of all": "at 9999-12-31T23:59:59+00:00",
    "the first second of all": "0001-01-01T00:00:00+00:00",
    "markup": "<script>alert(1)</script>\"'&",
    "what steers a terminal": "\x1b[2J\x1b]0;owned\x07\x9b31m\x08",
    "text that is turned around": "\u202eabc\u2066\u200b\ufeff",
    "formats": "%s %d %(x)s {} {0!r} {{ 7*7 }} {% raw %} $(id) `id`",
    "lines": "a\r\nb\n\n\t; stderr ends: \n",
    "nothing": "",
    "much": "long " * 20_000,
    "other letters": "\u00e9\u4e16\U0001f600",
}
OURS = {"browser_sessions", "tokens", "grid", "audit_chain", "alembic_version"}
"""Tables that hold nothing but what the grid wrote itself, without which nobody is let in."""
CONSTANTS = {"events.code"}
"""Columns that hold words of the program, none of which anybody chooses."""
WHO = {"grid_user", "user"}
"""Columns that say whose something is: it would be shown to nobody."""


def put_everywhere(database: Database, word: str) -> set[str]:
    """Put a word where text of others stands, in all rows that may hold it; give the columns, as table.column."""
    written = set()
    with database.begin() as conn:
        conn.execute(text("ALTER TABLE audit DISABLE TRIGGER USER"))  # which let it only be added to
        there = set(inspect(conn).get_table_names())
        for table in everything().sorted_tables:
            for column in table.columns if table.name in there - OURS else ():
                name = f"{table.name}.{column.name}"
                if not _is_text(column) or column.name in WHO or column.primary_key or name in CONSTANTS:
                    continue
                value = [word] if isinstance(column.type, ARRAY) else word
                try:
                    with conn.begin_nested():
                        if conn.execute(update(table).values({column.name: value})).rowcount:
                            written.add(name)
                except (IntegrityError, DataError):
                    continue  # the database refuses such a word there
    return written


def _is_text(column: Column[object]) -> bool:
    kind = column.type.item_type if isinstance(column.type, ARRAY) else column.type
    return isinstance(kind, String) and not isinstance(kind, Enum)
