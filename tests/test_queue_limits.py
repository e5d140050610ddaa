"""How the limit of a queue is found by what is taken and refused."""

from cigri.estimates.queue_limits import MOST_MISSES, QueueBounds, first_bounds


class Queue:
    """Takes up to `limit` at a time; `bounds`: what is known of that."""

    def __init__(self, limit: int) -> None:
        self.limit, self.present, self.refusals = limit, 0, 0
        self.bounds: QueueBounds | None = None

    def send(self, wanted: int, *, is_due: bool = False) -> None:
        allowed = wanted if self.bounds is None else self.bounds.allowed(is_due=is_due)
        size = min(wanted, allowed - self.present)
        if size <= 0:
            return
        if self.present + size <= self.limit:
            self.present += size
            self.bounds = self.bounds and self.bounds.after_taken(self.present)
            return
        self.refusals += 1
        if self.bounds is None:
            self.bounds = first_bounds(self.present, size)
        else:
            self.bounds = self.bounds.after_refused(self.present, size)

    def known(self) -> QueueBounds:
        assert self.bounds is not None
        return self.bounds


def filled(limit: int, wanted: int = 1000) -> Queue:
    queue = Queue(limit)
    for _ in range(30):
        queue.send(wanted)
    return queue


def test_all_that_a_queue_takes_is_used_after_a_few_refusals() -> None:
    for limit in (*range(40), 100, 511, 512, 999):
        queue = filled(limit)
        assert queue.present == limit
        assert queue.known()[:2] == (limit, limit + 1)
        assert queue.refusals <= 10


def test_nothing_more_is_tried_before_it_is_time() -> None:
    queue = filled(64)
    refusals = queue.refusals
    for _ in range(10):
        queue.send(1000)
    assert queue.refusals == refusals
    queue.send(1000, is_due=True)
    assert queue.refusals == refusals + 1
    assert queue.known().looks == 1


def test_a_look_in_vain_forgets_nothing_and_makes_the_next_pause_longer() -> None:
    queue = filled(64)
    for look in range(1, 4):
        queue.send(1000, is_due=True)
        for _ in range(10):
            queue.send(1000)
        assert queue.known() == QueueBounds(64, 65, 0, look)


def test_a_limit_that_was_raised_is_found_by_one_look() -> None:
    queue = filled(64)
    queue.limit = 700
    queue.send(1000, is_due=True)
    assert queue.known().refused is None
    for _ in range(20):
        queue.send(1000)
    assert queue.present == 700
    assert queue.known()[:2] == (700, 701)


def test_one_that_is_gone_is_forgotten_step_by_step() -> None:
    queue = filled(0)
    queue.limit = 10_000
    queue.send(1000, is_due=True)
    for _ in range(12):
        queue.send(1000)
    assert queue.present > 1000
    assert queue.known().refused is None


def test_a_limit_that_fell_is_found_from_above() -> None:
    queue = filled(60)
    queue.limit = 10
    for _ in range(60):
        queue.present = max(0, queue.present - 1)
        queue.send(1000)
    for _ in range(40):
        queue.send(1000)
    assert queue.present == 10
    assert queue.known()[:2] == (10, 11)


def test_jobs_that_have_just_ended_there_do_not_lower_it() -> None:
    """The grid knows that they are over before their batch system counts them out."""
    bounds = QueueBounds(6, 7)
    for misses in range(1, MOST_MISSES):
        bounds = bounds.after_refused(4, 2)
        assert bounds == QueueBounds(6, 7, misses)
    assert bounds.after_taken(6) == QueueBounds(6, 7)
    assert bounds.after_refused(4, 2) == QueueBounds(4, 6)
