"""`python -P -m tests.cli.screens` writes the snapshots anew; `git diff` then shows what people will see."""

import os
import time

import pytest

from tests.cli.screens import WIDTHS, screen, stored

os.environ["TZ"] = "UTC"
time.tzset()
with pytest.MonkeyPatch.context() as monkeypatch:
    for width in WIDTHS:
        stored(width).write_text(screen(width, monkeypatch))
