"""Reasons with figures, several classes of nodes, queues that want something of jobs, and the nearest miss."""

import pytest
from hypothesis import given

from cigri.requirements import (
    NO_REQUIREMENT,
    OF_JOBS,
    JobShape,
    PropertyValue,
    Requirement,
    ValueKind,
    judge,
    judge_all,
    judge_job,
    judge_queue,
    nearest_miss,
    parse_requirement,
    sentence,
)
from cigri.states import QueueRejectCode
from tests.requirements.made import KINDS, PROPERTIES, requirements

GB = 1024**3
THIN: dict[str, PropertyValue] = {
    "site": "grenoble",
    "cluster": "dahu",
    "queue": "thin",
    "memory": 192 * GB,
    "cores": 32,
}
FAT: dict[str, PropertyValue] = {
    **THIN,
    "queue": "fat",
    "memory": 768 * GB,
    "cores": 64,
    "max_walltime": 7200,
    "el7": False,
}
GPU: dict[str, PropertyValue] = {**THIN, "cluster": "luke", "queue": "gpu", "gpu_mem": 16 * GB, "platform": "arm"}
GRID = {"thin@dahu": [THIN], "fat@dahu": [FAT], "gpu@luke": [GPU]}


@pytest.mark.parametrize(
    ("raw", "code", "reason"),
    [
        ({"Site": "lyon"}, QueueRejectCode.SITE, "lyon is wanted, here is grenoble"),
        ({"BannedSite": "dahu"}, QueueRejectCode.BANNED_SITE, "grenoble is banned by the requirements"),
        ({"CPUTime": "3 h"}, QueueRejectCode.TOO_SMALL, "CPUTime of 3 h is wanted, here is max_walltime 2 h"),
        ("gpu_mem >= 1 GB", QueueRejectCode.ABSENT, "gpu_mem >= 1 GB is wanted, and nothing is known here of gpu_mem"),
        ("memory >= 1 TB", QueueRejectCode.TOO_SMALL, "memory >= 1 TB is wanted, here is memory 768 GB"),
        ("cores < 64", QueueRejectCode.TOO_LARGE, "cores < 64 is wanted, here is cores 64"),
        ({"queue": ["a", "b"]}, QueueRejectCode.DIFFERENT, "queue in ['a', 'b'] is wanted, here is queue 'fat'"),
        ("el7", QueueRejectCode.DIFFERENT, "el7 is wanted, here is el7 false"),
        ("el8", QueueRejectCode.ABSENT, "el8 is wanted, and nothing is known here of el8"),
        ("el8 or cores < 3", QueueRejectCode.EXPRESSION, "cores < 3 or el8 is wanted, here is cores 64, no el8"),
        ("not (cores > 3)", QueueRejectCode.EXPRESSION, "not cores > 3 is wanted, here is cores 64"),
        (
            "cores >= 64 and memory >= 1 TB",
            QueueRejectCode.TOO_SMALL,
            "memory >= 1 TB is wanted, here is memory 768 GB",
        ),
    ],
)
def test_the_first_reason_is_told_with_figures(
    raw: str | dict[str, object], code: QueueRejectCode, reason: str
) -> None:
    reject = judge(parse_requirement(raw, KINDS), FAT, KINDS)
    assert reject is not None
    assert (reject.code, sentence(reject)) == (code, reason)


def test_one_class_of_nodes_has_to_have_it_all() -> None:
    wanted = parse_requirement("memory >= 300 GB and gpu_mem >= 1 GB", KINDS)
    assert judge_all(wanted, [THIN, {**FAT, "gpu_mem": GB}], KINDS) is None
    reject = judge_all(wanted, [THIN, GPU, FAT], KINDS)
    assert reject is not None
    assert (reject.code, reject.name) == (QueueRejectCode.TOO_SMALL, "memory")


