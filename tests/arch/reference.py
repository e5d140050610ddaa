"""docs/reference, written from the code: `python -P -m tests.arch.reference` writes it anew."""

import argparse
import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sqlalchemy import Column
from sqlalchemy.dialects import postgresql

from cigri.endpoints import Endpoint, list_endpoints
from cigri.endpoints.parameters import MEANINGS
from cigri.formats.json_values import inlined
from cigri.presentation.event_codes import CODES_OF_CAMPAIGNS, OF_THE_GRID
from cigri.presentation.exit_codes import EXPLAINED, OF_COMMANDS, OF_TASKS
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import Settings
from cigri.tables import everything
from modules.operator import HERE_ONLY
from modules.operator.parsers import operator_commands, parser_of
from modules.portal.openapi import meanings_of
from tests.arch.commands import ROOT, commands_asking
from tests.permissions import FOR_STRANGERS, MATES, Who, needed_scope, permission

PLACE = ROOT / "docs" / "reference"
ORIGIN = "written from the code; what is wrong here is mended there"
EXAMPLE = "`cigri cluster change NAME --set max_waiting=50`"
UNIT = re.compile(
    r"\b(core-seconds|seconds|days|MB|bytes|cores|jobs|tasks|times|failures|part|load|HS06|factor|slots|number)\b"
)
LIMITS = {"gt": "> ", "ge": "≥ ", "lt": "< ", "le": "≤ "}
OF_ALL = ("help", "version")
DATA_DIRECTORY = "~/.local/share/cigri"

PORTAL = """\
# The portal

<!-- {} -->

```sh
curl --unix-socket ~/.local/share/cigri/portal.sock http://localhost/api/v1/whoami
```

The socket of a site is `/run/cigri/portal.sock`. Every path, and who may ask it: [who-may-do-what](who-may-do-what.md).
Commands ask the same; their `--json` is the body of the answer: [json.md](json.md) tells every field by command, this
page by type. `/openapi.json` says the same to programs: each operation is called as in the audit trail. What goes wrong
comes as `application/problem+json`, whose `detail` is the sentence that a command shows, and whose `type` leads to a
page that says what this kind of problem is. Where one parameter or field is wrong, `detail` begins with its name, and
`place` in `problems` is that name.

HEAD is answered as GET is, without the body. Each answer to a GET has an `ETag`: who names it in `If-None-Match` gets
304, and no body, until the answer is another one.

Who you are, the kernel says (`whoami` shows it), or a [token](commands.md#gridtoken), which the signature of an SSH key
may have given, or a [proxy](../how-to/reach-a-grid-from-elsewhere.md) that the operator trusts, or the session of a
[browser](../how-to/look-in-a-browser.md). Nothing else that is sent changes it.

202 means that a cluster is being asked: ask the same again for the answer. Or send `Prefer: wait=20` (RFC 7240): the
request is held until the answer is there, for so many seconds, 50 at most and for 10 requests of a user; the answer
says `Preference-Applied: wait=20`. A change in a session needs the `Origin` of a page of the portal's, and the proof
that it holds (`X-CiGri-Proof`).

What makes a campaign or a cluster is answered 201, and `Location` says where that is, as seen from the path.

Every list comes in pages of `limit` rows, 10,000 at most:

    $ curl -si --unix-socket /run/cigri/portal.sock 'http://localhost/api/v1/quotas?limit=2' | grep -i ^link
    link: <?limit=2&after=WyJxdW90YXMiLCIqLCosYWxsLC8iLCIiXQ>; rel="next"

`Link` names the next page; where there is none, the list has ended. A page ends earlier where the parameters in it have
4 MB. `after`, or `before`, is where the last page ended: an id, a task's number, or a cursor, which belongs to its list
and is sent back as it came. Rows that come and go between two pages leave each other one told once. `found-tasks`
says in `next` how it goes on. What is told as a whole has a bound, which its schema in `/openapi.json` says.

`/api/v1/campaigns/ID/outputs.tar` is no JSON: the outputs of a campaign of yours that lie in the grid's store
(`collect.to`, where the grid has an account of its own) as one tar file, named `campaign-ID/NUMBER/PATH`. It comes
while it is made; one that is cut has not ended well. Two of them come to a user at a time. What has more than
`outputs.archive` MB is refused with 409, and `gridget` downloads it.

    $ curl -s --unix-socket /run/cigri/portal.sock http://localhost/api/v1/campaigns/3/outputs.tar | tar -x

## How much at a time

One user never stalls others. Whoever asks for more than this gets 503 (`TooManyRequests`) with `Retry-After`, and the
sentence says what to wait for.

- Each user has 3 requests at work at a time, 16 are of all users together, and 100 of each user wait; users are served
  in turn.
- To clusters, each user has 10 questions under way, which each cluster is asked for its users in turn. An answer is
  kept for a minute, and less where the same user asks on and does not fetch it.
- Submissions and inputs leave `portal.leave_free` MB of the grid's disks free. What would take them gets 507
  (`StorageFull`), as does what meets a full disk, or is beyond the user's `inputs.of_user`.
- Of answers that are on their way to a user and not read, 32 MB are kept; a connection by which nothing is read for 20
  seconds is closed.
- A connection by which nothing comes before the first request, or after one, is closed after 5 seconds. An account, and
  all who come by TCP together, have half of the 512 connections; beyond it the one that says nothing for longest is
  closed in favour of a new one.

"""

