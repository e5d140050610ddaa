"""The document in which an operator describes sites, clusters and queues: TOML in, a Description out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cigri.errors import ConfigError
from cigri.formats.machine_text import read_toml
from cigri.requirements import BUILT_IN, Kinds, ValueKind, property_name, read_value
from cigri.resources.description import QueueDescription, ResourcesDescription
from cigri.resources.inheritance import DeclarationPlace, DeclaredValue, queue_name
from cigri.resources.queue_requirements import read_requires
from cigri.states import PropertyLevel

OF_PLACES = ("site", "cluster", "queue")
"""Properties that a queue has by where it is."""

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
DocumentName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
QueueName = Annotated[str, StringConstraints(pattern=f"^$|{NAME_PATTERN}")]
ProjectName = Annotated[str, StringConstraints(min_length=1)]
RemoteName = Annotated[str, StringConstraints(pattern=r"^[^\s\x00-\x1f]+$")]
GivenProperties = dict[str, Any]


class DocumentSection(BaseModel):
    """`properties` hold for all, those of a `project` for its jobs only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    properties: GivenProperties = Field(default_factory=dict)
    project: dict[ProjectName, GivenProperties] = Field(default_factory=dict)


class QueueSection(DocumentSection):
    remote_name: RemoteName | None = None
    requires: str = ""


class ClusterSection(DocumentSection):
    site: DocumentName | None = None
    queue: dict[QueueName, QueueSection] = Field(default_factory=dict)


class TomlResourceDocument(DocumentSection):
    kinds: dict[str, ValueKind] = Field(default_factory=dict)
    driver: dict[str, DocumentSection] = Field(default_factory=dict)
    site: dict[DocumentName, DocumentSection] = Field(default_factory=dict)
    cluster: dict[DocumentName, ClusterSection] = Field(default_factory=dict)


class _WrittenProperty(NamedTuple):
    """A property as it is written, and where."""

    where: DeclarationPlace
    name: str
    raw: object


def read_document(text: str) -> ResourcesDescription:
    """The description in a TOML text; raise ConfigError with every problem, a line each."""
    try:
        values = read_toml(text)
    except ValueError as error:
        raise ConfigError(f"this is no TOML: {error}") from None
    try:
        document = TomlResourceDocument.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(problem) for problem in error.errors())) from None
    problems: list[str] = []
    declared = _kinds(document.kinds, problems)
    kinds = {**BUILT_IN, **declared}
    properties = _properties(list(_sections(document)), kinds, problems)
    queues = dict(_queues(document, kinds, problems))
    if problems:
        raise ConfigError("\n".join(problems))
    sites = {name: cluster.site or "" for name, cluster in document.cluster.items()}
    return ResourcesDescription(
        {name: kinds[name] for name in kinds if name not in BUILT_IN}, sites, queues, properties
    )


def misplaced(description: ResourcesDescription, clusters: Mapping[str, str], drivers: Iterable[str]) -> list[str]:
    """What it says of things that are not there; `clusters` are the declared ones, with their drivers."""
    sites = {site or cluster for cluster, site in description.sites.items()} | set(clusters) - set(description.sites)
    problems = [
        f"cluster.{name}: no such cluster{_near(name, clusters)}; `cigri cluster add` declares it"
        for name in description.sites
        if name not in clusters
    ]
    for where in sorted({(where.level, where.place) for where in description.properties}):
        level, place = where
        if level is PropertyLevel.SITE and place not in sites:
            problems.append(f'site.{place}: no cluster is there{_near(place, sites)}; write site = "{place}" in one')
        if level is PropertyLevel.DRIVER and place not in drivers:
            problems.append(f"driver.{place}: no such driver; there are: {', '.join(sorted(drivers))}")
    return problems


def unheard_of(description: ResourcesDescription, found_queues: Mapping[str, Collection[str]]) -> list[str]:
    """Queues that their batch system has not told of, though it has told of others: perhaps they are misspelled."""
    return [
        f"queue {queue_name(name, cluster)}: {cluster} tells of no queue {queue.remote_name}"
        f"{_near(queue.remote_name, remote_names)}; it tells of {', '.join(sorted(remote_names))}"
        for (cluster, name), queue in description.queues.items()
        if name and (remote_names := found_queues.get(cluster)) and queue.remote_name not in remote_names
    ]