def test_the_class_that_came_furthest_gives_the_reason() -> None:
    wanted = parse_requirement("cores >= 64 and memory >= 300 GB and el8", KINDS)
    reject = judge_all(wanted, [THIN, FAT], KINDS)
    assert reject is not None
    assert reject.name == "el8"


def test_a_queue_of_which_nothing_is_known_is_for_those_who_want_nothing() -> None:
    assert judge_all(NO_REQUIREMENT, [], KINDS) is None
    reject = judge_all(parse_requirement("cores >= 1", KINDS), [], KINDS)
    assert reject is not None
    assert reject.code is QueueRejectCode.ABSENT


@pytest.mark.parametrize(
    ("requires", "shape", "reason"),
    [
        ("whole_node", JobShape(cpu=32), None),
        ("whole_node", JobShape(cpu=31), "takes jobs with whole_node, these have whole_node false"),
        ("cpu >= 8 and walltime <= 2 h", JobShape(cpu=8, walltime=7200), None),
        (
            "cpu >= 8 and walltime <= 2 h",
            JobShape(cpu=8, walltime=7201),
            "takes jobs with cpu >= 8 and walltime <= 2 h, these have walltime 7201 s",
        ),
        ("cores >= 8", JobShape(nodes=2, cpu=4), None),
        ({"nodes": 2}, JobShape(), "takes jobs with nodes >= 2, these have nodes 1"),
        ("mem <= 4 GB", JobShape(mem_bytes=5 * GB), "takes jobs with mem <= 4 GB, these have mem 5 GB"),
        ("licence == 1", JobShape(others={"licence": 1}), None),
        ("", JobShape(cpu=33), "cores >= 33 is wanted, here is cores 32"),
        ("", JobShape(mem_bytes=193 * GB), "memory >= 193 GB is wanted, here is memory 192 GB"),
        ("", JobShape(walltime=10**9), None),
        ("", JobShape(others={"gpu": 1, "tape": 2}), None),
    ],
)
def test_queues_may_want_something_of_jobs_and_jobs_have_to_fit(
    requires: str | dict[str, object], shape: JobShape, reason: str | None
) -> None:
    reject = judge_job(parse_requirement(requires, OF_JOBS), shape, THIN, KINDS)
    assert (reject and sentence(reject)) == reason
    if requires and reject:
        assert reject.code is QueueRejectCode.JOB_REFUSED


def test_a_job_fits_where_the_walltime_and_the_gpus_do() -> None:
    known: dict[str, PropertyValue] = {**FAT, "gpus": 2}
    assert judge_job(NO_REQUIREMENT, JobShape(walltime=7200, others={"gpu": 2}), known, KINDS) is None
    for shape, name in ((JobShape(walltime=7201), "max_walltime"), (JobShape(others={"gpu": 3}), "gpus")):
        reject = judge_job(NO_REQUIREMENT, shape, known, KINDS)
        assert reject is not None
        assert (reject.code, reject.name) == (QueueRejectCode.TOO_SMALL, name)


def test_the_job_and_the_requirement_need_the_same_nodes() -> None:
    wanted = parse_requirement("memory >= 300 GB", KINDS)
    assert judge_queue(wanted, JobShape(cpu=64), NO_REQUIREMENT, [THIN, FAT], KINDS) is None
    many: dict[str, PropertyValue] = {**THIN, "cores": 128}
    reject = judge_queue(wanted, JobShape(cpu=100), NO_REQUIREMENT, [many, FAT], KINDS)
    assert reject is not None
    assert (reject.name, reject.found) == ("cores", "cores 64")


