"""What the description of open-lmake's backends says of options and resources, a test for each sentence."""

import shlex
import subprocess
from typing import Any

import pytest

from cigri.drivers import BatchRequest, ResourceRequest, load
from cigri.jdl import ClusterSettings
from cigri.submission.backend_options import override
from tests.backend.drivers import DRIVERS

SRUN = [  # short, long, another value, what of a job it is in sbatch's words
    ("-c", "cpus-per-task", "3", "--cpus-per-task=3"),
    ("", "mem", "300M", "--mem=300M"),
    ("", "tmp", "400M", "--tmp=400M"),
    ("-C", "constraint", "fast", "--constraint=fast"),
    ("-x", "exclude", "n1", "--exclude=n1"),
    ("", "gres", "gpu:1", "--gres=gpu:1"),
    ("-L", "licenses", "maple:2", "--licenses=maple:2"),
    ("-w", "nodelist", "n2", "--nodelist=n2"),
    ("-p", "partition", "night", "--partition=night"),
    ("-q", "qos", "low", "--qos=low"),
    ("", "reservation", "r1", "--reservation=r1"),
]
ATTRIBUTES = [
    ("excludes", "n1", "--exclude=n1"),
    ("features", "fast", "--constraint=fast"),
    ("gres", "gpu:1", "--gres=gpu:1"),
    ("licence", "maple:2", "--licenses=maple:2"),
    ("nodes", "n2", "--nodelist=n2"),
    ("partition", "night", "--partition=night"),
    ("qos", "low", "--qos=low"),
    ("reserv", "r1", "--reservation=r1"),
]


def asked(driver: str, given: dict[str, Any], *words: str) -> list[str]:
    """What the batch system is asked for a campaign with these fields, and these words on the command line."""
    settings = override(ClusterSettings.model_validate({"exec_file": "run", **given}), DRIVERS[driver], words)
    request = BatchRequest(
        "cigri-1",
        1,
        60,
        settings.resources.request(),
        queue=settings.queue,
        properties=settings.properties,
        backend=settings.backend,
    )
    assert DRIVERS[driver].problems(request) == []
    return shlex.split(DRIVERS[driver].submit(request).replace("\n", " "))


@pytest.mark.parametrize(("short", "long", "value", "word"), SRUN)
def test_slurm_the_table_describes_supported_options(short: str, long: str, value: str, word: str) -> None:
    assert word in asked("slurm", {}, f"--{long}={value}")
    assert word in asked("slurm", {}, f"--{long}", value)
    if short:
        assert word in asked("slurm", {}, short, value)


def test_slurm_the_option_passed_with_backend_is_a_space_separated_list() -> None:
    assert {"--cpus-per-task=3", "--qos=low"} <= set(asked("slurm", {"backend": "-c 3  --qos=low"}))


def test_slurm_the_option_help_prints_usage() -> None:
    """The command line does: tests/cli/test_backend.py; a description is told so."""
    with pytest.raises(ValueError, match="gridsub -b -h"):
        asked("slurm", {"backend": "-h"})


@pytest.mark.parametrize(("name", "value", "word"), ATTRIBUTES)
def test_slurm_these_attributes_are_passed_as_is(name: str, value: str, word: str) -> None:
    assert word in asked("slurm", {"backend": {name: value}})


@pytest.mark.parametrize(("name", "value", "word"), ATTRIBUTES)
def test_slurm_the_absence_of_an_index_is_equivalent_to_index_0(name: str, value: str, word: str) -> None:
    assert word in asked("slurm", {"backend": {f"{name}0": value}})


@pytest.mark.parametrize("name", ["gres1", "gres12", "features1", "licence2"])
def test_slurm_an_index_would_identify_a_task_of_a_heterogeneous_job_which_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: Slurm takes no arrays of heterogeneous jobs.*; leave {name} out"):
        asked("slurm", {"backend": {name: "x"}})


