"""Whether the words of parameters without names follow the command: the field `append`, and {number} in its place."""

from collections.abc import Mapping

from cigri.errors import DescriptionProblem
from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.command import names_number
from cigri.jdl.parameters import NumberedParameters, Parameter
from cigri.jdl.sweep import SizedIterable

HOW_ELSE = "write them as objects, and {name} in exec_file; or leave append out"


def with_append(
    clusters: Mapping[str, ClusterSettings], tasks: SizedIterable[Parameter], problems: list[DescriptionProblem]
) -> dict[str, ClusterSettings]:
    """The settings, in which nb_jobs appends no number to a command that names {number}.

    Other parameters without names would be lost without it, which is a problem.
    """
    if isinstance(tasks, NumberedParameters):
        silent = {
            name: {"append": settings.append and not names_number(settings)} for name, settings in clusters.items()
        }
        return {name: settings.model_copy(update=silent[name]) for name, settings in clusters.items()}
    is_named = isinstance(next(iter(tasks), None), dict)
    if not is_named and not all(settings.append for settings in clusters.values()):
        problems.append(DescriptionProblem("append", "is false, so these parameters would reach no task", HOW_ELSE))
    return dict(clusters)


def check_added(
    clusters: Mapping[str, ClusterSettings], added: SizedIterable[Parameter], problems: list[DescriptionProblem]
) -> None:
    """Tasks that are added to a campaign without `append` may be numbers, as its others are, and nothing else."""
    if all(settings.append for settings in clusters.values()):
        return
    for index, parameter in enumerate(added):
        if isinstance(parameter, list) or (isinstance(parameter, str) and not parameter.strip().isdecimal()):
            message = "would reach no task: nothing follows the command of this campaign (append is false)"
            problems.append(DescriptionProblem(f"params[{index}]", message, "add numbers"))
            return
