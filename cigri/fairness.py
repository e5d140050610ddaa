"""How what there is is divided among those who want it; pure."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def fair_shares(total: float, wanted: Mapping[Name, float], targets: Mapping[Name, float]) -> dict[Name, float]:
    """What is to be had, divided by targets (missing: 1); what one does not want goes to the others (max-min)."""
    shares = dict.fromkeys(wanted, 0.0)
    open_to = {name for name, most in wanted.items() if most > 0 and targets.get(name, 1.0) > 0}
    while open_to:
        unit = total / sum(targets.get(name, 1.0) for name in open_to)
        full = {name for name in open_to if wanted[name] <= unit * targets.get(name, 1.0)}
        for name in full or open_to:
            shares[name] = wanted[name] if full else unit * targets.get(name, 1.0)
        total -= sum(shares[name] for name in full)
        open_to = open_to - full if full else set()
    return shares
