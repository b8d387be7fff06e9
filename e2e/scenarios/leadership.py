"""Two replicas of one manager: a leader that dies, and one that only seems to."""
import json
import os
import time

from harness import objects, solo
from harness.solo import Solo
from harness.suite import scenario
from harness.waiting import slowness

from .crashes import ELECTION as CRASH_ELECTION
from .race import check_finished, mixed

LEASE = {"leaderElect": True, "leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}
# For a federation, of which a slow machine has many processes.
UNHURRIED = CRASH_ELECTION["leaderElection"]
# The fast profile of docs/operations.md.
FAST = {"leaderElect": True, "leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}


def account(name):
    """A user of its own for a replica, so that the server can tell their requests apart."""
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": name, "namespace": objects.SYSTEM}},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
         "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
         "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": objects.SYSTEM}]},
    ]


class Replicas:
    """Two managers of a cluster instead of its one, as users of their own. The leader is there
    first. `wait_for` is that of the cluster's surroundings."""

    def __init__(self, cluster, wait_for, election):
        self.cluster, self.wait_for, self.election = cluster, wait_for, election
        cluster.stop_manager()
        self.leader = self.start("first")
        wait_for("the first replica leads", self.holder)
        self.held_by = self.holder()
        self.standby = self.start("second")
        wait_for("the second replica waits", cluster._manager_ready)

    def start(self, name):
        self.cluster.kubectl.apply(*account(name))
        token = self.cluster.token_for(objects.SYSTEM, name)
        config = os.path.join(self.cluster.folder, f"{name}.kubeconfig")
        with open(config, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
            json.dump(self.cluster.kubeconfig_with_token(token), out)
        return self.cluster.start_replica(name, config, leaderElection=self.election)

    def holder(self):
        lease = self.cluster.api.find("leases", "c1f6bfd2.kueue.x-k8s.io", objects.SYSTEM)
        return lease and lease["spec"].get("holderIdentity")

    def writes(self, name):
        """What the replica has written so far, renewals apart."""
        return self.cluster.writes_of(objects.user_of(name))

    def stop_leader(self):
        """SIGSTOP; returns when the standby has written something. All that the leader had sent has
        arrived by then."""
        self.wait_for("the leader has written something", lambda: self.writes("first"))
        self.leader.pause()
        self.stopped = time.monotonic()

        def standby_writes():
            self.at_stop = self.writes("first")
            return self.writes("second")
        self.wait_for("the standby writes", standby_writes)

    def continue_leader(self):
        """SIGCONT, a minute after it was stopped: it must end, and write nothing more."""
        self.wait_for("a minute has passed", lambda: time.monotonic() > self.stopped + 60, 90)
        self.cluster.processes.pop("first")
        self.leader.resume()
        self.wait_for("the old leader ends", lambda: not self.leader.running())
        assert self.leader.exit_code() == 1
        assert self.writes("first") == self.at_stop, \
            f"{self.at_stop} before, {self.writes('first')} after"


def replicas_of_one_cluster(env, election):
    alone = Solo(env)
    alone.queues(solo.cluster_queue("cq", 8))
    return alone, Replicas(alone.cluster, alone.wait_for, election)


def takes_over(env, election, lease_seconds):
    """Kills the leader; returns how long it took until the standby wrote something."""
    alone, replicas = replicas_of_one_cluster(env, election)
    alone.submit(solo.job("before", "cq"))
    alone.wait_running("before")
    assert not replicas.writes("second"), replicas.writes("second")
    replicas.leader.kill()
    died = time.monotonic()
    alone.cluster.processes.pop("first")
    alone.submit(solo.job("after", "cq"))
    alone.wait_for("the standby writes", lambda: replicas.writes("second"))
    took = time.monotonic() - died
    alone.wait_running("before", "after")
    assert replicas.holder() != replicas.held_by
    print(f"           first write {took:.1f} s after kill -9, with a lease of {lease_seconds} s")
    limit = lease_seconds + 1 + (slowness() - 1)
    assert took <= limit, f"the first write came {took:.1f} s after the leader died"
    return took


@scenario
def leader_killed(env):
    """kill -9 of the leader: the standby's first write comes within the lease and a second."""
    takes_over(env, LEASE, 4)


@scenario
def leader_killed_with_the_fast_profile(env):
    """The documented fast profile: less than five seconds from the death to the first write."""
    assert takes_over(env, FAST, 3) < 5 * slowness()


@scenario
def leader_stopped_and_continued(env):
    """SIGSTOP of the leader while it has work, and SIGCONT a minute later: it writes nothing more,
    ends, and the standby has done everything once."""
    alone, replicas = replicas_of_one_cluster(env, FAST)
    names = [f"j{i}" for i in range(12)]
    alone.submit(*[solo.job(n, "cq", seconds=1) for n in names])
    replicas.stop_leader()
    for name in names:
        alone.wait_condition(name, "Finished", "True", timeout=90)
    replicas.continue_leader()


@scenario
def hub_leader_stopped_and_continued(env):
    """The same on a hub in mid-race: no worker gets a write of the old leader either, and each job
    ran once."""
    fed = env.federate()
    replicas = Replicas(fed.hub, fed.wait_for, UNHURRIED)
    names = fed.submit(*mixed(12, seconds=2))
    replicas.stop_leader()
    fed.wait_complete(names, 90)
    fed.wait_workers_empty()
    # Both replicas are one user there; by now the standby has no more to write.
    on_workers = lambda: {n: w.writes_of(objects.user_of("multikueue-sa")) for n, w in fed.workers.items()}
    before = on_workers()
    assert all(before.values()), before
    replicas.continue_leader()
    assert on_workers() == before, f"{before} before, {on_workers()} after"
    fed.check_ran_once(names)
    for name in names:
        check_finished(fed, name)
