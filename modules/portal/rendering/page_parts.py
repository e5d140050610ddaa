"""Parts of a page, each of which an open page fetches anew only when it has changed."""

import re
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

KNOWN_PARTS = "X-CiGri-Parts"
"""Says in a request what the browser shows: `name=tag` of each part, with blanks between them."""
PART_TAG_LENGTH = 16  # digits of a sum of what is in it
TAKES_ITS_PLACE = Markup(' hx-swap-oob="true"')
CHANGED_ALONE = {"HX-Reswap": "none ignoreTitle:false"}
"""For htmx: nothing but what says of itself which place it takes."""
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)


class PageParts:
    """Those of one page while it is made; a template encloses each in `{% call part("name") %}`."""

    def __init__(self) -> None:
        self._found = dict[str, tuple[str, Markup]]()

    def part(self, name: str, caller: Callable[[], Markup]) -> Markup:
        """Return what is enclosed, with its tag."""
        content = caller()
        tag = sha256(content.encode()).hexdigest()[:PART_TAG_LENGTH]
        self._found[name] = tag, content
        return _enclosed(name, tag, content)

    def answer(self, page: str, known: str) -> Response | None:
        """Return what has changed of a page, 204 where nothing has; None: its parts are others than the known ones."""
        tags = dict(word.partition("=")[::2] for word in known.split())
        if not tags or tags.keys() != self._found.keys():
            return None
        changed = [
            _enclosed(name, tag, content, TAKES_ITS_PLACE)
            for name, (tag, content) in self._found.items()
            if tags[name] != tag
        ]
        if not changed:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        title = _TITLE.search(page)
        return HTMLResponse("\n".join([title[0] if title else "", *changed]), headers=CHANGED_ALONE)


def _enclosed(name: str, tag: str, content: Markup, more: str = "") -> Markup:
    return Markup('<div class="part" id="part-{}" data-tag="{}"{}>{}</div>').format(name, tag, more, content)
