"""A long-lived `sh`: scripts go in one after the other, each runs in a subshell, marks tell where answers end."""

import re
import secrets
import time
from contextlib import suppress
from typing import Protocol

from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import RawShellResult

# Read whole by the shell before it runs, since what follows on the same stream are scripts. A script is evaluated with
# stdin at /dev/null, in a subshell that neither `exit` nor a syntax error can leave. It runs in the background so that
# the shell sees the end of its stdin: when the connection is gone, so is the script, and it cannot submit jobs later.
# One to which a file is sent has that as its stdin, which ends with the connection.
PROGRAM = r"""{
cd || exit 1
command -v head >/dev/null || { echo 'no command head' >&2; exit 1; }
printf '\n%s 0\n' MARK
printf '\n%s 0\n' MARK >&2
while read -r mark size bytes; do
    wait
    script=$(head -c "$size")
    [ "$script" ] || break
    if [ "$bytes" ]; then
        head -c "$bytes" | {
            (eval "$script")
            status=$?
            cat >/dev/null
            printf '\n%s %s\n' "$mark" "$status"
            printf '\n%s %s\n' "$mark" "$status" >&2
        }
        continue
    fi
    (
        (eval "$script") </dev/null
        status=$?
        printf '\n%s %s\n' "$mark" "$status"
        printf '\n%s %s\n' "$mark" "$status" >&2
    ) &
done
kill 0
}
"""


START_UP_FILES = (
    "What its start-up files (~/.bashrc, ~/.bash_profile, ~/.profile, ~/.zshenv, ~/.tcshrc, /etc/profile.d) run "
    "without a terminal may start no other shell, ask nothing, and redirect nothing: "
    "`case $- in *i*) ;; *) return;; esac` before those lines keeps them for people"
)
LARGEST_ANSWER = 2**26  # bytes of an output; who says more is not listened to


