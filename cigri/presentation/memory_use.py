"""What people see of the memory that tasks ask for and take."""

from collections.abc import Sequence

from cigri.api_models.campaigns import CampaignClusterView
from cigri.formats.units import as_size


def memory_use(parts: Sequence[CampaignClusterView]) -> str | None:
    """`asked 200 MB, used up to 712 MB`, with the cluster where there are several; None where nobody has looked."""
    told = [part for part in parts if part.most_memory]
    facts = [(f" on {part.cluster}" if len(parts) > 1 else "", part) for part in told]
    return "; ".join(f"{_asked(part)}used up to {as_size(part.most_memory or 0)}{on}" for on, part in facts) or None


def _asked(part: CampaignClusterView) -> str:
    return f"asked {as_size(part.asked_memory)}, " if part.asked_memory else ""
