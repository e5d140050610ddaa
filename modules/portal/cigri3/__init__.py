"""The REST API of CiGri 3, below the base that its clients are configured with: the same endpoints in other shapes.

Who asks, who may, what is admitted and what is audited is the endpoints' business; here stand paths and shapes only.
"""

from fastapi import FastAPI

from cigri.database import Database
from modules.portal.authentication import Identities
from modules.portal.cigri3 import errors
from modules.portal.cigri3.dispatch import BASE, Interpreter
from modules.portal.cigri3.paths import CIGRI3_PATHS
from modules.portal.deferred_responses import Errands


def add_to(app: FastAPI, database: Database, identities: Identities, errands: Errands) -> None:
    """Serve them; call it when errors have their other shapes already."""
    interpreter = Interpreter(database, identities, errands)
    for path in CIGRI3_PATHS:
        app.add_api_route(
            BASE + path.path,
            interpreter.serving(path),
            methods=[path.method],
            name=f"cigri3_{path.function.__name__}",
            include_in_schema=False,
        )
    errors.add_to(app)
