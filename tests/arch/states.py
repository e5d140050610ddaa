"""Who writes a state, found in the source; and docs/reference/states.md: `python -P -m tests.arch.states` draws it."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cigri.states import StateMachine
from cigri.tables.transitions import LIVES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "states.md"
DIAGRAM = re.compile(r"(<!-- life of (\S+) -->\n).*?(<!-- /life -->)", re.DOTALL)

TABLES = {
    "Campaign": "campaigns",
    "CampaignCluster": "campaign_clusters",
    "Task": "tasks",
    "Attempt": "attempts",
    "Job": "jobs",
    "Batch": "batches",
    "Message": "messages",
}
STATES: Mapping[str, frozenset[str]] = {
    table: frozenset(name.split(".")[1] for name in LIVES if name.split(".")[0] == table) for table in TABLES.values()
}
HELPERS = {"transition_to", "transition_each"}
WRITERS = {"update", "insert", *HELPERS}
COPYING = {"put_picture"}  # whole rows, into the empty database of a laboratory
WRITING = {"values", "from_select", "on_conflict_do_update"}
RAW = re.compile(
    rf"\b(?:UPDATE|INSERT\s+INTO|COPY|MERGE\s+INTO)\s+({'|'.join(STATES)})\b(.*)", re.DOTALL | re.IGNORECASE
)
ANY = "*"
"""A key that cannot be read from the source."""


class Statement(NamedTuple):
    """A call that begins a statement, such as `update(Task)`, and the function that it stands in."""

    begin: ast.Call
    verb: str
    table: str
    where: ast.FunctionDef


class Source:
    """One file; `written` are its statements that write a state otherwise than by cigri/tables/transitions.py."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def written(self) -> Iterator[str]:
        for function in [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]:
            for statement in self._statements(function):
                yield from self._problems(statement)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and (raw := RAW.search(node.value)):
                for column in STATES[raw[1].lower()]:
                    if re.search(rf"\b{column}\b", raw[2]) and not self._copies_begun(node, raw, column):
                        yield f"line {node.lineno}: SQL that writes {raw[1]}.{column}"

    def _copies_begun(self, node: ast.AST, raw: re.Match[str], column: str) -> bool:
        """COPY makes new rows: `begun` is asked in the same function, as for an insert."""
        where: ast.AST | None = node
        while where is not None and not isinstance(where, ast.FunctionDef):
            where = self.parents.get(where)
        return raw[0].upper().startswith("COPY") and where is not None and self._asks_begun(where, raw[1], column)

    def _statements(self, function: ast.FunctionDef) -> Iterator[Statement]:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRITERS:
                yield Statement(node, node.func.id, self._table(node.args[0], function), function)

    def _table(self, node: ast.AST, where: ast.FunctionDef) -> str:
        """Of `Task`, `Task.c.state`, or a variable that is set to such; ANY when it cannot be read."""
        match node:
            case ast.Attribute(value=value):
                return self._table(value, where)
            case ast.Name(id=name) if name[0].isupper():
                return TABLES.get(name, name)
            case ast.Name(id=name):
                return next((self._table(value, where) for value in self._assigned(name, where)), ANY)
        return ANY

    def _problems(self, statement: Statement) -> Iterator[str]:
        line, is_new = f"line {statement.begin.lineno}", statement.verb == "insert"
        if statement.table == ANY and statement.verb not in HELPERS and statement.where.name not in COPYING:
            yield f"{line}: nobody can tell which table this writes"
        states = STATES.get(statement.table, frozenset())
        keys = set(self._keys(statement)) if states else set()
        if ANY in keys:
            yield f"{line}: nobody can tell which columns of {statement.table} this writes"
        for column in sorted(keys & states):
            if is_new and not self._begins(statement, column):
                yield f"{line}: {statement.table}.{column} of a new row is not `initial_state`"
            elif not is_new:
                yield f"{line}: {statement.table}.{column} is not written by `transition_to`"

    def _keys(self, statement: Statement) -> Iterator[str]:
        """The columns that a statement names, in whatever is called on it, or on the variable that holds it."""
        for call in self._calls(statement.begin, statement.where):
            assert isinstance(call.func, ast.Attribute)
            given = [(word.arg, word.value) for word in call.keywords]
            if call.func.attr == "values":
                yield from (name for name, value in given if name and not _is_moved(value))
                for value in [*call.args[:1], *(value for name, value in given if not name)]:
                    yield from self._written(value, statement.where)
            elif call.func.attr == "from_select":
                yield from self._written(call.args[0], statement.where)
            else:
                for value in [value for name, value in given if name == "set_"]:
                    yield from self._written(value, statement.where)
        execute = self.parents[statement.begin]
        if isinstance(execute, ast.Call) and execute.args[0] is statement.begin:  # execute(insert(Job), [{...}])
            for value in execute.args[1:]:
                yield from self._written(value, statement.where)

    def _calls(self, begin: ast.AST, where: ast.FunctionDef) -> Iterator[ast.Call]:
        """Those of WRITING in the chain of methods that begins here, or goes on from a variable."""
        node: ast.AST = begin
        while isinstance(attribute := self.parents[node], ast.Attribute):
            call = self.parents[attribute]
            if not isinstance(call, ast.Call):
                return
            if attribute.attr in WRITING:
                yield call
            node = call
        if isinstance(kept := self.parents[node], ast.Assign) and isinstance(kept.targets[0], ast.Name):
            for use in ast.walk(where):
                if isinstance(use, ast.Name) and isinstance(use.ctx, ast.Load) and use.id == kept.targets[0].id:
                    yield from self._calls(use, where)

    def _written(self, node: ast.AST, where: ast.FunctionDef) -> Iterator[str]:
        """The names of columns in what `values` and its like are given."""
        match node:
            case ast.Constant(value=str(name)):
                yield name
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        yield from self._written(value, where)
                    elif not _is_moved(value):
                        yield key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ANY
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    yield from self._written(part, where)
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                yield from self._written(left, where)
                yield from self._written(right, where)
            case ast.DictComp(generators=[ast.comprehension(iter=names)], key=ast.Name()):
                yield from self._written(names, where)
            case ast.Starred(value=value) | ast.Subscript(value=value) | ast.ListComp(elt=value):
                yield from self._written(value, where)
            case ast.Call(func=ast.Name(id="dict"), keywords=words):
                for word in words:
                    yield from [word.arg] if word.arg else self._written(word.value, where)
            case (
                ast.Call(func=ast.Attribute(attr="fromkeys"), args=[names, *_])
                | ast.Call(func=ast.Name(id="list"), args=[names])
            ):
                yield from self._written(names, where)
            case ast.Call(func=ast.Name(id=name)) if function := FLOW_FUNCTIONS.get(name):
                for told in [each for each in ast.walk(function) if isinstance(each, ast.Return) and each.value]:
                    yield from self._written(told.value or told, function)
            case ast.Name() if known := [*self._assigned(node.id, where)]:
                for assigned in known:
                    yield from self._written(assigned, where)
            case _:
                yield ANY

    def _assigned(self, name: str, where: ast.FunctionDef) -> Iterator[ast.AST]:
        """What a variable is set to, or gets more, in the function or else in the file."""
        found = [*_assigned(name, where)]
        yield from found or [each for node in self.tree.body for each in _assigned(name, node)]

    def _begins(self, statement: Statement, column: str) -> bool:
        """`initial_state` is asked in the same function about this column."""
        return self._asks_begun(statement.where, statement.table, column)

    def _asks_begun(self, where: ast.FunctionDef, table: str, column: str) -> bool:
        asked = [
            node.args[0]
            for node in ast.walk(where)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "initial_state"
        ]
        return any(
            isinstance(of, ast.Attribute) and of.attr == column and self._table(of, where) == table for of in asked
        )


def _is_moved(value: ast.AST) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "transitioned_value"


def _assigned(name: str, inside: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(inside):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=True)
                yield from (value for target, value in pairs if isinstance(target, ast.Name) and target.id == name)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.AST() as value) if target == name:
                yield value
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=target), slice=key)]) if target == name:
                yield key


def drawn(life: StateMachine[Any]) -> str:
    """A Mermaid diagram."""
    words = {state: "live" if state is None else str(state) for move in life.moves for state in move}
    lines = [f"    [*] --> {words.get(state, str(state))}: {why}" for state, why in life.begins.items()]
    lines += [f"    {words[source]} --> {words[target]}: {why}" for (source, target), why in life.moves.items()]
    finals = [word for state, word in words.items() if not life.targets(state)]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, *(f"    {word} --> [*]" for word in finals), "```", ""])


def page(text: str) -> str:
    """docs/reference/states.md with its diagrams as they have to be."""
    return DIAGRAM.sub(lambda place: f"{place[1]}{drawn(LIVES[place[2]])}{place[3]}", text)


FLOW_FUNCTIONS = {
    node.name: node
    for path in sorted((ROOT / "cigri" / "flow").rglob("*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
}

if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
