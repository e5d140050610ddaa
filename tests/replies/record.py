"""Record what a real batch system says, point by point; as root: python -m tests.replies.record KIND."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from cigri.drivers import BatchRequest, JobControl, RemoteJobState, ResourceRequest
from cigri.errors import SubmissionRefused
from cigri.shell.results import ShellResult
from tests.drivers.conformance import EXITS, PREFIX, USER, Batch, Site, until

FOLDER = Path(__file__).parent
RECORDED = "cigri-recorded"  # as long as PREFIX, in whose place it is put


@dataclass
class Recorder:
    """Keeps the answers of one site. It runs what it is told as the site does, and knows the last answer."""

    kind: str
    variant: str
    site: Site

    def __post_init__(self) -> None:
        found = re.search(r"\d+(\.\d+)+", self.site.version)
        self.version = found[0] if found else "1"
        self.last = ShellResult(0, "", "")
        self._run = self.site.run
        self.site.run = self.run  # type: ignore[method-assign]

    def run(self, user: str, script: str) -> ShellResult:
        self.last = self._run(user, script)
        return self.last

    def ask(self, point: str, user: str, script: str) -> None:
        self.run(user, script)
        self.keep(point)

    def keep(self, point: str) -> None:
        """One file: the exit status, standard output, standard error of the last answer."""
        status, out, err = self.last
        text = f"exit status {status}\n== out ==\n{out}== err ==\n{err}".replace(PREFIX, RECORDED)
        self.write(point, re.sub(r"/tmp/cigri-[\w-]+", "/tmp/place", text))

    def write(self, point: str, text: str) -> None:
        name = "-".join(filter(None, (self.version, point, self.variant)))
        (FOLDER / self.kind / f"{name}.txt").write_text(text)


@contextmanager
def controller_down(site: Site) -> Iterator[None]:
    site.stop_controller()
    try:
        yield
    finally:
        site.start_controller()


def record(recorder: Recorder) -> None:
    """Every point."""
    site = recorder.site
    overtime = site.submit(BatchRequest("overtime", 1, 60, besteffort=False))
    record_answers_about_the_cluster(recorder)
    record_codes(recorder)
    record_refusal(recorder)
    record_many(recorder)
    record_preemption(recorder)
    overtime.until_ended(150)
    keep_history(recorder, overtime, "history-timeout")
    with controller_down(site):
        record_silence(recorder)


def record_answers_about_the_cluster(recorder: Recorder) -> None:
    driver = recorder.site.driver
    recorder.ask("probe", USER, driver.probe())
    recorder.ask("capacity", USER, driver.capacity(""))
    recorder.ask("capacity-unknown-queue", USER, driver.capacity("nowhere"))
    recorder.ask("nodes", USER, driver.nodes())


def record_codes(recorder: Recorder) -> None:
    batch = recorder.site.submit(BatchRequest("codes", 5, 600), EXITS)
    recorder.keep("submit")
    batch.until_ended()
    keep_history(recorder, batch, "history-codes")


def keep_history(recorder: Recorder, batch: Batch, point: str) -> None:
    """An accounting database hears of an end some seconds later: ask until the answer has stayed the same for ten."""
    answers: list[ShellResult] = []

    def stays() -> bool:
        time.sleep(2)
        batch.history()
        answers.append(recorder.last)
        return answers[-6:] == [recorder.last] * 6

    until(stays)
    recorder.keep(point)


def record_refusal(recorder: Recorder) -> None:
    site = recorder.site
    with suppress(SubmissionRefused):
        site.submit(BatchRequest("refused", 2, 600, besteffort=False, queue="nowhere"))
    recorder.keep("submit-refused")
    asked = [(f"{PREFIX}-refused", 1, ""), (f"{PREFIX}-never", 1, site.unknown_id)]
    recorder.ask("history-never", USER, site.driver.history(asked))
    recorder.ask("cancel-gone", USER, site.driver.cancel([site.unknown_id]))


def record_many(recorder: Recorder) -> None:
    site, driver, controls = recorder.site, recorder.site.driver, recorder.site.driver.controls
    batch = site.submit(BatchRequest("many", 40, 600))
    batch.until_seen(RemoteJobState.WAITING, RemoteJobState.RUNNING)
    recorder.ask("status-none", site.rival, driver.status(PREFIX))
    recorder.ask("cancel-denied", site.rival, driver.cancel([batch.ids[1]]))
    if controls:
        recorder.ask("control-denied", site.rival, driver.control(JobControl.HOLD, [batch.ids[40]]))
    control(recorder, JobControl.HOLD, batch, 40, USER)
    until(lambda: batch.live()[40].state == RemoteJobState.HELD)
    recorder.keep("status")
    if JobControl.SUSPEND in controls:
        control(recorder, JobControl.SUSPEND, batch, 1, site.operator)
        until(lambda: batch.live()[1].state == RemoteJobState.SUSPENDED)
        recorder.keep("status-suspended")
        control(recorder, JobControl.RESUME, batch, 1, site.operator)
    control(recorder, JobControl.RELEASE, batch, 40, USER)
    batch.cancel(list(batch.ids))
    recorder.keep("cancel")
    batch.until_ended()
    keep_history(recorder, batch, "history-killed")


def control(recorder: Recorder, verb: JobControl, batch: Batch, index: int, user: str) -> None:
    recorder.site.control(verb, [batch.ids[index]], user)
    recorder.keep(f"control-{verb}")


def record_preemption(recorder: Recorder) -> None:
    site = recorder.site
    if site.never_preempts:
        recorder.write("history-preempted", f"impossible: {site.never_preempts}\n")
        return
    victims = site.submit(BatchRequest("victims", 2, 600, ResourceRequest(cpu=6)))
    victims.until_seen(RemoteJobState.RUNNING)
    rival = site.submit(BatchRequest("rival", 1, 600, ResourceRequest(cpu=6), besteffort=False), user=site.rival)
    rival.until_seen(RemoteJobState.RUNNING)
    until(lambda: RemoteJobState.PREEMPTED in {job.state for job in victims.history().values()})
    keep_history(recorder, victims, "history-preempted")
    rival.cancel([1])
    victims.cancel([1, 2])


def record_silence(recorder: Recorder) -> None:
    """The same questions to a dead controller."""
    driver, unknown = recorder.site.driver, recorder.site.unknown_id
    request = BatchRequest(f"{PREFIX}-down", 1, 60)
    recorder.ask("down-submit", USER, "printf '#!/bin/sh\\n' >job; chmod 755 job\n" + driver.submit(request))
    recorder.ask("down-status", USER, driver.status(PREFIX))
    recorder.ask("down-history", USER, driver.history([(f"{PREFIX}-codes", 1, unknown)]))
    recorder.ask("down-cancel", USER, driver.cancel([unknown]))
    recorder.ask("down-capacity", USER, driver.capacity(""))
    recorder.ask("down-probe", USER, driver.probe())
    if driver.controls:
        recorder.ask("down-control", USER, driver.control(JobControl.HOLD, [unknown]))


def main() -> None:
    kind = sys.argv[1]
    module = import_module(f"tests.drivers.test_{kind}_real")
    more: Callable[[Recorder], None] = getattr(module, "record_more", lambda recorder: None)
    for variant, site in module.recording_sites():
        recorder = Recorder(kind, variant, site)
        record(recorder)
        more(recorder)


if __name__ == "__main__":
    main()
