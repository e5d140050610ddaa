"""What batch systems say of their nodes, and what of it is a property that stays."""

import json
from collections.abc import Mapping

import pytest

from cigri.drivers import load
from cigri.errors import UnreadableOutput
from cigri.requirements.value_kinds import PropertyValue
from cigri.resources.nodes import AlikeNodes, alike
from cigri.shell.results import ShellResult
from tests.drivers.recorded import find, load_driver

MB = 1024**2
THIN: dict[str, PropertyValue] = {"cores": 32, "memory": 192000 * MB, "features": ["avx512", "ib"]}


def slurm(*lines: str, **options: object) -> list[AlikeNodes]:
    return with_resources("unknown\n", *lines, **options)


def with_resources(told: str, *lines: str, **options: object) -> list[AlikeNodes]:
    """What scontrol has `told` stands behind the lines of sinfo."""
    text = "\n".join([*lines, "cigri-end\n"]) + f"{told}cigri-end of resources\n"
    return load("slurm", options).parse_nodes(ShellResult(0, text, ""))


def oar(*resources: Mapping[str, object], **options: object) -> list[AlikeNodes]:
    text = json.dumps({str(i): resource for i, resource in enumerate(resources, start=1)})
    return load("oar", options).parse_nodes(ShellResult(0, f"{text}\ncigri-oar-end\n", ""))


def core(number: int, node: str = "n1", **more: object) -> dict[str, object]:
    about = {
        "resource_id": number,
        "core": number,
        "cpu": 1,
        "network_address": node,
        "state": "Alive",
        "type": "default",
    }
    return about | more


def test_the_nodes_of_slurm_are_those_of_its_partitions_and_the_default_one_is_for_jobs_that_name_none() -> None:
    found = slurm("thin*|20|32|192000|ib,avx512|(null)|2-00:00:00", "fat|2|64|1500000+|(null)|(null)|infinite")
    fat = AlikeNodes({"cores": 64, "memory": 1500000 * MB, "features": []}, 2, "fat")
    thin = AlikeNodes(THIN | {"max_walltime": 172800}, 20, "thin")
    assert sorted(found, key=lambda one: one.queue or "") == [thin._replace(queue=""), fat, thin]


def test_where_the_settings_of_a_slurm_cluster_send_jobs_is_its_default_queue() -> None:
    lines = [f"{name}|1|8|8000|(null)|(null)|infinite" for name in ("thin*", "fat", "lent")]
    found = slurm(*lines, partition="fat", besteffort_partition="lent")
    assert [(one.queue, one.nodes) for one in found] == [("", 2), ("fat", 1), ("lent", 1), ("thin", 1)]


@pytest.mark.parametrize(
    ("gres", "expected"),
    [
        ("(null)", {}),
        ("gpu:4", {"gpus": 4}),
        ("gpu:a100:4(S:0-1)", {"gpus": 4, "gpu_model": ["a100"]}),
        ("gpu:v100:2,gpu:a100:4,nvme:2", {"gpus": 6, "gpu_model": ["a100", "v100"], "nvme": 2}),
        ("shard:8(S:0,1),scratch:2T", {"shard": 8, "scratch": 2 * 1024**4}),
        ("fpga,gpu:a30", {"fpga": 1, "gpus": 1, "gpu_model": ["a30"]}),
        ("strange-name:3", {}),
    ],
)
def test_each_gres_of_slurm_is_a_property(gres: str, expected: dict[str, object]) -> None:
    [one] = slurm(f"thin|20|32|192000|ib,avx512|{gres}|infinite")
    assert one.properties == THIN | expected


TOLD = """\
LicenseName=matlab Total=4 Used=1 Free=3 Reserved=0 Remote=no
LicenseName=maple@flex Total=7 Used=0 Free=7 Reserved=0 Remote=yes
LicenseName=cores Total=9 Used=0 Free=9 Reserved=0 Remote=no
GresTypes               = gpu,fpga
"""


def test_the_licences_of_slurm_are_properties_and_all_that_jobs_may_ask_for_is_listed() -> None:
    options = {"resources": {"maple": "license/maple@flex", "card": "gres/fpga:u280"}}
    [one] = with_resources(TOLD, "thin|20|32|192000|ib,avx512|gpu:2|infinite", **options)
    names = ["card", "cores", "fpga", "gpu", "maple", "maple@flex", "matlab", "tmp"]
    assert one.properties == THIN | {"gpus": 2, "matlab": 4, "maple": 7, "resources": names}


