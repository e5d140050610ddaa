"""Machine/Job Features over HTTP: a file each value, for jobs whose cluster has an `address` among its features.

No file is listed to strangers, nor is it told what there is: who has not the address of a batch finds nothing here.
"""

import hmac
from collections.abc import Mapping

from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse, Response

from cigri.database import Database
from cigri.errors import NotFound
from cigri.flow.served_features import ServedJob, find_served_job
from cigri.identity.feature_addresses import FEATURES_PATH, read_feature_capability

FEATURE_DIRECTORIES = ("machinefeatures", "jobfeatures")
MOST_INDEX = 2**31 - 1
KEPT_FOR = {"Cache-Control": "private, max-age=10"}  # seconds; a shutdown is announced a minute before, or longer
NO_SUCH_FEATURES = "there are no such features, or no longer; a key that is not there is not known"


def add_to(app: FastAPI, database: Database) -> None:
    """GET of a directory lists its keys, a line each; GET of a key tells its value."""

    def values_of(capability: str, index: int, directory: str) -> Mapping[str, str]:
        shown = read_feature_capability(capability)
        if shown is None or directory not in FEATURE_DIRECTORIES or index > MOST_INDEX:
            raise NotFound(NO_SUCH_FEATURES)
        with database.answering() as conn:
            job = find_served_job(conn, shown.batch_id, index)
        if job is None or not hmac.compare_digest(job.features.sha256, shown.sha256):
            raise NotFound(NO_SUCH_FEATURES)
        return list_values(job, directory)

    def listing(_request: Request, capability: str, index: int, directory: str) -> Response:
        keys = sorted(values_of(capability, index, directory))
        return PlainTextResponse("".join(f"{key}\n" for key in keys), headers=KEPT_FOR)

    def value(_request: Request, capability: str, index: int, directory: str, key: str) -> Response:
        values = values_of(capability, index, directory)
        if key not in values:
            raise NotFound(NO_SUCH_FEATURES)
        return PlainTextResponse(f"{values[key]}\n", headers=KEPT_FOR)

    place = f"{FEATURES_PATH}/{{capability}}/{{index}}/{{directory}}"
    app.add_api_route(place, listing, include_in_schema=False)
    app.add_api_route(f"{place}/{{key}}", value, include_in_schema=False)


def list_values(job: ServedJob, directory: str) -> dict[str, str]:
    """By key, what is known now."""
    if directory == "machinefeatures":
        known: dict[str, object] = {"shutdowntime": job.machine_shutdown}
        values = job.features.machine
    else:
        known = {"job_id": job.remote_id, "jobstart_secs": job.started, "shutdowntime_job": job.shutdown}
        values = job.features.job
    return values | {key: str(value) for key, value in known.items() if value is not None}