WHO_MAY = """\
# Who may do what

<!-- {} -->

```sh
curl --unix-socket /run/cigri/portal.sock http://localhost/api/v1/whoami    # who you are, and what you may
```

Columns say who asks about what is somebody's:

- **owner**: of the campaign, job, token or SSH key.
- **mate**: a member of the group of the owner's account, by the setting `portal.group_may`: `nothing` (the default),
  `see`, `change`. Tasks that they add run under the owner's account. Nobody is a mate of root.
- **other**: anybody else who is known.
- **operator**: root, whom `portal.operators` names, and the account that runs the grid.
- **anonymous**: without a token, a session, a proxy's word or an account of this host.

Cells say what they get: **yes**; **in part**, which is name, numbers and state of others' campaigns without parameters,
environment, description and what tasks wrote; **404**, it is not there for them; **403** and **401**, it is refused.
**404; `change`: yes** of a mate: yes where `portal.group_may` is `change`, else 404.

A token or a session is for `read`, `submit` or `operate`; each allows what stands before it, too. **scope** is the one
that is needed. With less than `operate` an operator is an **other**; root looks at everything with any.

Every change is in the audit trail together with what it changed: `gridevents --audit`.

Pages in a browser and [CiGri 3's paths](cigri3.md) ask the same, by the same rules. `/metrics` tells whoever is known
what `/figures` does. Strangers, too, are answered at {},
and where the table says so: there they may show by the signature of an [SSH key](commands.md#gridtoken) who they are.
Below `/features` [jobs](machine-job-features.md#over-http) read what they may use, by an address that only they know.

"""


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        f"<!-- {ORIGIN} -->",
        "",
        "```toml",
        "[almighty]",
        "period = 5.0",
        "```",
        "",
        "in `/etc/cigri/cigri.toml`, `~/.config/cigri/cigri.toml`, or the file that `$CIGRI_CONFIG` names.",
        "Later ones win, and over all `CIGRI_SET_ALMIGHTY__PERIOD=5`. `cigri config` shows what is in force.",
        "",
    ]
    for title, section in sections():
        plain = [(name, field) for name, field in section.model_fields.items() if not model_of(field)]
        rows = ((f"`{name}`", *_setting(field)) for name, field in plain)
        lines += [f"## {title}", "", *([EXAMPLE, ""] if section is ClusterConfig else [])]
        lines += _table(("setting", "default", "unit", "may be", "meaning"), rows)
    return "\n".join(lines)


def events_page() -> str:
    lines = [
        "# Event codes",
        "",
        f"<!-- {ORIGIN} -->",
        "",
        "```console",
        "$ gridevents 12 --all",
        "```",
        "",
        "What may be done about each, and what `--fix` means to it: [commands.md](commands.md#gridevents).",
        "",
    ]
    for title, codes in (("Of campaigns", CODES_OF_CAMPAIGNS), ("Of clusters and the grid: `--global`", OF_THE_GRID)):
        lines += [
            f"## {title}",
            "",
            *_table(("code", "meaning"), ((f"`{code}`", said) for code, said in codes.items())),
        ]
    return "\n".join(lines)