def test_slurm_without_licences_and_types_of_resources_has_a_list_without_them() -> None:
    told = "No licenses configured in Slurm.\nGresTypes               = (null)\n"
    [one] = with_resources(told, "thin|20|32|192000|ib,avx512|(null)|infinite")
    assert one.properties == THIN | {"resources": ["tmp"]}


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("infinite", None), ("7-00:00:00", 604800), ("1:30:00", 5400), ("30:00", 1800), ("n/a", None)],
)
def test_the_longest_walltime_of_a_partition(written: str, seconds: int | None) -> None:
    [one] = slurm(f"thin|1|8|8000|(null)|(null)|{written}")
    assert one.properties.get("max_walltime") == seconds


def test_a_partition_without_nodes_has_none() -> None:
    assert slurm("thin*|0|0|0|(null)|(null)|infinite") == []


def test_the_resources_of_oar_are_put_together_to_nodes_with_the_properties_that_they_share() -> None:
    fat = [core(n, "n3", cputype="epyc", mem=2000, disk=f"sd{n}") for n in range(3)]
    thin = [core(n, f"n{n // 2}", cputype="xeon", mem=1000, gpu_model=None, ib="") for n in range(10, 14)]
    assert sorted(oar(*fat, *thin), key=lambda one: one.nodes) == [
        AlikeNodes({"cores": 3, "cputype": "epyc", "mem": 2000}, 1),
        AlikeNodes({"cores": 2, "cputype": "xeon", "mem": 1000}, 2),
    ]


def test_properties_have_the_names_that_the_settings_give_to_columns() -> None:
    [one] = oar(core(1, GPUNum=2, nb_cores=48), columns={"gpus": "GPUNum", "cores": "nb_cores"})
    assert one.properties == {"cores": 48, "gpus": 2}


