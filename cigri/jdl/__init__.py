"""The campaign description language: JSON as CiGri 3 takes it, YAML and TOML in, a checked campaign out.

`parse` reads a text as a CampaignDescription; a CommandTemplate turns its settings and one
parameter into what runs on a cluster.
"""

from cigri.jdl.cluster_settings import ClusterSettings, JobDefaults
from cigri.jdl.command import CommandTemplate, command, directory, environment, script, step_directory
from cigri.jdl.description import CampaignDescription, CampaignFields
from cigri.jdl.parameters import Parameter, names_of
from cigri.jdl.parsing import additional, parse, parse_described
from cigri.jdl.resources import JobResources
from cigri.jdl.text_formats import Format, format_of

__all__ = [
    "CampaignDescription",
    "CampaignFields",
    "ClusterSettings",
    "CommandTemplate",
    "Format",
    "JobDefaults",
    "JobResources",
    "Parameter",
    "additional",
    "command",
    "directory",
    "environment",
    "format_of",
    "names_of",
    "parse",
    "parse_described",
    "script",
    "step_directory",
]
