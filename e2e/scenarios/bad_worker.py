"""One of three workers misbehaves, and the jobs of the others do not notice."""
import statistics

from harness import objects
from harness.bad_proxy import TROUBLES, BadProxy
from harness.observer import Observer
from harness.suite import scenario
from harness.waiting import slowness

BAD = "h100"
JOBS = 12


@scenario
def others_beside_a_bad_worker(env):
    """It hangs, answers 429, fails at one kind of write, or is slow: on the others jobs start as
    soon as before. What is told of each trouble is the time from submission to the start."""
    fed = env.federate()
    proxy = BadProxy(fed.workers[BAD]).start()
    worker = fed.workers[BAD]
    config = worker.kubeconfig_with_token(worker.token_for(objects.SYSTEM, "multikueue-sa"))
    fed.hub.kubectl.apply(objects.kubeconfig_secret(BAD, proxy.through(config)))
    fed.wait_for("the hub asks the proxy", lambda: proxy.passed)
    submitted = Observer(fed.hub)
    submitted.start()
    try:
        for trouble in TROUBLES:
            through(fed, proxy, submitted, trouble)
    finally:
        submitted.stop()


def through(fed, proxy, submitted, trouble):
    fed.wait_connected(fed.workers, 90)
    before = run_batch(fed, submitted, f"before-{trouble.replace('_', '-')}")
    fed.wait_workers_empty()
    proxy.begin(trouble)
    try:
        beside = run_batch(fed, submitted, f"with-{trouble.replace('_', '-')}")
    finally:
        proxy.end()
    print(f"{trouble}: {before[0]:.3f} s, then {beside[0]:.3f} s; "
          f"the last {before[1]:.3f} s, then {beside[1]:.3f} s", flush=True)
    # Exact bounds are those of tests in virtual time: here other processes want the cores, too.
    for then, now in zip(before, beside):
        assert now <= 2 * then + 2 * slowness(), (trouble, before, beside)
    fed.wait_complete(names_of(f"with-{trouble.replace('_', '-')}"), 120)
    fed.wait_workers_empty(90)


def names_of(batch):
    return [f"{batch}-{i}" for i in range(JOBS)]


def run_batch(fed, submitted, batch):
    """The median time to the start on the other workers, and the longest, in seconds."""
    names = fed.submit(*[objects.job(name, cpu="500m") for name in names_of(batch)])
    others = [name for name in fed.workers if name != BAD]

    def placed():
        started = {name for other in others for ns, name in fed.observers[other].jobs_seen()}
        return all(name in started or fed.winner_of(name) == BAD for name in names)

    fed.wait_for("each job has its worker", placed, 30)
    since = first_seen(submitted)
    times = []
    for other in others:
        for key, then in first_seen(fed.observers[other]).items():
            if key.split("/")[1] in names:
                times.append(then - since[key])
    assert times, f"none of {JOBS} jobs started on the others"
    return statistics.median(times), max(times)


def first_seen(observer):
    """When the observer saw each job first."""
    found = {}
    for when, event, key, _, _ in list(observer.history):
        if event in ("ADDED", "LISTED"):
            found.setdefault(key, when)
    return found