def test_slurm_any_other_resource_is_passed_as_licenses_if_declared_so_else_as_gres() -> None:
    """Slurm is asked when it is submitted: tests/drivers/test_slurm.py, and on a real one test_slurm_real.py."""
    script = load("slurm", {}).submit(BatchRequest("cigri-1", 1, 60, ResourceRequest(others={"maple": 2})))
    assert "scontrol -o show licenses" in script
    assert "cigri_licenses=$cigri_licenses${cigri_licenses:+,}maple:2" in script
    assert "cigri_gres=$cigri_gres${cigri_gres:+,}maple:2" in script


def test_slurm_the_standard_resources_are_cpu_mem_and_tmp() -> None:
    words = asked("slurm", {"resources": {"cpu": 2, "mem": "10M"}, "backend": {"tmp": "5G"}})
    assert {"--cpus-per-task=2", "--mem=10M", "--tmp=5120M"} <= set(words)


def test_sge_the_option_that_can_be_passed_from_the_command_line_is_the_priority_through_the_p_option() -> None:
    assert "-hard -l h_rt=60,s_rt=30 -p -100" in " ".join(asked("gridengine", {}, "-p", "-100"))


def test_sge_the_command_line_option_must_directly_contain_the_priority() -> None:
    assert asked("gridengine", {}, "-100") == asked("gridengine", {}, "-p", "-100")


def test_sge_default_prio_is_used_if_none_is_specified_on_the_command_line() -> None:
    driver = load("gridengine", {"priority": -50})
    assert "-p -50" in driver.submit(BatchRequest("cigri-1", 1, 60))
    assert "-p -100" in driver.submit(BatchRequest("cigri-1", 1, 60, backend=("--priority=-100",)))


def test_sge_cpu_resource_is_the_name_of_a_resource_that_requires_them() -> None:
    driver = load("gridengine", {"cores": "cpu_r"})
    request = BatchRequest("cigri-1", 1, 60, ResourceRequest(cpu=2))
    assert driver.problems(request) == []
    assert "-l h_rt=60,s_rt=30,cpu_r=2 " in driver.submit(request)
    assert "-pe" not in driver.submit(request)


@pytest.mark.process
@pytest.mark.parametrize(("kind", "unit"), [("INT", ""), ("DOUBLE", ""), ("MEMORY", "M")])
def test_sge_mem_and_tmp_resource_require_a_number_of_mb(kind: str, unit: str) -> None:
    """With a unit where the complex takes sizes: qconf tells its type."""
    driver = load("gridengine", {"memory": "mem_r", "disk": "t_r"})
    script = driver.submit(BatchRequest("cigri-1", 1, 60, ResourceRequest(mem=10, tmp=100)))
    complexes = f"mem_r mem {kind} <= YES YES 0 0\\ntmp_r t_r {kind} <= YES YES 0 0\\n"
    programs = f"qconf() {{ printf '{complexes}'; }}; qsub() {{ echo \"$*\"; }}\n"
    done = subprocess.run(["sh", "-c", programs + script], capture_output=True, text=True, check=True)
    assert f" -hard -l mem_r=10{unit} -l t_r=100{unit} " in done.stdout


def test_sge_root_cell_and_cluster_are_what_the_settings_file_of_the_site_says() -> None:
    driver = load("gridengine", {"settings": "/opt/sge/default/common/settings.sh"})
    for text in (driver.submit(BatchRequest("cigri-1", 1, 60)), driver.status("cigri"), driver.probe()):
        assert text.startswith(". /opt/sge/default/common/settings.sh ")


def test_sge_hard_are_options_to_be_used_after_a_hard_option() -> None:
    words = " ".join(asked("gridengine", {"backend": {"hard": "-l arch=lx-amd64 -q all.q"}}))
    assert "-hard -l h_rt=60,s_rt=30 -l arch=lx-amd64 -q all.q" in words


def test_sge_soft_are_options_to_be_used_after_a_soft_option() -> None:
    words = " ".join(asked("gridengine", {"backend": {"soft": "-l mem_free=4G"}}))
    assert "-soft -l mem_free=4G" in words


def test_sge_any_other_resource_is_passed_through_the_l_option() -> None:
    assert "-l h_rt=60,s_rt=30,gpu=1" in " ".join(asked("gridengine", {"resources": {"gpu": 1}}))


def test_local_the_command_line_option_is_ignored() -> None:
    assert asked("local", {}, "-c", "4", "--nonsense") == asked("local", {})
