"""DIRAC's JDL: what its jobs become, the traps of its own readers, and that no text hangs ours."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, CommandTemplate, parse
from cigri.jdl.dirac import is_dirac
from cigri.jdl.dirac.grammar import JdlAttribute, JdlSection, JdlValue
from cigri.jdl.dirac.grammar import parse as parse_jdl
from cigri.requirements import BUILT_IN, parse_requirement

PLACE = re.compile(r"line \d+, column \d+: ")

RFC = """
[
Executable = "my_executable";
Requirements = [
SoftwareTag = { "AppVersion1","AppVersion2" };
CPUModel = "Intel Xeon";
Memory = 4000;
]
]
"""


def described(text: str) -> CampaignDescription:
    return parse(text, base=Path("/"), home=Path("/home/bob"))


def commands(text: str) -> list[list[str]]:
    """The words of each task of a job."""
    campaign = described(text)
    assert campaign.anywhere
    command = CommandTemplate(campaign.anywhere, campaign.names)
    made = (command.words(p, campaign_id=7, number=n) for n, p in enumerate(campaign.parameters()))
    return [[word.text for word in words] for words in made]


def complaints(text: str) -> str:
    with pytest.raises(DescriptionError) as raised:
        described(text)
    return str(raised.value)


def plain(value: JdlValue) -> object:
    """Without the places."""
    if isinstance(value, dict):
        return {attribute.name: plain(attribute.value) for attribute in value.values()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_the_example_of_the_rfc_is_read_whole() -> None:
    tags, model = ["AppVersion1", "AppVersion2"], "Intel Xeon"
    wishes = {"SoftwareTag": tags, "CPUModel": model, "Memory": 4000}
    assert plain(parse_jdl(RFC)) == {"Executable": "my_executable", "Requirements": wishes}


def test_the_example_of_the_rfc_is_a_campaign_for_all_clusters_that_satisfy_it() -> None:
    campaign = described(RFC)
    wishes = {"SoftwareTag": ["AppVersion1", "AppVersion2"], "CPUModel": "Intel Xeon", "Memory": 4000}
    assert (campaign.clusters, campaign.requirements) == ({}, wishes)
    assert campaign.anywhere
    assert campaign.anywhere.exec_file == "my_executable"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "{}"),
        ('Site = "ANY"; BannedSite = ""; Requirements = []', "{}"),
        ('Site = {"grenoble", "lyon"}', '{"Site": ["grenoble", "lyon"]}'),
        ('sites = "grenoble"; BannedSites = {"lyon"}', '{"Site": "grenoble", "BannedSite": "lyon"}'),
        ('Platform = "x86_64"; CPUTime = 60', '{"Platform": "x86_64"}'),
        ('Requirements = [Site = "a"; CPUTime = 7200; Memory = "4 GB"; Load = 0.5; El7 = TRUE]',
         '{"Site": "a", "CPUTime": "2 h", "Memory": 4096, "Load": 0.5, "where": "el7"}'),
        ('Platform = "x"; Requirements = "memory >= 16 GB and not el7"',
         '{"Platform": "x", "where": "not el7 and memory >= 16 GB"}'),
        ('Requirements = [Memory = 1; where = "el7 or el8"]', '{"Memory": 1, "where": "el8 or el7"}'),
    ],
)  # fmt: skip
def test_a_job_wants_what_it_says(text: str, wanted: str) -> None:
    campaign = described(f'Executable = "run";\n{text};' if text else 'Executable = "run";\n')
    found = parse_requirement(campaign.requirements or {}, BUILT_IN)
    assert found == parse_requirement(json.loads(wanted), BUILT_IN)
    assert (campaign.clusters, campaign.anywhere is None) == ({}, False)


def test_the_reserved_cpu_time_is_the_walltime() -> None:
    campaign = described('Executable = "run"; CPUTime = 60;\n')
    assert campaign.anywhere
    assert campaign.anywhere.walltime == 60


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('A = "[0-9];{}=,#//";', {"A": "[0-9];{}=,#//"}),
        (r'A = "say \"x\" \\ \n";', {"A": 'say "x" \\ \n'}),
        ('A = {"a b", 1, -2.5, .5, 1e3, TRUE, {}};', {"A": ["a b", 1, -2.5, 0.5, 1000, True, []]}),
        ('# one\nA = 1; // two\n/* three;\n */ B.c = "x"', {"A": 1, "B.c": "x"}),
        ("[A = [B = 1; C = [D = 2]]; E = 3;]", {"A": {"B": 1, "C": {"D": 2}}, "E": 3}),
        ("", {}),
    ],
)
def test_values_are_read_as_they_stand(text: str, value: object) -> None:
    assert plain(parse_jdl(text)) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A = 1;\n\nB = 2 C = 3;", "line 3, column 7: expected ';' behind the value: 'C' (end B with ';')"),
        ("A = 1;\na = 2;", "line 2, column 1: a is given twice, first in line 1, column 1"),
        ('A = "x;\nB = 1;', "line 1, column 5: a string is not closed on its line"),
        ("A = /* x", "line 1, column 5: a comment is not closed"),
        ("A = 'x';", "line 1, column 5: a string is in double quotes here"),
        ("A = 0x10;", "line 1, column 5: cannot read '0x10' (put text in double quotes)"),
        ("A = Intel Xeon;", "line 1, column 5: expected a value: 'Intel' (put text in double quotes)"),
        ("A = {1 2};", "line 1, column 8: expected ',' or '}' in a list: '2'"),
        ("A = {1,};", "line 1, column 8: expected a value: '}'"),
        ("A = 1;;", "line 1, column 7: expected the name of an attribute: ';'"),
        ("[A = 1;", "line 1, column 8: expected the name of an attribute: the end"),
        ("[A = 1;] B", "line 1, column 10: behind the end of the description: 'B'"),
        ("A = " + "[A = " * 30, "line 1, column 110: more than 20 lists and sections stand in one another"),
        ("A = 1" + "0" * 50 + ";", "line 1, column 5: is a number too long to be meant"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DescriptionError) as raised:
        parse_jdl(text)
    assert message in str(raised.value)


def test_a_job_becomes_a_campaign() -> None:
    campaign = described("""
        [
        JobName = "tiles"; Executable = "$HOME/bin/tile 1"; Arguments = "-q 'a b' [0-9]";
        Site = {"dahu", "luke"}; CPUTime = 36000; NumberOfProcessors = 4;
        ExecutionEnvironment = {"MODE=fast", "LEVEL=3"};
        StdOutput = "std.out"; StdError = "std.err"; OutputSandbox = {"std.out", "std.err"}; InputSandbox = {};
        ]""")
    assert (campaign.name, campaign.requirements, campaign.count) == ("tiles", {"Site": ["dahu", "luke"]}, 1)
    luke = campaign.on_any(["luke"]).clusters["luke"]
    assert (luke.walltime, luke.resources.cpu, luke.environment) == (36000, 4, {"MODE": "fast", "LEVEL": "3"})
    words = CommandTemplate(luke).words(next(campaign.parameters()), campaign_id=1, number=0)
    assert [(word.text, word.at_home) for word in words[:2]] == [("/bin/tile 1", True), ("-q", False)]
    assert [word.text for word in words[2:]] == ["a b", "[0-9]"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('JobName = "scan_%n"; Parameters = {1, 2};', "scan"),
        ('JobName = "a %(A)s-%j.b"; Parameters.A = {1, 2};', "a.b"),
        ('JobName = "%s"; Parameters = {1, 2};', "run"),
        ('JobName = "100%no"; Parameters = {1, 2};', "100o"),
        ('JobName = "100%n"; ', "100%n"),
        ('JobName = "sim_%j"; ', "sim"),
    ],
)
def test_a_name_is_that_of_all_tasks(text: str, name: str) -> None:
    assert described(f'Executable = "bin/run";\n{text}').name == name


def test_a_mark_of_a_name_stands_for_a_sequence() -> None:
    told = complaints('Executable = "run";\nJobName = "%(B)s"; Parameters.A = {1};')
    assert "JobName: %(B)s stands for no sequence (there is no Parameters.B)" in told


def test_a_byte_order_mark_is_no_part_of_a_job() -> None:
    assert described('\ufeffExecutable = "run";\n').name == "run"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('Arguments = "%s"; Parameters = {"Intel Xeon", 2, "x;{y}"};', [["Intel Xeon"], ["2"], ["x;{y}"]]),
        ('Arguments = "%s"; Parameters = 3; ParameterStep = 1;', [["1"], ["2"], ["3"]]),
        ('Arguments = "%s"; Parameters = 3; ParameterStart = 5; ParameterFactor = 2;', [["5"], ["10"], ["20"]]),
        ('Arguments = "%s"; Parameters = 3; ParameterStart = .1; ParameterStep = .1;', [["0.1"], ["0.2"], ["0.3"]]),
        ('Arguments = "%s"; Parameters = 2; ParameterStart = 5; ParameterStep = 0;', [["5"], ["5"]]),
        ('Arguments = "a%sb_%n {x}"; Parameters = {"-", "+"};', [["a-b_0", "{x}"], ["a+b_1", "{x}"]]),
        ('Arguments = "%(A)s-%(B)s"; Parameters.A = {1, 2}; Parameters.B = {"x", "y"};', [["1-x"], ["2-y"]]),
        ('Arguments = "%(A)s"; Parameters.A = 2; ParameterStart.A = 7; ParameterStep.A = -1;', [["7"], ["6"]]),
        ('Arguments = "run.%j"; Parameters = {1, 2};', [["run.7.0"], ["run.7.1"]]),
        ('Arguments = "same"; Parameters = {1, 2};', [["same"], ["same"]]),
        ("Arguments = \"%s %n {x} '%(A)s'\";", [["%s", "%n", "{x}", "%(A)s"]]),
    ],
)
def test_parameters_fill_the_arguments(text: str, arguments: list[list[str]]) -> None:
    assert commands(f'Executable = "run";\n{text}') == [["run", *words] for words in arguments]


def test_numbers_of_tasks_are_as_long_as_the_last_one() -> None:
    numbers = [
        words[1] for words in commands('Executable = "run"; Arguments = "%n"; Parameters = 11; ParameterStep = 1;')
    ]
    assert (numbers[0], numbers[10]) == ("00", "10")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Parameters = 3; ParameterStart = 5;", "Parameters: all values would be equal"),
        ("Parameters = 0; ParameterStep = 1;", "Parameters: expected a whole number from 1 to"),
        ("Parameters = {};", "Parameters: is empty"),
        ('Parameters = {{"a", "b"}};', "Parameters: a value is text or a number, not ['a', 'b']"),
        ('Parameters = "x";', "Parameters: expected a list of values, or how many there are"),
        ("Parameters = {1}; ParameterStep = 1;", "Parameters: is a list, so ParameterStep have no meaning"),
        ("ParameterStart.A = 1;", "ParameterStart.A: has no meaning without Parameters.A"),
        (
            "Parameters.A = {1}; Parameters.B = {1, 2};",
            "all sequences must be equally long: Parameters.A 1, Parameters.B 2",
        ),
        ("Parameters.n = {1};", "Parameters.n: %n has a meaning of its own"),
        ("Parameters.index = {1};", "Parameters.index: %index has a meaning of its own"),
        ("Parameters = 99; ParameterFactor = 10;", "Parameters: its values grow beyond 1e+15"),
        ('Parameters.A = {1}; Arguments = "%s %(B)s";', "%(B)s stands for no sequence (there is no Parameters.B)"),
        ('Arguments = "{index}";', "Arguments: {index} has a meaning here (write %n or %j)"),
        ('Arguments = "a; b";', "Arguments: no shell reads this line, so ; would not do its work"),
        ('CPUTime = "long";', "CPUTime: expected a duration, not 'long'"),
        ("JobName = {1};", "JobName: expected text, not 1"),
        ("Sitez = 1;", "Sitez: has no meaning here (did you mean 'site'?)"),
        ('Sites = "luke";', "Sites: says the same as Site (leave one out)"),
        ("Platform = 7.5;", "Platform: expected text, not 7.5 (put text in quotes)"),
        ('Requirements = [Memory = "lots"];', "Memory: expected a size, not 'lots' (write '16 GB', or a number of MB)"),
        ("Requirements = [A = [B = 1]];", "A: expected a value, or a list of them, not a section"),
        ("Requirements = [A = {[B = 1]}];", "A: expected a value, or a list of them, not a section"),
        ("Requirements = [A.B = 1];", "A.B: 'A.B' is no name of a property"),
        ('Requirements = [Site = "luke"];', "Site: is given twice, first in line 1, column 21"),
        ("Requirements = 5;", "Requirements: expected a section, or an expression in quotes (write [Memory = 4000;])"),
        ('Requirements = "a && b";', "where: column 3 of its text: '&&' is not known here (write 'and')"),
        ('InputSandbox = {"a"};', "InputSandbox: staging of files is not supported yet"),
        (
            'StdOutput = "out"; OutputSandbox = {"out", "x.root"};',
            "OutputSandbox: only StdOutput and StdError are kept",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(text: str, message: str) -> None:
    told = complaints(f'Executable = "run"; Site = "dahu";\n{text}')
    assert message in told
    assert told.startswith("line 2, column ")


def test_a_site_that_is_banned_too_is_told_where_it_is_wanted() -> None:
    told = complaints('Executable = "run";\nSites = "dahu";\nBannedSite = {"dahu", "luke"};\n')
    assert told == "line 2, column 1: Sites: every site that is wanted is banned too"


def test_everything_wrong_is_told_at_once() -> None:
    told = complaints("Platform = 7.5; Colour = 1; Parameters = {};\n")
    for part in (
        "Colour: has no meaning here",
        "Parameters: is empty",
        "Platform: expected text",
        "Executable is missing",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        (RFC, True),
        ("# a job\n[ // of mine\n Executable = 1", True),
        ('Executable = "x";\n', True),
        ('Executable = "x"; # why\n', True),
        ('{"name": "x"}', False),
        ("[clusters.dahu]\nx = 1\n", False),
        ('name = "a;"\n', False),
        ("name: x;\n", False),
        ("// JSON\n[1]", False),
    ],
)
def test_it_is_known_by_its_begin(text: str, is_it: bool) -> None:
    assert is_dirac(text) is is_it


SOUP = st.lists(
    st.sampled_from(
        ['"', "\\", "[", "]", "{", "}", "=", ";", ",", "#", "//", "/*", "*/", "\n", " ", "A", "1", ".", "e9", "%s"]
    ),
    max_size=60,
).map("".join)


@pytest.mark.timeout(60)
@settings(max_examples=400)
@given(st.one_of(SOUP, st.text(max_size=80)))
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    try:
        found = parse_jdl(text)
    except DescriptionError as error:
        refused = error.problems
    else:
        assert plain(parse_jdl(written(found))) == plain(found)
        return
    assert refused
    assert all(PLACE.match(str(problem)) for problem in refused)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("begin", "end"),
    [*((begin, "") for begin in ("[", "{", '"\\', "/*", "A=", "1", ".1")), ("\n", "="), ("# ", "\n="), ("A.b", "!")],
)
def test_long_texts_take_no_time(begin: str, end: str) -> None:
    assert PLACE.match(complaints(f'Executable = "x";\n{begin * 200_000}{end}'))


def written(section: JdlSection) -> str:
    """A text that has this meaning."""
    return "".join(f"{attribute.name} = {_text_of(attribute)};\n" for attribute in section.values())


def _text_of(attribute: JdlAttribute) -> str:
    return _value_of(attribute.value)


def _value_of(value: JdlValue) -> str:
    match value:
        case dict():
            return f"[{written(value)}]"
        case list():
            return f"{{{', '.join(map(_value_of, value))}}}"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{escaped}"'
        case _:
            return str(value)
