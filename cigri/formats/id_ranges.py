"""Ids as people type them: "3", "3,5" or "3-7"."""

from collections.abc import Collection, Iterable

from cigri.errors import UsageError

LONGEST_ID = 18  # digits; bigint holds them all
MOST_IDS = 100_000


def read_ids(text: str, longest_range: int = MOST_IDS) -> list[int]:
    """Each once, in the order of the text; raise UsageError for what are no ids, or too many."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_id(first) or (dash and not _is_id(last)):
            raise UsageError(f"{text!r} is no id; write 3, or 3,5, or 3-7")
        numbers = range(int(first), int(last or first) + 1)
        if not 0 < len(numbers) <= longest_range:
            raise UsageError(f"{part.strip()!r} is no range of at most {longest_range} ids")
        found += numbers
        if len(found) > MOST_IDS:
            raise UsageError(f"these are more than {MOST_IDS} ids; name fewer at a time")
    return list(dict.fromkeys(found))


def format_ids(ids: Collection[int] | None) -> str:
    """As `read_ids` reads them, "" for none in particular."""
    return as_ranges(sorted(ids or ()))


def as_ranges(numbers: Iterable[int], most: int | None = None) -> str:
    """As "0-2,5", of numbers in order; of more than `most` ranges the rest is counted."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = ranges[:most]
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in shown)
    left = sum(last - first + 1 for first, last in ranges[len(shown) :])
    return f"{text} and {left} more" if left else text


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID
