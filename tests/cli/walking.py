"""Plays the ```console blocks of a page as written, and compares what a person sees with what the page shows."""

import getpass
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from cigri.cli import gridclusters, griddel, gridevents, gridget, gridhold, gridnotify, gridstat, gridsub, watching
from modules import operator
from tests.cli.running import Terminal
from tests.operator.conftest import CIGRI
from tests.waiting import looks

ROOT = Path(__file__).parents[2]
WIDTH = 80
MAINS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "gridsub": gridsub.main,
    "gridstat": gridstat.main,
    "griddel": griddel.main,
    "gridhold": gridhold.hold,
    "gridresume": gridhold.resume,
    "gridevents": gridevents.main,
    "gridget": gridget.main,
    "gridclusters": gridclusters.main,
    "gridnotify": gridnotify.main,
    "cigri": operator.main,
}
LOOKING = re.compile(r"grid(stat|clusters|events)\b(?!.* (-w|--watch|-f|--fix)\b)")
"""Commands that change nothing and end at once: where modules run meanwhile, a person may have to say them twice."""
OF_ITSELF = {"cigri up", "cigri down"}
"""Processes that outlive the command are not those of the test."""
SHELL = re.compile(r"[|<>$;&]")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
OVERWRITTEN = re.compile(r"[^\n]*\r\x1b\[K")
"""What stood on a line that was drawn anew: on a slow machine progress is told meanwhile."""
ESCAPE = re.compile(r"\x1b\[[0-9?]*[A-Za-z]")
VOLATILE = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE"),
    (r"\b\d+(\.\d+)? (d|h|min|s)\b( \d+ (h|min|s)\b)?( ago)?", "DURATION"),
    (r", \d+(\.\d+)? tasks/h", ""),  # of a campaign that is watched, once it is forecast
    (r"\b\d+(\.\d+)? tasks/h", "RATE"),
    (r"\(\d+(\.\d+)? [KMG]?B/s\)", "SPEED"),
    (r"Forecasts: [^\n]*\n", ""),  # of a campaign that lasted long enough to be foretold
    (r"Memory: [^\n]*\n", ""),  # of tasks that lasted until they were looked at
    (r"`gridstat -j \d+", "gridstat -j JOB"),
    (r"\b\d+\.\d+\b|\b\d{3,}\b", "NUMBER"),
)


class Walk:
    """Commands with their answers, played in a directory, for which the page says `home`, such as ~/scenes."""

    def __init__(
        self, told: str, directory: Path, home: str, before: Callable[[], object] = lambda: None, patience: float = 0.0
    ) -> None:
        """`before` each of our commands this is called; `patience`: seconds for answers to become as told."""
        self.steps = COMMAND.findall(told)
        self._directory, self._home, self._before, self._patience = directory, home, before, patience
        self._shown: set[str] = set()

    def play(self) -> str:
        """What was seen. If it should be told anew, the failure shows it as it was played."""
        played, told = "", ""
        for command, answer in self.steps:
            told += f"$ {command}\n{answer}"
            played += f"$ {command}\n{self._answer(command, answer)}"
            if steady(played) != steady(told):
                self._patience = 0.0
        assert steady(played) == steady(told), f"\n{played}"
        return played

    def _answer(self, command: str, told: str) -> str:
        for left in looks(self._patience):
            answer = self._do(command, told).replace(str(ROOT), "~/cigri").replace(str(self._directory), self._home)
            if not LOOKING.match(command) or left <= 0 or steady(answer) == steady(told):
                return answer
        raise AssertionError

    def _do(self, command: str, told: str) -> str:
        """Files that nothing has made are written as the page shows them, also when it shows them anew."""
        command = command.replace(f"{self._home}/", f"{self._directory}/")
        name, *argv = shlex.split(command)
        if name == "cat" and (argv[0] in self._shown or not Path(argv[0]).exists()):
            self._shown.add(argv[0])
            Path(argv[0]).parent.mkdir(parents=True, exist_ok=True)
            Path(argv[0]).write_text(told.replace(self._home, str(self._directory)))
            return told
        if command in OF_ITSELF:
            return subprocess.run([*CIGRI, *argv], capture_output=True, text=True, check=True).stdout
        if name not in MAINS or SHELL.search(command):
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            shell = ["sh", "-c", command]
            return subprocess.run(
                shell, capture_output=True, text=True, check=True, env=os.environ | {"PATH": path}
            ).stdout
        self._before()
        screen = Terminal()
        with redirect_stdout(screen), redirect_stderr(screen), mock.patch.object(sys, "argv", [name]):
            MAINS[name](argv)
        return ESCAPE.sub("", OVERWRITTEN.sub("", screen.getvalue().rpartition(watching.CLEAR)[2]))


def blocks(text: str) -> list[str]:
    return BLOCK.findall(text)


def steady(text: str) -> list[str]:
    """Words without what differs from one time to the next, and without the widths that follow from it."""
    text = re.sub(rf"\b{getpass.getuser()}\b", "alice", text)
    text = re.sub(rf"\b{re.escape(os.uname().nodename)}\b", "vm", text)
    for volatile, word in VOLATILE:
        text = re.sub(volatile, word, text)
    return [word for word in text.split() if set(word) != {"-"}]
