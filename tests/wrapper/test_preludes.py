"""The preludes of drivers share their shell with the wrapper: neither may overwrite what belongs to the other."""

import re
from importlib.resources import files

import pytest

from cigri import drivers

OPTIONS = {"local": {"spool": "/spool"}}
PARTS = ("job.sh", "checkpoint.sh", "features.sh", "memory.sh")
SHARED = {  # by the contract of drivers, or of no use after the line it stands in
    "cigri_caught",
    "cigri_epoch",
    "cigri_features",
    "cigri_nodes",
    "cigri_notice",
    "cigri_peaks",
    "cigri_skip",
    "cigri_space",
    "cigri_umask",
}


@pytest.mark.parametrize("name", drivers.names())
def test_a_prelude_has_names_of_its_own(name: str) -> None:
    wrapper = "".join(files("cigri.wrapper").joinpath(part).read_text() for part in PARTS)
    prelude = drivers.load(name, OPTIONS.get(name, {})).prelude
    words = r"\bcigri_\w+"
    assert set(re.findall(words, prelude)) & set(re.findall(words, wrapper)) <= SHARED
    assert all(signal.isalnum() and signal[0].isupper() for signal in re.findall(r"cigri_notice=(\S+)", prelude))
