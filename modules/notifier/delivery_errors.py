"""Why somebody was not told."""


class DeliveryRefused(Exception):
    """The text is for its user; `is_final`: to try again would be of no use, or would do twice what was done."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        super().__init__(text)
        self.is_final = is_final
