"""The cumulative distribution of the gamma distribution, which the standard library does not have."""

from math import exp, lgamma, log

PRECISION = 1e-14


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """The chance that a variable is at most x; the series 6.5.29 of Abramowitz and Stegun."""
    if x <= 0:
        return 0.0
    z = x / scale
    term = total = exp(shape * log(z) - z - lgamma(shape + 1))
    divisor = shape
    while term > PRECISION * total or z > divisor:
        divisor += 1
        term *= z / divisor
        total += term
    return min(1.0, total)
