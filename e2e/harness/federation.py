"""A hub and its workers, with the objects of the examples."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

from . import objects
from .api import condition, is_true
from .observer import Observer
from .waiting import wait_for

WORKERS = ("a100", "h100", "cpu")


def in_parallel(calls):
    """Runs the functions at once and raises the first error."""
    with ThreadPoolExecutor(max_workers=max(1, len(calls))) as pool:
        futures = [pool.submit(call) for call in calls]
    for future in futures:
        future.result()


class Federation:
    """`hub_config`, `worker_config`: changes to the managers' configuration, by section.
    `without_crds`: workers that get no CRDs and no manager. `upstream`: the clusters whose manager
    is upstream's. `definitions`: files with more CRDs, by the name of the cluster."""

    def __init__(self, suite, folder, workers=WORKERS, hub_config=None, worker_config=None,
                 without_crds=(), connect=True, upstream=(), definitions=None,
                 hub_nodes="none"):
        self.suite, self.folder = suite, folder
        self.hub = suite.cluster(folder, "hub", hub_nodes)
        self.workers = {name: suite.cluster(folder, name, name) for name in workers}
        self.hub_config, self.worker_config = hub_config or {}, worker_config or {}
        self.without_crds, self.connect = set(without_crds), connect
        self.upstream, self.definitions = set(upstream), definitions or {}
        self.observers = {name: Observer(cluster) for name, cluster in self.workers.items()}

    @property
    def clusters(self):
        return [self.hub, *self.workers.values()]

    # --- coming up and going down

    def up(self):
        in_parallel([lambda c=c: self._up(c) for c in self.clusters])
        self._set_up_hub()
        for name, observer in self.observers.items():
            observer.start()
        if self.connect:
            self.wait_connected(set(self.workers) - self.without_crds)
            self.wait_queue_active()
        return self

    def _up(self, cluster):
        cluster.start_server()
        cluster.kubectl.apply(objects.namespace(objects.SYSTEM))
        if cluster is self.hub:
            self.prepare(cluster, "hub/queues.yaml")
            return
        cluster.kubectl.apply(*objects.hub_account())
        if cluster.name not in self.without_crds:
            self.prepare(cluster, f"workers/{cluster.name}.yaml")

    def prepare(self, cluster, example):
        """Applies CRDs and the objects of an example, and starts a manager."""
        cluster.install_crds()
        if more := self.definitions.get(cluster.name):
            cluster.define(*more)
        cluster.kubectl.run("apply", "-f", self.example(example))
        config = self.hub_config if cluster is self.hub else self.worker_config
        if cluster.name in self.upstream:
            cluster.start_upstream(**config)
        else:
            cluster.start_manager(**config)
        cluster.wait_manager()

    def _set_up_hub(self):
        self.hub.kubectl.apply(*[
            objects.kubeconfig_secret(name, worker.kubeconfig_with_token(
                worker.token_for(objects.SYSTEM, "multikueue-sa"), self.worker_url(name)))
            for name, worker in self.workers.items()])
        self.hub.kubectl.run("apply", "-f", self.example("hub/multikueue.yaml"))
        if tuple(self.workers) != WORKERS:
            self.set_clusters(list(self.workers))

    def worker_url(self, name):
        """Where the hub reaches the worker."""
        return self.workers[name].url()

    def set_clusters(self, names):
        patch = json.dumps({"spec": {"clusters": names}})
        self.hub.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p", patch)

    def down(self):
        for observer in self.observers.values():
            observer.stop()
        complaints = []
        in_parallel([lambda c=c: complaints.extend(c.stop()) for c in self.clusters])
        return complaints

    def example(self, path):
        return os.path.join(self.suite.root, "examples", path)

    def check(self):
        for cluster in self.clusters:
            cluster.check()

    def wait_for(self, what, condition, timeout=60):
        return wait_for(what, condition, timeout, self.check)

    # --- what scenarios ask often

    def wait_connected(self, names, timeout=30):
        for name in names:
            self.wait_for(f"MultiKueueCluster {name} is Active", lambda: holding(
                self.hub.api.get("multikueueclusters", name), "Active", "True"), timeout)

    def active(self, worker):
        return condition(self.hub.api.get("multikueueclusters", worker), "Active")

    def wait_queue_active(self, timeout=30):
        self.wait_for("ClusterQueue fleet is Active", lambda: holding(
            self.hub.api.get("clusterqueues", "fleet"), "Active", "True"), timeout)

    def submit(self, *jobs):
        self.hub.kubectl.create(*jobs)
        return [j["metadata"]["name"] for j in jobs]

    def stop_policy(self, worker, policy):
        """Of the ClusterQueue of that worker."""
        self.workers[worker].kubectl.run("patch", "clusterqueue", "local", "--type=merge", "-p",
                                         json.dumps({"spec": {"stopPolicy": policy}}))

    def workload_of(self, name, namespace=objects.NAMESPACE):
        """The hub's Workload of a job; None when there is none."""
        found = [w for w in self.hub.api.list("workloads", namespace)
                 if any(o["kind"] == "Job" and o["name"] == name
                        for o in w["metadata"].get("ownerReferences", []))]
        return found[0] if found else None

    def winner_of(self, name):
        workload = self.workload_of(name)
        return (workload or {}).get("status", {}).get("clusterName")

    def wait_winner(self, name, timeout=30):
        return self.wait_for(f"job {name} has a winner", lambda: self.winner_of(name), timeout)

    def wait_running(self, name, timeout=30):
        """Returns the name of the worker that runs the job."""
        def running():
            for worker, cluster in self.workers.items():
                found = cluster.api.find("jobs", name, objects.NAMESPACE)
                if found and found.get("status", {}).get("active"):
                    return worker
            return None
        return self.wait_for(f"job {name} runs on a worker", running, timeout)

    def wait_complete(self, names, timeout=60):
        def complete():
            jobs = {j["metadata"]["name"]: j for j in self.hub.api.list("jobs")}
            left = [n for n in names if n not in jobs or not is_true(jobs[n], "Complete")]
            return not left or report(left)
        self.wait_for("jobs are Complete on the hub", complete, timeout)

    def remote_objects(self):
        """This hub's objects on the workers."""
        found = []
        for worker, cluster in self.workers.items():
            for kind in ("workloads", "jobs"):
                try:
                    listed = cluster.api.list(kind, selector=objects.ORIGIN_LABEL)
                except Exception:
                    if kind == "workloads" and worker in self.without_crds:
                        continue
                    raise
                found += [f"{worker}: {kind}/{o['metadata']['name']}" for o in listed]
        return found

    def wait_workers_empty(self, timeout=30):
        self.wait_for("nothing of the hub is left on the workers",
                      lambda: not (left := self.remote_objects()) or report(left), timeout)

    def ran_on(self, name, namespace=objects.NAMESPACE):
        """The workers that ever started the job, observed from outside."""
        return [worker for worker, o in self.observers.items()
                if (namespace, name) in o.jobs_started()]

    def check_ran_once(self, names):
        # The observers may be late by a moment.
        self.wait_for("the jobs were seen to run", lambda: not (
            unseen := [n for n in names if not self.ran_on(n)]) or report(unseen), 10)
        wrong = {n: self.ran_on(n) for n in names if len(self.ran_on(n)) != 1}
        assert not wrong, f"jobs that did not run on exactly one worker: {wrong}"


def holding(obj, kind, status, reason=None):
    """The condition of that type if it has that state; otherwise reports its state."""
    found = condition(obj, kind)
    same = found.get("status") == status and reason in (None, found.get("reason"))
    return found if same else report(obj.get("status"))


def report(state):
    """Raises with the observed state, for conditions that do not hold yet."""
    raise AssertionError(json.dumps(state)[:600])
