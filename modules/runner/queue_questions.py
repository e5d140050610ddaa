"""What a batch system is asked to learn whether it has a batch, and what its answers say; pure."""

from typing import NamedTuple

from cigri.gateway.requests import ClusterResponses, ListJobs, ReadJobHistory


class QueueQuestions(NamedTuple):
    """What is asked of a batch system to learn whether it has a batch: what lives, and what has ended."""

    listed: ListJobs
    history: ReadJobHistory


def questions_of(tag: str, size: int) -> QueueQuestions:
    return QueueQuestions(ListJobs(tag), ReadJobHistory([(tag, index, "") for index in range(1, size + 1)]))


def find_remote_ids(answers: ClusterResponses, asked: QueueQuestions, tag: str) -> dict[int, str]:
    """The remote id of each job of the batch, by its index, that lives or has lived; raise UnreadableOutput."""
    jobs = answers.of(asked.listed) + answers.of(asked.history)
    return {job.index: job.remote_id for job in jobs if job.tag == tag}