def exit_codes_page() -> str:
    lines = ["# Exit codes", "", f"<!-- {ORIGIN} -->", ""]
    parts: Mapping[str, Mapping[int, str]] = {
        "Of `grid*` and `cigri`": OF_COMMANDS,
        "What a task says by its own": OF_TASKS,
        "What the codes of failed tasks mean": EXPLAINED,
    }
    for title, codes in parts.items():
        lines += [f"## {title}", "", *_table(("code", "meaning"), ((str(code), said) for code, said in codes.items()))]
    lines += [
        "Others above 128 are deaths by a signal: 128 and its number. Any other is the program's own, and a failure.",
        "",
    ]
    return "\n".join(lines)


def tables_page() -> str:
    meanings = dict(table_meanings())
    lines = [
        "# Tables",
        "",
        f"<!-- {ORIGIN} -->",
        "",
        "```sh",
        'psql "$(cigri db url)" -c "SELECT code, subject, message FROM events WHERE closed_at IS NULL"',
        "```",
        "",
        "To look at; only CiGri writes. Which states there are, and which follow which: [states.md](states.md).",
        "",
    ]
    for table in sorted(everything().tables.values(), key=lambda table: table.name):
        head = ("column", "type", "null", "default", "refers to")
        lines += [f"## {table.name}", "", *meanings[table.name].splitlines(), ""]
        lines += _table(head, (_column(column) for column in table.columns))
    return "\n".join(lines)


