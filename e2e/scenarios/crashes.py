"""kill -9 in the middle of a race."""
from harness import objects
from harness.suite import scenario
from harness.waiting import slowness

from .race import check_finished, mixed

# The lease is short, so that leadership is taken over soon after a crash. A slow machine cannot
# renew as short a one: the leader would end, as it should.
ELECTION = {"leaderElection": {"leaderElect": True, "retryPeriod": "500ms",
                               "leaseDuration": f"{round(3 * slowness())}s",
                               "renewDeadline": f"{round(2 * slowness())}s"}}


def race_through(env, break_it, **options):
    """A race in which `break_it(fed)` is called as soon as the first job runs somewhere."""
    fed = env.federate(**options)
    names = fed.submit(*mixed(12, seconds=2))
    fed.wait_for("some job runs", lambda: any(o.jobs_started() for o in fed.observers.values()), 30)
    break_it(fed)
    fed.wait_complete(names, 90)
    fed.wait_workers_empty()
    fed.check_ran_once(names)
    for name in names:
        check_finished(fed, name)
    return fed


@scenario
def hub_manager_killed(env):
    """The hub's manager dies in mid-race and comes back: every job runs once and finishes."""
    def break_it(fed):
        fed.hub.kill_manager()
        # Workers go on without it: at least one job ends on a worker meanwhile.
        fed.wait_for("a job ends while the hub has no manager", lambda: any(
            "succeeded=1" in line[-1] or "succeeded=4" in line[-1]
            for o in fed.observers.values() for line in o.history), 30)
        fed.hub.restart_manager()
        fed.hub.wait_manager()
    race_through(env, break_it, hub_config=ELECTION)


@scenario
def hub_manager_killed_often(env):
    """The hub's manager dies five times, at arbitrary moments."""
    def break_it(fed):
        for _ in range(5):
            fed.hub.kill_manager()
            fed.hub.restart_manager()
            before = writes(fed)
            fed.wait_for("the new manager has written something", lambda: writes(fed) != before
                         or fed.workload_of("mix-11")["status"].get("clusterName"), 30)
    race_through(env, break_it)


def writes(fed):
    return [w["metadata"]["resourceVersion"] for w in fed.hub.api.list("workloads")]


@scenario
def worker_manager_killed(env):
    """A worker's manager dies in mid-race and comes back."""
    def break_it(fed):
        victim = fed.workers["a100"]
        victim.kill_manager()
        victim.restart_manager()
        victim.wait_manager()
    race_through(env, break_it, worker_config=ELECTION)


@scenario
def worker_server_killed(env):
    """A worker's API server dies in mid-race and comes back with what it had stored."""
    def break_it(fed):
        name = next(n for n, o in fed.observers.items() if o.jobs_started())
        victim = fed.workers[name]
        before = uids(victim)
        victim.kill_server()
        victim.restart_server()
        lost = before - uids(victim) - ended(fed, name)
        assert not lost, f"{name} lost what it had acknowledged: {lost}"
    race_through(env, break_it)


def uids(cluster):
    return {o["metadata"]["uid"] for kind in ("namespaces", "nodes", "clusterqueues", "localqueues")
            for o in cluster.api.list(kind)}


def ended(fed, worker):
    return {line[3] for line in fed.observers[worker].history if line[1] == "DELETED"}


@scenario
def hub_server_killed(env):
    """The hub's API server dies in mid-race and comes back."""
    def break_it(fed):
        before = {o["metadata"]["uid"] for o in fed.hub.api.list("jobs", objects.NAMESPACE)}
        fed.hub.kill_server()
        fed.hub.restart_server()
        after = {o["metadata"]["uid"] for o in fed.hub.api.list("jobs", objects.NAMESPACE)}
        assert before == after, f"the hub lost {before - after}"
    race_through(env, break_it)
