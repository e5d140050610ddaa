"""Inputs of campaigns as they are shown, where others were sent in their place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cigri.api_models.files import InputVersionView

SHOWN_DIGITS = 12
"""Of the SHA-256 of an input: enough to tell two apart."""


def were_replaced(inputs: "Sequence[InputVersionView]") -> bool:
    """Is there, or was there, more than one version of them?"""
    return any(each.version > 1 or each.replaced_at is not None for each in inputs)
