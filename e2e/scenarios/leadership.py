"""Two replicas of one manager: a leader that dies, and one that only seems to."""
import json
import os
import time

from harness import objects, solo
from harness.solo import Solo
from harness.suite import scenario
from harness.waiting import slowness

LEASE = {"leaderElect": True, "leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}
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
    """A cluster whose managers run as users of their own. The leader is there first."""

    def __init__(self, env, election):
        self.solo = Solo(env, leaderElection=election)
        self.cluster, self.kubectl = self.solo.cluster, self.solo.kubectl
        self.solo.queues(solo.cluster_queue("cq", 8))
        self.cluster.stop_manager()
        self.election = election
        self.leader = self.start("first")
        self.solo.wait_for("the first replica leads", lambda: self.holder())
        self.held_by = self.holder()
        self.standby = self.start("second")
        self.solo.wait_for("the second replica waits", self.cluster._manager_ready)

    def start(self, name):
        self.kubectl.apply(*account(name))
        token = self.cluster.token_for(objects.SYSTEM, name)
        config = os.path.join(self.cluster.folder, f"{name}.kubeconfig")
        with open(config, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
            json.dump(self.cluster.kubeconfig_with_token(token), out)
        return self.cluster.start_replica(name, config, leaderElection=self.election)

    def holder(self):
        lease = self.solo.api.find("leases", "c1f6bfd2.kueue.x-k8s.io", objects.SYSTEM)
        return lease and lease["spec"].get("holderIdentity")

    def writes(self, name):
        """What the replica has written so far, renewals apart."""
        user = f"system:serviceaccount:{objects.SYSTEM}:{name}"
        seen = self.solo.api.request("GET", "/_regatta/requests")["requests"]
        return {(r["verb"], r["resource"], r["subresource"]): r["count"] for r in seen
                if r["user"] == user and r["resource"] != "leases"
                and r["verb"] not in ("get", "list", "watch")}


def takes_over(env, election, lease_seconds):
    """Kills the leader; returns how long it took until the standby wrote something."""
    replicas = Replicas(env, election)
    replicas.solo.submit(solo.job("before", "cq"))
    replicas.solo.wait_running("before")
    assert not replicas.writes("second"), replicas.writes("second")
    replicas.leader.kill()
    died = time.monotonic()
    replicas.cluster.processes.pop("first")
    replicas.solo.submit(solo.job("after", "cq"))
    replicas.solo.wait_for("the standby writes", lambda: replicas.writes("second"))
    took = time.monotonic() - died
    replicas.solo.wait_running("before", "after")
    assert replicas.holder() != replicas.held_by
    print(f"           first write {took:.1f} s after kill -9, with a lease of {lease_seconds} s")
    limit = lease_seconds + 1 + (slowness() - 1)
    assert took <= limit, f"the first write came {took:.1f} s after the leader died"
    return took


@scenario
def leader_killed(env):
    """kill -9 of the leader: the standby's first write comes within the lease and a second."""
    env.on_embedded_only("it needs the server's count of requests")
    takes_over(env, LEASE, 4)


@scenario
def leader_killed_with_the_fast_profile(env):
    """The documented fast profile: less than five seconds from the death to the first write."""
    env.on_embedded_only("it needs the server's count of requests")
    assert takes_over(env, FAST, 3) < 5 * slowness()


@scenario
def leader_stopped_and_continued(env):
    """SIGSTOP of the leader while it has work, and SIGCONT a minute later: it writes nothing more,
    ends, and the standby has done everything once."""
    env.on_embedded_only("it needs the server's count of requests")
    replicas = Replicas(env, FAST)
    names = [f"j{i}" for i in range(12)]
    replicas.solo.submit(*[solo.job(n, "cq", seconds=1) for n in names])
    replicas.solo.wait_for("the leader has written something", lambda: replicas.writes("first"))
    replicas.leader.pause()
    stopped = time.monotonic()
    at_stop = None

    def standby_writes():
        nonlocal at_stop
        at_stop = replicas.writes("first")
        return replicas.writes("second")
    replicas.solo.wait_for("the standby writes", standby_writes)
    for name in names:
        replicas.solo.wait_condition(name, "Finished", "True", timeout=90)
    replicas.solo.wait_for("a minute has passed", lambda: time.monotonic() > stopped + 60, 90)
    replicas.cluster.processes.pop("first")
    replicas.leader.resume()
    replicas.solo.wait_for("the old leader ends", lambda: not replicas.leader.running())
    assert replicas.leader.exit_code() == 1
    assert replicas.writes("first") == at_stop, \
        f"{at_stop} before, {replicas.writes('first')} after"
