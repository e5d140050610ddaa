"""Machine/Job Features over HTTP: a file each value, for jobs whose cluster has an `address` among its features.

No file is listed to strangers, nor is it told what there is: who has not the address of a batch finds nothing here.
"""

import hmac
from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from cigri.database import Database
from cigri.errors import NotFound
from cigri.flow.served_features import ServedJob, find_served_job
from cigri.identity.feature_addresses import FEATURES_PATH, read_feature_capability
from modules.portal.services import IN_TURN, services_of

FEATURE_DIRECTORIES = ("machinefeatures", "jobfeatures")
MOST_INDEX = 2**31 - 1
KEPT_FOR = {"Cache-Control": "private, max-age=10"}  # seconds; a shutdown is announced a minute before, or longer
NO_SUCH_FEATURES = "there are no such features, or no longer; a key that is not there is not known"


features_router = APIRouter(prefix=f"{FEATURES_PATH}/{{capability}}/{{index}}/{{directory}}", dependencies=[IN_TURN])


@features_router.get("", include_in_schema=False)
def list_keys(request: Request, capability: str, index: int, directory: str) -> Response:
    """List the keys of a directory, a line each."""
    keys = sorted(values_of(services_of(request).database, capability, index, directory))
    return PlainTextResponse("".join(f"{key}\n" for key in keys), headers=KEPT_FOR)


@features_router.get("/{key}", include_in_schema=False)
def tell_value(request: Request, capability: str, index: int, directory: str, key: str) -> Response:
    """Tell the value of a key."""
    values = values_of(services_of(request).database, capability, index, directory)
    if key not in values:
        raise NotFound(NO_SUCH_FEATURES)
    return PlainTextResponse(f"{values[key]}\n", headers=KEPT_FOR)


def values_of(database: Database, capability: str, index: int, directory: str) -> Mapping[str, str]:
    """By key, what a directory of the job holds; raise NotFound where nothing may be known of it."""
    shown = read_feature_capability(capability)
    if shown is None or directory not in FEATURE_DIRECTORIES or index > MOST_INDEX:
        raise NotFound(NO_SUCH_FEATURES)
    with database.answering() as conn:
        job = find_served_job(conn, shown.batch_id, index)
    if job is None or not hmac.compare_digest(job.features.sha256, shown.sha256):
        raise NotFound(NO_SUCH_FEATURES)
    return list_values(job, directory)


def list_values(job: ServedJob, directory: str) -> dict[str, str]:
    """By key, what is known now."""
    if directory == "machinefeatures":
        known: dict[str, object] = {"shutdowntime": job.machine_shutdown}
        values = job.features.machine
    else:
        known = {"job_id": job.remote_id, "jobstart_secs": job.started, "shutdowntime_job": job.shutdown}
        values = job.features.job
    return values | {key: str(value) for key, value in known.items() if value is not None}
