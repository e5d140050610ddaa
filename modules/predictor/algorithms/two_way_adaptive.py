"""The ratio follows what was sent: how much of it runs, and how much of it waits in vain.

JR, the job ratio, is in jobs per core. The formulas are those of the design of the first CiGri's scheduler ("Prediction
algorithms", 2009), kept as they were published. Yet what is sent for each job that runs is no ratio to cores: it is 1
where all that was sent runs, and grows the fewer do, whether they wait, are wider than one core, or have ended already.
It is here to compare.
"""

from modules.predictor.algorithms import AlgorithmInputs, Prediction, bounded, excess


def predict(flow: AlgorithmInputs) -> Prediction:
    """Down when more than `keep_waiting` jobs wait, else up; where nothing was sent, the ratio stays as it was."""
    if _sent(flow) <= 0:
        return Prediction(bounded(flow.ratio or 1.0 / flow.width, flow))
    return Prediction(decrease(flow) if excess(flow) > 0 else increase(flow))


def increase(flow: AlgorithmInputs) -> float:
    """JR = 1 / (NB_RUNNING / (OLD_JR * OLD_FREE)): with few running it grows, whether or not more would run."""
    if not flow.running:
        return bounded(flow.ratio or 1.0 / flow.width, flow)
    return bounded(1.0 / (flow.running / _sent(flow)), flow)


def decrease(flow: AlgorithmInputs) -> float:
    """JR = (OLD_JR * OLD_FREE - EXCESS) / (OLD_JR * OLD_FREE), where EXCESS = NB_WAITING - MAX_WAITING."""
    sent = _sent(flow)
    return bounded((sent - excess(flow)) / sent if sent > 0 else 0.0, flow)


def _sent(flow: AlgorithmInputs) -> float:
    """NB_JOBS_SUBMITTED as the last forecast had it, OLD_JR * OLD_FREE; 0 when there was none, or no core free."""
    return (flow.ratio or 0.0) * (flow.free_before or 0)
