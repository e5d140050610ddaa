"""How what there is is divided among those who want it; pure."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Claimant = TypeVar("Claimant", bound=Hashable)
LARGEST_WEIGHT = (
    1e100  # of a total, and of targets beside each other: what is more would be no number once it is divided
)


def fair_shares(
    total: float, wanted: Mapping[Claimant, float], targets: Mapping[Claimant, float]
) -> dict[Claimant, float]:
    """Divide `total` by targets (missing: 1); nobody gets more than wanted, and what one leaves goes to the others.

    Weighted max-min fairness by progressive filling (Bertsekas and Gallager, Data Networks, 1992): whoever wants no
    more than the share of their target is served, and the rest is divided anew, until nobody can be served whole.
    """
    shares = dict.fromkeys(wanted, 0.0)
    total = min(LARGEST_WEIGHT, max(0.0, total))
    weights = {name: min(LARGEST_WEIGHT, max(0.0, targets.get(name, 1.0))) for name in wanted}
    open_to = {name for name, most in wanted.items() if most > 0 and weights[name] > 1 / LARGEST_WEIGHT}
    while open_to and total > 1 / LARGEST_WEIGHT:  # less would be lost in rounding
        unit = total / sum(weights[name] for name in open_to)
        full = {name for name in open_to if wanted[name] <= unit * weights[name]}
        for name in full or open_to:
            shares[name] = wanted[name] if full else unit * weights[name]
        total = max(0.0, total - sum(shares[name] for name in full))
        open_to = open_to - full if full else set()
    return shares
