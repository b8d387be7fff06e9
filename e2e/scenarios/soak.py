"""The soak of `./dev soak`, for a short time."""
from harness.soak import Soak
from harness.suite import scenario

SEED = 1


@scenario
def faults_at_random(env):
    """Eight rounds of kill -9, SIGSTOP and partitions: no job is lost, run twice or left over."""
    soak = Soak(env, SEED, jobs=24, say=lambda text: None)
    soak.rounds(count=8)
    soak.settle()
    wrong = {what: names for what, names in soak.verdict().items() if names}
    assert not wrong, f"seed {SEED}: {wrong}"
