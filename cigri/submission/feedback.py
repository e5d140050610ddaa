"""What there is to be said of a campaign that is looked at."""

from cigri.errors import DescriptionProblem


class SubmissionFeedback:
    """What whoever submits is told: for the `problems` it is refused, for the `notes` it is not."""

    def __init__(self) -> None:
        self.problems: list[DescriptionProblem] = []
        self.notes: list[str] = []
