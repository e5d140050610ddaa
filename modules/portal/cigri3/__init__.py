"""The REST API of CiGri 3, below the base that its clients are configured with: the same endpoints in other shapes.

Who asks, who may, what is admitted and what is audited is the endpoints' business; here stand paths and shapes only.
"""

from fastapi import FastAPI

from modules.portal.cigri3 import errors
from modules.portal.cigri3.dispatch import BASE, Cigri3Dispatcher
from modules.portal.cigri3.doorway import Cigri3Doorway
from modules.portal.cigri3.paths import CIGRI3_PATHS
from modules.portal.services import PortalServices


def add_to(app: FastAPI, services: PortalServices) -> None:
    """Serve them; call it when errors have their other shapes already."""
    interpreter = Cigri3Dispatcher(services)
    for path in CIGRI3_PATHS:
        app.add_api_route(
            BASE + path.path,
            interpreter.serving(path),
            methods=[path.method],
            name=f"cigri3_{path.function.__name__}",
            include_in_schema=False,
        )
    errors.add_to(app)
    app.add_middleware(Cigri3Doorway)