def test_what_the_batch_systems_list_of_resources_lacks_is_not_there() -> None:
    """Without such a list nothing is known, and nothing refused."""
    listed: dict[str, PropertyValue] = {**THIN, "matlab": 4, "resources": ["gpu", "matlab", "tmp"]}
    for others in ({"matlab": 4}, {"gpu": 1}, {"tmp": 2000}, {"disk": 0}):
        assert judge_job(NO_REQUIREMENT, JobShape(others=others), listed, KINDS) is None
    told = {
        "matlab": "matlab >= 9 is wanted, here is matlab 4",
        "disk": "disk >= 9 is wanted, here is no disk, only gpu, matlab, tmp",
    }
    for name, reason in told.items():
        reject = judge_job(NO_REQUIREMENT, JobShape(others={name: 9}), listed, KINDS)
        assert reject is not None
        assert sentence(reject) == reason
    assert judge_job(NO_REQUIREMENT, JobShape(others={"disk": 9}), {**listed, "disk": 9}, KINDS) is None
    assert judge_job(NO_REQUIREMENT, JobShape(others={"disk": 9, "matlab": 9}), THIN, KINDS) is None


@pytest.mark.parametrize(
    ("raw", "miss"),
    [
        ("memory >= 1 TB", "memory >= 1 TB is wanted; largest memory anywhere: 768 GB on fat@dahu; ask for that"),
        ("cores < 8", "cores < 8 is wanted; smallest cores anywhere: 32 on thin@dahu; ask for that at least"),
        ("memory >= 256 GB and queue != 'fat'", "largest memory where the rest is as wanted: 192 GB on thin@dahu"),
        ("gpu >= 1", "no queue has a property gpu; did you mean gpu_mem?"),
        ({"Site": "lyon"}, "no queue is at lyon; sites there: 'grenoble'"),
        ({"Platform": "x86"}, "platform == 'x86' is wanted; platform there: 'arm'"),
        ("el8 or el9", "nearest is thin@dahu: el8 or el9 is wanted, here is no el8, no el9"),
        ("gpu_mem >= 1 GB and max_walltime >= 1 h", "is wanted, and nothing is known here of"),
    ],
)
def test_the_nearest_miss_is_told(raw: str | dict[str, object], miss: str) -> None:
    requirement = parse_requirement(raw, KINDS)
    rejects = {place: judge_queue(requirement, JobShape(), NO_REQUIREMENT, some, KINDS) for place, some in GRID.items()}
    assert miss in nearest_miss({place: one for place, one in rejects.items() if one}, GRID, KINDS)
    assert all(rejects.values())


def test_a_job_too_wide_misses_by_its_cores() -> None:
    wanted = parse_requirement({"Site": "dahu"}, KINDS)
    rejects = {
        place: judge_queue(wanted, JobShape(cpu=99), NO_REQUIREMENT, some, KINDS) for place, some in GRID.items()
    }
    assert nearest_miss({place: one for place, one in rejects.items() if one}, GRID, KINDS) == (
        "cores >= 99 is wanted; largest cores anywhere: 64 on fat@dahu; ask for that at most"
    )


def test_a_queue_that_has_all_but_takes_no_such_jobs_is_nearer_than_one_that_lacks_something() -> None:
    wanted, shape = parse_requirement("cores >= 64", KINDS), JobShape(mem_bytes=800 * GB)
    rejects = {place: judge_queue(wanted, shape, NO_REQUIREMENT, some, KINDS) for place, some in GRID.items()}
    assert nearest_miss({place: one for place, one in rejects.items() if one}, GRID, KINDS) == (
        "memory >= 800 GB is wanted; largest memory anywhere: 768 GB on fat@dahu; ask for that at most"
    )


@given(requirements(), PROPERTIES)
def test_judging_never_raises_and_tells_every_reason(
    requirement: Requirement, properties: dict[str, PropertyValue]
) -> None:
    for kinds in (KINDS, dict.fromkeys(KINDS, ValueKind.SIZE)):
        reject = judge(requirement, properties, kinds)
        assert reject is None or sentence(reject)
        if reject:
            assert nearest_miss({"a@b": reject}, {"a@b": [properties]}, kinds)
    assert judge(NO_REQUIREMENT, properties, KINDS) is None
    as_job = judge_queue(NO_REQUIREMENT, JobShape(1, 2, 3, 4, {"gpu": 1}), requirement, [properties], KINDS)
    assert as_job is None or sentence(as_job)
