"""Requirements and properties of any shape, for the tests of properties."""

from hypothesis import strategies as st

from cigri.requirements import Kinds, PropertyValue, Requirement, ValueKind, parse_requirement

KINDS: Kinds = {
    "memory": ValueKind.SIZE,
    "cores": ValueKind.NUMBER,
    "max_walltime": ValueKind.DURATION,
    "platform": ValueKind.STRING,
    "features": ValueKind.STRING,
    "os": ValueKind.VERSION,
    "el7": ValueKind.BOOLEAN,
}
QUOTED = st.text(st.sampled_from("ab'\"\\ 1.)"), max_size=5).map(
    lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
)
LITERALS = {
    "memory": st.sampled_from(["0", "16 GB", "1.5 TB", "512 B", "300"]),
    "cores": st.sampled_from(["0", "8", "-1", "2.5", "1e3"]),
    "max_walltime": st.sampled_from(["2 h", "90 min", "1:30:00", "60"]),
    "platform": QUOTED,
    "features": QUOTED,
    "os": st.sampled_from(["'1.10'", "1.9", "'1.10rc1'", "''"]),
    "el7": st.sampled_from(["true", "false"]),
    "unknown": st.sampled_from(["7", "7 GB", "'x'"]),
}
ORDERED = ("memory", "cores", "max_walltime", "os")


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(sorted(LITERALS)))
    operators = ["==", "!=", "in", "not in", *(("<", "<=", ">", ">=") if name in ORDERED else ())]
    operator = draw(st.sampled_from(operators))
    if not operator.endswith("in"):
        return f"{name} {operator} {draw(LITERALS[name])}"
    values = draw(st.lists(LITERALS[name], min_size=1, max_size=3))
    return f"{name} {operator} [{', '.join(values[:1] if name == 'unknown' else values)}]"


EXPRESSIONS = st.recursive(
    comparisons() | st.sampled_from(["el7", "gpu"]),
    lambda inner: (
        inner.map(lambda one: f"not ({one})")
        | st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda three: "({}) {} ({})".format(*three))
    ),
    max_leaves=6,
)
SITES = st.lists(st.sampled_from(["grenoble", "lyon", "dahu"]), max_size=2)


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    """As an object with every key it may have."""
    raw: dict[str, object] = {"where": draw(st.none() | EXPRESSIONS), "CPUTime": draw(st.none() | st.integers(0, 9999))}
    sites, banned = draw(SITES), draw(SITES)
    raw["Site"], raw["BannedSite"] = [site for site in sites if site not in banned], banned
    raw |= draw(st.dictionaries(st.sampled_from(["cores", "Memory"]), st.integers(0, 2**40), max_size=2))
    return parse_requirement(raw, KINDS)


SCALARS = st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["1.10", "x", "dahu"])
VALUES: st.SearchStrategy[PropertyValue] = SCALARS | st.lists(SCALARS, max_size=3)
PROPERTIES = st.dictionaries(st.sampled_from([*LITERALS, "site", "cluster", "gpu"]), VALUES)