class ShellStreams(Protocol):
    """The three standard streams of a process, here or elsewhere; deadlines are of time.monotonic()."""

    @property
    def is_open(self) -> bool:
        """False once the process is known to be gone."""

    @property
    def is_cut_off(self) -> bool:
        """True once the connection is gone over which it was spoken to, and not the process alone."""

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it; raise TimeoutError, or ConnectionError when the other end is gone."""

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        """What came on stdout and stderr, at least one byte; raise TimeoutError, or EOFError at the end of both."""

    def close(self) -> None:
        """End it; a script that still runs is terminated."""

    def terminate(self) -> None:
        """End the process under a thread that uses it, which finds the other end gone and closes."""


class PersistentShell:
    """One shell of one user. Used by one thread at a time; of no use after an error."""

    def __init__(self, cluster: str, user: str, stream: ShellStreams) -> None:
        self.cluster = cluster
        self.user = user
        self._stream = stream

    @property
    def is_open(self) -> bool:
        """False once the process is known to be gone; True is no promise."""
        return self._stream.is_open

    def close(self) -> None:
        """End the process, and a script that still runs in it."""
        self._stream.close()

    def terminate(self) -> None:
        """End the process under the thread that uses it, whose run() then raises RemoteOutcomeUnknown."""
        self._stream.terminate()

    def start(self, deadline: float) -> None:
        """Start the program and see that it speaks, whatever start-up files printed; raise ClusterUnreachable."""
        mark = _new_mark()
        out, err = _ScriptOutput(mark), _ScriptOutput(mark)
        try:
            with suppress(ConnectionError):  # it has ended already, and its last words say why
                self._stream.send(PROGRAM.replace("MARK", mark).encode(), deadline)
            self._receive(out, err, deadline)
        except TimeoutError:
            message = f"no shell of {self.user} came up in time: {_came_instead(out, err)}. {START_UP_FILES}"
            raise ClusterUnreachable(self.cluster, message) from None
        except (OSError, EOFError):
            refused = f"sudo -n -u {self.user} refused" if "sudo: " in err.text else f"no shell of {self.user}"
            is_cut_off = self._stream.is_cut_off
            said = _said(out, err) or ("" if is_cut_off else f", it ended without a word. {START_UP_FILES}")
            message = f"{refused}{said}"
            raise ClusterUnreachable(self.cluster, message, is_front_end=is_cut_off) from None

    def run(self, script: str, deadline: float, sent: bytes = b"") -> RawShellResult:
        """Run sh text; one that was not taken whole does not run. `sent` is its stdin, of which a part may come."""
        mark, started = _new_mark(), time.monotonic()
        # In braces, cut text is a syntax error, and nothing of it runs.
        text = f"{{ :\n{script}\n\n}}".encode()
        try:
            size = f"{len(text)} {len(sent)}" if sent else f"{len(text)}"
            self._stream.send(f"{mark} {size}\n".encode() + text + sent, deadline)
        except OSError as error:
            if sent:
                raise RemoteOutcomeUnknown(
                    self.cluster, f"the shell of {self.user} did not take a file: {error}"
                ) from None
            message = f"the shell of {self.user} did not take the script, nothing was run: {error}"
            raise ClusterUnreachable(self.cluster, message, is_front_end=self._stream.is_cut_off) from None
        out, err = _ScriptOutput(mark), _ScriptOutput(mark)
        try:
            self._receive(out, err, deadline)
        except TimeoutError:
            waited = f"no answer within {time.monotonic() - started:.1f} s"
            raise RemoteOutcomeUnknown(
                self.cluster, f"{waited} from the script of {self.user}{_said(out, err)}"
            ) from None
        except _OutputTooLarge:
            message = f"a script of {self.user} printed more than {LARGEST_ANSWER} bytes; the rest was not read"
            raise RemoteOutcomeUnknown(self.cluster, message) from None
        except (OSError, EOFError):
            message = f"the connection was lost while a script of {self.user} ran{_said(out, err)}"
            raise RemoteOutcomeUnknown(self.cluster, message, is_front_end=self._stream.is_cut_off) from None
        return RawShellResult(out.status, out.data, err.data)

    def _receive(self, out: "_ScriptOutput", err: "_ScriptOutput", deadline: float) -> None:
        while not (out.is_complete and err.is_complete):
            out_bytes, err_bytes = self._stream.receive(deadline)
            out.feed(out_bytes)
            err.feed(err_bytes)


class _OutputTooLarge(OSError):
    pass


class _ScriptOutput:
    """One output of a script, up to its mark."""

    def __init__(self, mark: str) -> None:
        self._end = re.compile(rb"\n%s (\d+)\n" % mark.encode())
        self._longest_end = len(mark) + 8
        self._data = bytearray()
        self._found: re.Match[bytes] | None = None

    def feed(self, data: bytes) -> None:
        if not data or self._found:
            return
        unseen = max(0, len(self._data) - self._longest_end)
        self._data += data
        self._found = self._end.search(self._data, unseen)
        if self._found is None and len(self._data) > LARGEST_ANSWER:
            raise _OutputTooLarge

    @property
    def is_complete(self) -> bool:
        return self._found is not None

    @property
    def status(self) -> int:
        assert self._found
        return int(self._found[1])

    @property
    def data(self) -> bytes:
        """What came before the mark."""
        return bytes(memoryview(self._data)[: self._found.start() if self._found else None])

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


def _new_mark() -> str:
    return f"cigri-{secrets.token_hex(8)}"


def _came_instead(out: _ScriptOutput, err: _ScriptOutput) -> str:
    """What is known of a shell that did not speak on both of its outputs."""
    if out.is_complete:
        return "it runs, but what it writes on its standard error goes elsewhere (exec 2>FILE)"
    if err.is_complete:
        return "it runs, but what it writes on its standard output goes elsewhere (exec >FILE)"
    came = {"standard output": out.text.strip(), "standard error": err.text.strip()}
    said = [f"on its {name} came instead: {excerpt(text)}" for name, text in came.items() if text]
    return "; ".join(said) or "nothing came"


def _said(out: _ScriptOutput, err: _ScriptOutput) -> str:
    """The last words, for a person."""
    words = err.text.strip() or out.text.strip()
    return f": {excerpt(words)}" if words else ""
