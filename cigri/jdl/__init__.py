"""The campaign description language: JSON as CiGri 3 takes it, YAML and TOML in, a checked campaign out.

`parse` reads a text as a Description; a Command turns its settings and one parameter into what runs on a cluster.
"""

from cigri.jdl.cluster_settings import ClusterSettings, Defaults
from cigri.jdl.command import Command, command, directory, environment, script
from cigri.jdl.description import Description, Heading
from cigri.jdl.parameters import Parameter, names_of
from cigri.jdl.parsing import additional, parse, parse_described
from cigri.jdl.resources import Resources
from cigri.jdl.text_formats import Format, format_of

__all__ = [
    "ClusterSettings",
    "Command",
    "Defaults",
    "Description",
    "Format",
    "Heading",
    "Parameter",
    "Resources",
    "additional",
    "command",
    "directory",
    "environment",
    "format_of",
    "names_of",
    "parse",
    "parse_described",
    "script",
]
