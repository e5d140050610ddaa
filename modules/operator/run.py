"""`cigri run MODULE...`: passes in this process, one by hand or for ever."""

import argparse
import logging
import signal
import threading
import time
import traceback
from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy.exc import SQLAlchemyError

from cigri.cli.command import CommandParser, escape_text, print_error
from cigri.errors import CigriError, DatabaseUnavailable, UsageError
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.installation import database_place, database_url
from cigri.lifecycle import longest_pass
from cigri.runtime.logging_setup import set_up_log
from cigri.runtime.pass_context import PassContext, RunOnce, is_noteworthy, process_identity, tune_garbage_collector
from cigri.settings.loading import load
from modules import __path__ as places

logger = logging.getLogger(__name__)

NOT_RUN = ("almighty", "laboratory", "operator")


def run(argv: list[str]) -> int:
    names = sorted({module.name for module in iter_modules(places)} - set(NOT_RUN))
    parser = CommandParser(
        "cigri run",
        f"Run one pass of each module, in this order, and note it for `cigri status`.\nModules: {', '.join(names)}",
        "  cigri run updator\n  cigri run janitor\n  cigri run updator predictor matcher metascheduler --every 5\n"
        "  cigri run janitor --quiet",
    )
    parser.add_argument("modules", nargs="+", metavar="MODULE")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="go on until SIGTERM, with this pause")
    parser.add_argument("--quiet", action="store_true", help="write only what is wrong, as for cron")
    options = parser.parse_args(argv)
    if options.every is not None and options.every <= 0:
        raise UsageError("--every takes a number of seconds above 0")
    programs = {name: _load(name, names) for name in options.modules}
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return _passes(programs, options, stop)


def _load(name: str, names: list[str]) -> RunOnce:
    run_once: RunOnce | None = getattr(import_module(f"modules.{name}"), "run_once", None) if name in names else None
    if run_once is None:
        raise UsageError(f"there is no module {name!r}; there are: {', '.join(names)}")
    return run_once


def _passes(programs: dict[str, RunOnce], options: argparse.Namespace, stop: threading.Event) -> int:
    """Passes until one is enough or it is asked to stop; the exit status of the last."""
    from cigri.database import Database, schema
    from cigri.flow.grid_identity import require_grid_identity
    from cigri.gateway.transport_gateway import TransportGateway
    from cigri.runtime.heartbeat import ProcessHeartbeat

    settings = load()
    set_up_log(settings.log, quiet=options.quiet)
    database = Database(database_url(settings), settings.database.lock_timeout)
    tools = PassContext(database, settings, TransportGateway())
    heartbeat = ProcessHeartbeat(database, "cigri run", settings.almighty.silence)
    try:
        schema.require_current(database)
        with database.begin() as conn:
            require_grid_identity(conn, database_place(settings))
        if options.every is not None:
            tune_garbage_collector()
        with heartbeat.beating():
            while True:
                done = []
                for name, run_once in programs.items():
                    if not stop.is_set():
                        heartbeat.begin(f"the pass of {name}", longest_pass(name, settings.almighty.deadline))
                        done.append(_pass(tools, name, run_once))
                        _tell(done[-1], options)
                heartbeat.begin("", options.every or 0.0)
                if options.every is None or stop.wait(options.every):
                    return 1 if any(each.error for each in done) else 0
    finally:
        tools.gateway.close()
        database.close()


def _pass(tools: PassContext, name: str, run_once: RunOnce) -> ModulePass:
    started, counts, error = time.monotonic(), {}, ""
    try:
        counts = dict(run_once(tools))
    except CigriError as problem:
        error = str(problem)
    except Exception:
        error = traceback.format_exc()
    host, pid = process_identity()
    seconds, spent = time.monotonic() - started, tools.gateway.take_command_costs()
    done = ModulePass(name, host, pid, seconds, counts, error, spent=spent)
    try:
        with tools.database.begin() as conn:
            put_pass(conn, done)
    except (DatabaseUnavailable, SQLAlchemyError) as problem:
        print_error(f"the pass of {name} could not be noted: {problem}")
    return done


def _tell(done: ModulePass, options: argparse.Namespace) -> None:
    """Who asked for one pass is told of it; of many passes only news, and failures as the log has them."""
    if done.error:
        failed = f"{done.name} failed: {done.error}"
        print_error(failed) if options.every is None else logger.error("%s", failed)
    elif not options.quiet and (options.every is None or is_noteworthy(done.counts)):
        summary = ", ".join(f"{count} {what}" for what, count in done.counts.items()) or "nothing to do"
        print(f"{done.name}: {escape_text(summary)} ({done.seconds:.2f} s)", flush=True)
