"""Buckets: tasks of a campaign that ask for about the same, which all but the launching of jobs looks at."""

from collections.abc import Mapping
from typing import Any

AMOUNTS_KEY = "amounts"
"""In a bucket's requirements: its rounded amounts, by name of the resource and formula."""

Formulas = Mapping[str, str]
"""How an amount is computed for each task, by the name of the resource."""


def formulas_of(settings: Mapping[str, Any]) -> Formulas:
    """By resource, what a cluster's stored settings compute for each task: each amount there that is no number."""
    resources = settings.get("resources") or {}
    return {name: amount for name, amount in resources.items() if isinstance(amount, str)}


def without_formulas(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings without the amounts that are computed: these are not asked for."""
    formulas = formulas_of(settings)
    if not formulas:
        return dict(settings)
    kept = {name: amount for name, amount in settings["resources"].items() if name not in formulas}
    return {**settings, "resources": kept}


def amounts_of(requirements: Mapping[str, Any], formulas: Formulas) -> dict[str, int]:
    """By resource, no less than what tasks of the bucket ask for by these formulas; 0 without a task."""
    amounts = requirements.get(AMOUNTS_KEY, {})
    return {name: amounts.get(name, {}).get(text, 0) for name, text in formulas.items()}