def test_several_resources_of_oar_may_be_one_core() -> None:
    threads = [core(n // 2, thread=n) for n in range(2, 8)]
    assert [one.properties["cores"] for one in oar(*threads)] == [3]
    assert [one.properties["cores"] for one in oar(*threads, core="thread")] == [6]


def test_the_memory_of_oar_nodes_is_in_the_property_that_the_settings_name() -> None:
    [one] = oar(core(1, memnode=192000), memory="memnode")
    assert one.properties == {"cores": 1, "memnode": 192000, "memory": 192000 * MB}


def test_a_node_of_oar_that_is_gone_for_good_is_none_and_one_that_is_absent_is() -> None:
    found = oar(core(1, "n1", state="Dead"), core(2, "n2", state="Absent"), core(3, "n3", state="Suspected"))
    assert found == [AlikeNodes({"cores": 1}, 2)]


GRIDENGINE = """\
#name               shortcut   type      relop requestable consumable default  urgency
big                 b          BOOL      ==    YES         NO         FALSE    0
gpu                 gpu        INT       <=    YES         YES        0        0
h_vmem              h_vmem     MEMORY    <=    YES         YES        0        0
model               mod        RESTRING  ==    YES         NO         NONE     0
longest             lon        TIME      <=    YES         NO         0:0:0    0
slots               s          INT       <=    YES         YES        1        1000
cigri-sge-end
qname                 all.q
slots                 1,[n1=16]
h_rt                  48:00:00,[n1=24:00:00]
complex_values        NONE
qname                 fat.q
h_rt                  INFINITY
complex_values        big=TRUE,[n2=big=FALSE]
cigri-sge-end
hostname              global
complex_values        longest=1:0:0
hostname              n1
complex_values        gpu=4,h_vmem=64G,mod=tesla, \\
                      slots=12
hostname              n2
complex_values        NONE
cigri-sge-end
<qhost>
 <host name='n1'>
  <hostvalue name='arch_string'>lx-amd64</hostvalue>
  <hostvalue name='num_proc'>32</hostvalue><hostvalue name='mem_total'>64.5G</hostvalue>
  <queue name='all.q'><queuevalue name='slots'>16</queuevalue></queue>
  <queue name='fat.q'><queuevalue name='slots'>8</queuevalue></queue>
 </host>
 <host name='n2'>
  <hostvalue name='arch_string'>-</hostvalue>
  <hostvalue name='num_proc'>-</hostvalue><hostvalue name='mem_total'>-</hostvalue>
  <queue name='all.q'><queuevalue name='slots'>16</queuevalue></queue>
 </host>
</qhost>
cigri-sge-end
"""
N1: dict[str, PropertyValue] = {
    "cores": 12,
    "gpu": 4,
    "gpus": 4,
    "h_vmem": 64 * 1024**3,
    "longest": 3600,
    "max_walltime": 172800,
    "memory": int(64.5 * 1024) * MB,
    "model": "tesla",
    "platform": "lx-amd64",
}


def test_the_hosts_of_grid_engine_have_the_complex_values_that_they_and_their_queues_were_given() -> None:
    """Of a host that is down nothing is known."""
    found = load("gridengine", {"queue": "all.q"}).parse_nodes(ShellResult(0, GRIDENGINE, ""))
    fat = {**{key: value for key, value in N1.items() if key != "max_walltime"}, "cores": 8, "big": True}
    assert found == [AlikeNodes(N1, 1, ""), AlikeNodes(N1, 1, "all.q"), AlikeNodes(fat, 1, "fat.q")]


def test_properties_have_the_names_that_the_settings_give_to_complexes() -> None:
    complexes = {"accelerators": "gpu <=", "model": "==", "limit": "h_vmem <="}
    found = load("gridengine", {"complexes": complexes}).parse_nodes(ShellResult(0, GRIDENGINE, ""))
    told = found[0].properties
    assert (told["accelerators"], told["model"], told["limit"]) == (4, "tesla", 64 * 1024**3)
    assert not {"gpu", "h_vmem"} & told.keys()


def test_without_a_queue_in_the_settings_of_a_grid_engine_cluster_jobs_go_to_any() -> None:
    found = load("gridengine", {}).parse_nodes(ShellResult(0, GRIDENGINE, ""))
    assert [one.queue for one in found] == ["", "", "all.q", "fat.q"]


@pytest.mark.parametrize("cut", ["qname                 all.q", "name='slots'", "</qhost>"])
def test_an_answer_of_grid_engine_in_which_something_is_missing_is_none(cut: str) -> None:
    with pytest.raises(UnreadableOutput):
        load("gridengine", {}).parse_nodes(ShellResult(0, GRIDENGINE.replace(cut, "", 1), ""))


def test_the_local_cluster_is_as_large_as_its_pools() -> None:
    pools = {name: {"total": total, "free": 0} for name, total in {"cpu": 8, "mem": 1000, "gpu": 2, "a.b": 1}.items()}
    answer = ShellResult(0, json.dumps({"pools": pools}) + '\n{"end":1}\n', "")
    found = load("local", {"spool": "/x"}).parse_nodes(answer)
    assert found == [AlikeNodes({"cores": 8, "memory": 1000 * MB, "gpus": 2}, 1)]


def test_the_real_answers_tell_memory_and_features() -> None:
    told = {}
    for driver in ("slurm", "oar", "gridengine", "local"):
        for one in find(driver):
            if one.point == "nodes" and one.answer:
                told[driver] = load_driver(driver).parse_nodes(one.answer)
    assert {name for one in told["slurm"] for name in one.properties} >= {"cores", "memory", "features", "gpus"}
    assert {one.properties["mem"] for one in told["oar"]} == {1000, 2000}
    assert {one.properties["platform"] for one in told["gridengine"]} == {"lx-amd64"}
    assert told["local"] == [AlikeNodes({"cores": 16, "memory": 1000 * MB}, 1)]


def test_classes_that_are_alike_are_one_and_their_order_says_nothing() -> None:
    a, b = AlikeNodes({"x": 1, "y": "z"}, 2), AlikeNodes({"y": "z", "x": 1}, 3)
    other = AlikeNodes({"x": 1, "y": "z"}, 1, "q")
    assert alike([a, other, b]) == alike([b, a, other])
    assert {(one.queue, one.nodes) for one in alike([a, other, b])} == {(None, 5), ("q", 1)}
