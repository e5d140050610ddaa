"""What a user changes of a campaign that is there."""

from cigri.cli.command import grid_user, open_database, print_json
from cigri.errors import UsageError


def read_priority(word: str) -> int:
    """A word of the command line; UsageError where it is none."""
    from pydantic import TypeAdapter, ValidationError

    from cigri.jdl.fields import Priority

    try:
        return TypeAdapter(Priority).validate_python(word)
    except ValidationError as error:
        raise UsageError(f"--priority {word}: {error.errors()[0]['msg']}") from None


def change_priority(campaign_id: int, priority: int, output: str) -> None:
    """Where it stands among the campaigns of its user from now on."""
    from cigri.flow.campaigns import set_own_priority

    with open_database() as database, database.begin() as conn:
        set_own_priority(conn, campaign_id, grid_user(), priority)
    if output == "json":
        print_json({"id": campaign_id, "priority": priority})
    else:
        print(f"Campaign {campaign_id} has priority {priority} among yours")