def _kinds(written: Mapping[str, ValueKind], problems: list[str]) -> dict[str, ValueKind]:
    kinds: dict[str, ValueKind] = {}
    for raw, kind in written.items():
        try:
            name = property_name(raw)
        except ValueError as error:
            problems.append(f"kinds: {error}")
            continue
        if BUILT_IN.get(name, kind) is not kind:
            problems.append(f"kinds.{raw}: {name} is a {BUILT_IN[name]} everywhere; leave this line out")
        elif name in kinds:
            problems.append(f"kinds.{raw}: {name} has its kind already; capitals make no difference")
        kinds[name] = kind
    return kinds


def _sections(document: TomlResourceDocument) -> Iterator[_WrittenProperty]:
    yield from _said(document, PropertyLevel.GRID, "")
    for name, driver in document.driver.items():
        yield from _said(driver, PropertyLevel.DRIVER, name)
    for name, site in document.site.items():
        yield from _said(site, PropertyLevel.SITE, name)
    for name, cluster in document.cluster.items():
        yield from _said(cluster, PropertyLevel.CLUSTER, name)
        for queue, section in cluster.queue.items():
            yield from _said(section, PropertyLevel.QUEUE, queue_name(queue, name))


def _said(section: DocumentSection, level: PropertyLevel, place: str) -> Iterator[_WrittenProperty]:
    for project, properties in {"": section.properties, **section.project}.items():
        for name, raw in properties.items():
            yield _WrittenProperty(DeclarationPlace(level, place, project), name, raw)


def _properties(
    said: Iterable[_WrittenProperty], kinds: dict[str, ValueKind], problems: list[str]
) -> dict[DeclarationPlace, dict[str, DeclaredValue]]:
    """Also adds to `kinds` those of properties that have none but what their first value is."""
    properties: dict[DeclarationPlace, dict[str, DeclaredValue]] = {}
    first: dict[str, DeclarationPlace] = {}
    for where, written, raw in said:
        try:
            name, declared, kind = _read(written, raw, kinds)
        except ValueError as error:
            word = written.removesuffix("+").lower()
            hint = f"; it is a {kinds[word]} in {first[word]}, and [kinds] may say otherwise" if word in first else ""
            problems.append(f"{where}: {written}: {error}{hint}")
            continue
        if properties.setdefault(where, {}).setdefault(name, declared) is not declared:
            problems.append(f"{where}: {written}: {name} is said twice there; capitals make no difference")
        if name not in kinds:
            kinds[name], first[name] = kind, where
    return properties


def _read(written: str, raw: object, kinds: Kinds) -> tuple[str, DeclaredValue, ValueKind]:
    extends = written.endswith("+")
    name = property_name(written.removesuffix("+"))
    if name in OF_PLACES:
        raise ValueError(f"each queue has its {name} by where it is declared")
    value, kind = read_value(raw, kinds.get(name))
    if any(isinstance(item, int | float) and item < 0 for item in (value if isinstance(value, list) else [value])):
        raise ValueError("an amount is 0 or more")
    if extends and not isinstance(value, list):
        raise ValueError('+ adds a list to a list: write "name+" = [...]')
    return name, DeclaredValue(value, extends), kind


def _queues(
    document: TomlResourceDocument, kinds: Kinds, problems: list[str]
) -> Iterator[tuple[tuple[str, str], QueueDescription]]:
    for cluster, section in document.cluster.items():
        for name, queue in section.queue.items():
            place = f"queue {queue_name(name, cluster)}"
            if not name and queue.remote_name:
                problems.append(f"{place}: the default queue has no remote_name; give the queue a name of its own")
            try:
                requires = read_requires(queue.requires, set(kinds) - set(BUILT_IN)) if queue.requires else None
            except ValueError as error:
                problems.append(f"{place}: requires: {error}")
                continue
            yield (cluster, name), QueueDescription(queue.remote_name or name, requires)


def _explain(problem: Any) -> str:
    steps = [str(step) for step in problem["loc"] if step != "[key]"]
    place = ".".join(steps)
    if problem["type"] != "extra_forbidden":
        return f"{place}: {problem['msg']}" if place else problem["msg"]
    fields = list(_model(steps[:-1]).model_fields)
    near = get_close_matches(steps[-1], fields, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(fields)}; properties go below `properties`"
    return f"{place}: unknown, {hint}"


def _model(steps: Iterable[str]) -> type[BaseModel]:
    """The section at the end of these steps; names of things are every second of them."""
    model: type[BaseModel] = TomlResourceDocument
    for step in steps:
        field = model.model_fields.get(step)
        inner = get_args(field.annotation) if field else ()
        if inner and isinstance(inner[-1], type) and issubclass(inner[-1], BaseModel):
            model = inner[-1]
    return model


def _near(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), n=1)
    return f", did you mean {near[0]}?" if near else ""