def table_meanings() -> Iterator[tuple[str, str]]:
    """Of each table the docstring of the class of its columns."""
    for path in sorted((ROOT / "cigri" / "tables").glob("*.py")):
        tree = ast.parse(path.read_text())
        told = {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in tree.body:
            match node:
                case ast.Assign(
                    value=ast.Call(
                        func=ast.Name(id="table"), args=[ast.Constant(value=str(name)), ast.Name(id=columns), *_]
                    )
                ):
                    yield name, told[columns] or ""


def operator_page() -> str:
    lines = [
        "# `cigri`, the operator's command",
        "",
        f"<!-- {ORIGIN} -->",
        "",
        "```sh",
        "cigri up",
        "```",
        "",
        "Every sub-command with its options, as its `--help` tells them. By task: [how-to](../README.md#how-to).",
        "",
    ]
    for words in operator_commands():
        parser = parser_of(words)
        examples = (parser.epilog or "").removeprefix("examples:\n").splitlines()
        told = [(_called(action), action.help or "") for action in parser._actions if action.dest not in OF_ALL]
        lines += [f"## {parser.prog}", "", "```text", *(parser.description or "").strip().splitlines(), "```", ""]
        lines += _table(("word", "meaning"), iter(told)) if told else []
        lines += ["```sh", *(line.strip() for line in examples), "```", ""]
    return "\n".join(lines)


def _called(action: argparse.Action) -> str:
    """An option or a word with what it takes, as one types it."""
    takes = "" if action.nargs == 0 else action.metavar or "|".join(map(str, action.choices or ())) or action.dest
    names = ", ".join(action.option_strings)
    return f"`{' '.join(filter(None, (names, str(takes))))}`"


def sections() -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model of settings, those of the grid first."""
    yield "At the top", Settings
    yield from ((f"`[{name}]`", found) for name, field in Settings.model_fields.items() if (found := model_of(field)))
    yield "Of a cluster", ClusterConfig
    for name, field in ClusterConfig.model_fields.items():
        if found := model_of(field):
            yield f"`{name}` of a cluster", found


def model_of(field: FieldInfo) -> type[BaseModel] | None:
    return next((kind for kind in _kinds(field) if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def is_number(field: FieldInfo) -> bool:
    return bool({*_kinds(field)} & {int, float})


def unit_of(field: FieldInfo) -> str:
    """What a number counts, as its description says; empty for all else."""
    found = UNIT.search(field.description or "") if is_number(field) else None
    return found[1] if found else ""


def who_may_page() -> str:
    asking = commands_asking()
    head = ("what", "command", "below `/api/v1`", "scope", "owner", "mate", "other", "operator", "anonymous")
    rows = (
        (
            _first_line(endpoint.function),
            f"`{asking[endpoint.name]}`" if endpoint.name in asking else "",
            f"`{endpoint.method} {endpoint.path}`",
            needed_scope(endpoint),
            permission(endpoint, Who.OWNER),
            _for_mates(endpoint),
            *(permission(endpoint, who) for who in (Who.OTHER, Who.OPERATOR, Who.ANONYMOUS)),
        )
        for endpoint in sorted(list_endpoints(), key=lambda endpoint: (endpoint.path, endpoint.method))
    )
    told = ", ".join(f"`{path}`" for path in FOR_STRANGERS)
    lines = [*_table(head, rows), "## On the grid's host only", ""]
    lines += ["By the account that runs the grid, for whoever else cannot read where the database is.", ""]
    lines += _table(("command", "why"), ((f"`cigri {words}`", why) for words, why in HERE_ONLY.items()))
    return WHO_MAY.format(ORIGIN, told) + "\n".join(lines)


def _for_mates(endpoint: Endpoint[..., Any]) -> str:
    """What they get without the site's word, and from which word on it is another."""
    now, seeing, changing = (permission(endpoint, who) for who in MATES)
    if now == changing:
        return now
    return f"{now}; `{'see' if seeing == changing else 'change'}`: {changing}"


def portal_page() -> str:
    lines = ["## What is asked with", ""]
    lines += _table(("parameter", "meaning"), ((f"`{name}`", meaning) for name, meaning in MEANINGS.items()))
    lines += [
        "## What is answered",
        "",
        "So are the types called in OpenAPI, too. *inline*: its fields stand beside the others.",
        "",
    ]
    for kind in sorted(answer_types(), key=lambda kind: kind.__name__):
        inline = inlined(kind)
        meanings = (
            (f"`{field}`{' (inline)' if field in inline else ''}", meaning)
            for field, meaning in meanings_of(kind).items()
        )
        lines += [f"### {kind.__name__}", "", _first_line(kind), "", *_table(("field", "meaning"), meanings)]
    return PORTAL.format(ORIGIN) + "\n".join(lines)


def answer_types() -> set[Any]:
    """The named tuples of all answers, and those in them."""
    found = set[Any]()

    def look(kind: Any) -> None:
        if hasattr(kind, "_fields") and kind not in found:
            found.add(kind)
            for hint in get_type_hints(kind).values():
                look(hint)
        for inner in get_args(kind):
            look(inner)

    for endpoint in list_endpoints():
        look(endpoint.answer)
    return found


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").splitlines()[0]


PAGES = {
    "portal.md": portal_page,
    "who-may-do-what.md": who_may_page,
    "cigri.md": operator_page,
    "settings.md": settings_page,
    "events.md": events_page,
    "exit-codes.md": exit_codes_page,
    "tables.md": tables_page,
}


def _kinds(field: FieldInfo) -> tuple[Any, ...]:
    return field.annotation, *get_args(field.annotation)


def _setting(field: FieldInfo) -> tuple[str, ...]:
    return _default(field), unit_of(field), _range(field), field.description or ""


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if field.is_required() or value in (None, "", (), {}):
        return "required" if field.is_required() else ""
    if isinstance(value, Path):
        return f"`{DATA_DIRECTORY}`"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _range(field: FieldInfo) -> str:
    limits = [
        f"{sign}{getattr(rule, name)}"
        for name, sign in LIMITS.items()
        for rule in field.metadata
        if hasattr(rule, name)
    ]
    words = [f"`{word}`" for word in get_args(field.annotation) if isinstance(word, str)]
    return ", ".join(limits or words)


def _column(column: Column[Any]) -> tuple[str, ...]:
    kind = column.type.compile(postgresql.dialect()).lower()  # type: ignore[no-untyped-call]
    given = getattr(column.server_default, "arg", None)
    default = "the next number" if column.identity else "" if given is None else f"`{given}`"
    refers = ", ".join(f"[{name}](#{name})" for name in sorted(key.column.table.name for key in column.foreign_keys))
    key = " (key)" if column.primary_key else ""
    return f"`{column.name}`{key}", kind, "yes" if column.nullable else "", default, refers


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


if __name__ == "__main__":
    for name, page in PAGES.items():
        (PLACE / name).write_text(page())
