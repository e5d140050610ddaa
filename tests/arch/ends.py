"""Who gives what a file of cigri/flow holds, and who takes it: read from the code, function by function.

A program is an end of a file if it reaches a function there, directly or through other functions of the library. It
gives where that function changes something, and takes where it only reads; whoever claims by a `claim_` takes, also if
it settles afterwards. Commands are their users. The laboratory plays all the others, and is named where it is alone.
"""

import ast
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLOW = ROOT / "cigri" / "flow"
WRITES = {"insert", "update", "delete", "upsert"}
COPY = "copy"  # of a cursor
READING = ("list_", "find_", "count_", "is_", "has_")
"""What begins so may note that something is wrong, and gives nothing."""
PLAYS_ALL = "laboratory"
Definition = tuple[str, str]
"""Module and name."""


@dataclass
class File:
    """`uses`: what each top-level definition, or ("") the file itself, refers to in the library."""

    module: str
    functions: set[str] = field(default_factory=set)
    uses: dict[str, set[Definition]] = field(default_factory=lambda: defaultdict(set))
    writing: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Ends:
    givers: frozenset[str]
    takers: frozenset[str]


def flow_files(root: Path = ROOT) -> list[Path]:
    """Those that hold something, views among them."""
    return sorted(path for path in (root / "cigri" / "flow").rglob("*.py") if path.stem != "__init__")


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def program_of(path: Path, root: Path = ROOT) -> str | None:
    """The program that a file belongs to, in words; None: it is of the library."""
    parts = path.relative_to(root).with_suffix("").parts
    if parts[0] == "modules":
        return parts[1].replace("_", " ")
    return "users" if parts[:2] in (("cigri", "cli"), ("cigri", "endpoints")) else None


def read(path: Path, root: Path = ROOT) -> File:
    """What a file defines and refers to."""
    tree = ast.parse(path.read_text())
    file = File(name_of(path, root))
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cigri"
        for alias in node.names
    }
    own = {_name(node) for node in tree.body} - {""}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        name = _name(node)
        if isinstance(node, ast.FunctionDef):
            file.functions.add(name)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                if isinstance(part.value, ast.Name) and part.value.id in imported:
                    file.uses[name].add((".".join(imported[part.value.id]), part.attr))
                if part.attr == COPY:
                    file.writing.add(name)
            elif isinstance(part, ast.Name):
                if part.id in imported:
                    file.uses[name].add(imported[part.id])
                elif part.id in own:
                    file.uses[name].add((file.module, part.id))
                if part.id in WRITES:
                    file.writing.add(name)
    return file


def _name(node: ast.stmt) -> str:
    """Of what a statement defines at the top level of a file; "" of all else."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")


@cache
def all_ends(root: Path = ROOT) -> dict[str, Ends]:
    """Of each file of cigri/flow, by its module."""
    library, programs = {}, []
    for path in [*(root / "cigri").rglob("*.py"), *(root / "modules").rglob("*.py")]:
        program, file = program_of(path, root), read(path, root)
        if program is None:
            library[file.module] = file
        else:
            programs.append((program, file))
    entered: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for program, file in programs:
        for module, name in _entered(file, library):
            entered[module][program].add(name)
    ends = {}
    for module in (name_of(path, root) for path in flow_files(root)):
        names = {name for by in entered[module].values() for name in by}
        writing = {name for name in names if not name.startswith(READING) and _writes((module, name), library)}
        by = entered[module].items()
        claiming = {program for program, used in by if any(name.startswith(("claim_", "take_")) for name in used)}
        giving = {program for program, used in by if used & writing}
        reading = {program for program, used in by if used - writing}
        ends[module] = Ends(_without_player(giving - claiming), _without_player(reading | claiming))
    return ends


def _without_player(programs: set[str]) -> frozenset[str]:
    return frozenset(programs - {PLAYS_ALL} or programs)


def _writes(definition: Definition, library: dict[str, File]) -> bool:
    """By itself, or by what it calls."""
    return any(name in library[module].writing for module, name in _led_to({definition}, library))


def _entered(file: File, library: dict[str, File]) -> set[Definition]:
    """Functions that a program reaches from outside of their own files."""
    direct = {use for uses in file.uses.values() for use in uses}
    entered = {use for use in direct if use[0] in library}
    for module, name in _led_to(direct, library):
        entered |= {use for use in library[module].uses[name] if use[0] in library and use[0] != module}
    return {(module, name) for module, name in entered if name in library[module].functions}


def _led_to(uses: set[Definition], library: dict[str, File]) -> Iterator[Definition]:
    """All definitions of the library that these lead to, themselves among them."""
    seen, left = set(), list(uses)
    while left:
        module, name = left.pop()
        if name and (module, name) not in seen and module in library:
            seen.add((module, name))
            yield module, name
            left += library[module].uses[name]


def said(path: Path) -> str:
    """The line of a file's docstring that names its ends: the second, folded where it is long."""
    document = ast.get_docstring(ast.parse(path.read_text())) or ""
    lines = document.partition("\n\n")[0].splitlines()[1:]
    return " ".join(line.strip() for line in lines)


def sentence(path: Path, ends: Ends) -> str:
    """What that line has to say; what is given and taken nowhere here is read in views."""
    givers, takers = (", ".join(sorted(programs)) for programs in (ends.givers, ends.takers))
    if path.parent.name == "views":
        return f"Read by: {takers}."
    told = [f"given by: {givers}"] * bool(givers) + [f"taken by: {takers}"] * bool(takers)
    return f"{'; '.join(told).capitalize()}."


def main() -> None:
    """Write the line into each file: python -m tests.arch.ends."""
    for path in flow_files():
        text = path.read_text()
        line = textwrap.fill(sentence(path, all_ends()[name_of(path)]), 120)
        document = text.partition('"""')[2].partition('"""')[0]
        first, _, rest = document.partition("\n")
        more = rest.partition("\n\n")[2] if said(path) else rest.strip("\n")
        new = f"{first.rstrip()}\n{line}\n" + (f"\n{more.strip()}\n" if more.strip() else "")
        path.write_text(text.replace(f'"""{document}"""', f'"""{new}"""', 1))


if __name__ == "__main__":
    main()
