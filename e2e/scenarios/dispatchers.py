"""Dispatchers: which workers take part in a race."""
import json
import os

from harness import objects
from harness.api import condition, is_true
from harness.federation import holding, report
from harness.suite import scenario

from .explain import explain
from .metrics import read

INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def nominate(fed, name, clusters, manager="external"):
    """Nominates as an external dispatcher does."""
    workload = fed.wait_for(f"workload of {name} has quota", lambda: is_true(
        w := fed.workload_of(name), "QuotaReserved") and w, 30)["metadata"]["name"]
    fed.hub.kubectl.run("patch", "workload", workload, "-n", objects.NAMESPACE, "--type=merge",
                        "--subresource=status", f"--field-manager={manager}",
                        "-p", json.dumps({"status": {"nominatedClusterNames": clusters}}))


def copies_of(fed, name):
    """Workers with a copy of the job's workload."""
    workload = fed.workload_of(name)["metadata"]["name"]
    return [n for n, w in fed.workers.items()
            if w.api.find("workloads", workload, objects.NAMESPACE)]


@scenario
def external_dispatcher(env):
    """Nothing is copied until an external dispatcher nominates; then only to nominated workers."""
    fed = env.federate(hub_config={"multiKueue": {"gcInterval": "2s",
                                                  "dispatcherName": "example.com/by-hand"}})
    fed.submit(objects.job("chosen", cpu="2"), objects.job("moved", gpus=2))
    nominate(fed, "chosen", ["cpu"])
    fed.wait_complete(["chosen"])
    assert fed.winner_of("chosen") == "cpu", fed.winner_of("chosen")
    assert not fed.workload_of("chosen")["status"].get("nominatedClusterNames")
    # Meanwhile the other job has waited for a nomination. On a worker without room it goes on
    # waiting; a new nomination takes that copy back.
    assert copies_of(fed, "moved") == [], copies_of(fed, "moved")
    nominate(fed, "moved", ["cpu"])
    fed.wait_for("it is copied to cpu", lambda: copies_of(fed, "moved") == ["cpu"], 20)
    nominate(fed, "moved", ["h100"], manager="another-external")
    fed.wait_complete(["moved"])
    assert fed.winner_of("moved") == "h100", fed.winner_of("moved")
    fed.wait_workers_empty()
    fed.check_ran_once(["chosen", "moved"])
    for name, observer in fed.observers.items():
        seen = {key[1] for key in observer.jobs_seen()}
        assert seen <= {"cpu": {"chosen"}, "h100": {"moved"}, "a100": set()}[name], (name, seen)


@scenario
def incremental_dispatcher(env):
    """The first round nominates only the first workers of the list."""
    fed = env.federate(workers=("cpu", "h100", "a100"), hub_config={"multiKueue": {
        "gcInterval": "2s", "dispatcherName": INCREMENTAL,
        "incrementalDispatcherConfig": {"stepSize": 2}}})
    fed.submit(objects.job("first", gpus=4), objects.job("waits", gpus=8))
    fed.wait_complete(["first"])
    assert fed.winner_of("first") == "h100", fed.winner_of("first")

    def nominated():
        status = fed.workload_of("waits")["status"]
        return status.get("nominatedClusterNames") == ["cpu", "h100"] or report(status)
    fed.wait_for("the first two are nominated", nominated, 20)
    fed.wait_for("they have copies", lambda: sorted(copies_of(fed, "waits")) == ["cpu", "h100"], 20)
    assert not fed.winner_of("waits")


ON_HUB = "multikueue.regatta.dev/run-on-hub"
CAPACITY = "multikueue.regatta.dev/capacity"
ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
WRITES = ("create", "update", "patch", "apply", "delete")


def use_dispatcher(fed, name):
    """An annotation of the check chooses the dispatcher of its workloads."""
    fed.hub.kubectl.run("annotate", "admissioncheck", "multikueue", "--overwrite",
                        f"multikueue.regatta.dev/dispatcher={name}")


def worker_writes(fed):
    """How many writes the hub has sent to workers."""
    _, text = read(fed.hub.metrics_port, secure=False)
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith("regatta_worker_requests_total{")
               and any(f'verb="{verb}"' in line for verb in WRITES))


def run_uneven(fed, prefix):
    """Five jobs for three workers of which each has room for some: only a100 for eight GPUs, then
    only h100 for four, and each worker for one of the others. Returns the writes for each."""
    before = worker_writes(fed)
    fed.submit(objects.job(f"{prefix}-eight", gpus=8, seconds=8))
    fed.wait_winner(f"{prefix}-eight")
    others = [objects.job(f"{prefix}-four", gpus=4, seconds=6),
              *[objects.job(f"{prefix}-cpu-{i}", cpu="60", seconds=6) for i in range(3)]]
    names = [f"{prefix}-eight", *fed.submit(*others)]
    fed.wait_complete(names)
    fed.wait_workers_empty()
    fed.check_ran_once(names)
    return names, (worker_writes(fed) - before) / len(names)


def message_of(fed, name):
    return condition(fed.workload_of(name), "Dispatched")["message"]


@scenario
def capacity_dispatcher(env):
    """Jobs go where room is, and no other worker is asked: the hub writes less to workers than when
    all are asked at once. The check chooses between the two while the hub runs."""
    fed = env.federate(hub_config={"multiKueue": {"gcInterval": "2s"},
                                   "metrics": {"secureServing": False}})
    # A race may ask only the right workers, by luck; not twice.
    raced = max(run_uneven(fed, f"raced-{i}")[1] for i in range(2))
    use_dispatcher(fed, CAPACITY)
    names, compared = run_uneven(fed, "compared")
    winners = {name: fed.winner_of(name) for name in names}
    assert winners["compared-eight"] == "a100" and winners["compared-four"] == "h100", winners
    assert sorted(winners[f"compared-cpu-{i}"] for i in range(3)) == sorted(fed.workers), winners
    assert message_of(fed, "compared-eight") == (
        'Dispatched to worker cluster "a100"; not h100, which can never have so much quota; '
        'not cpu, which can never have so much quota'), message_of(fed, "compared-eight")
    # A copy and a job, each created and deleted.
    assert compared == 4, compared
    assert raced > compared, (raced, compared)
    print(f"      worker writes of the hub for each job: {raced} by a race, {compared} by comparison")


@scenario
def capacity_without_rights(env):
    """A worker that does not let the hub see its queues is asked after those that have room, and
    before those that have none."""
    fed = env.federate(hub_config={"multiKueue": {"gcInterval": "2s"}})
    role = fed.workers["h100"].api.request(
        "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/multikueue-sa")
    role["rules"] = [r for r in role["rules"] if "clusterqueues" not in r["resources"]]
    fed.workers["h100"].kubectl.apply(
        {key: role[key] for key in ("apiVersion", "kind", "rules")} |
        {"metadata": {"name": "multikueue-sa"}})
    use_dispatcher(fed, CAPACITY)
    told = "workers are compared without the queues of this one, which may not be read"
    log = os.path.join(fed.hub.folder, "manager.log")
    fed.wait_for("the log says so", lambda: told in open(log).read(), 30)
    fed.submit(objects.job("eight", gpus=8, seconds=6))
    assert fed.wait_winner("eight") == "a100"
    fed.submit(objects.job("four", gpus=4))
    assert fed.wait_winner("four") == "h100"
    fed.wait_complete(["eight", "four"])
    fed.wait_workers_empty()
    fed.check_ran_once(["eight", "four"])
    assert fed.active("h100")["message"] == "Connected", fed.active("h100")
    assert open(log).read().count(told) == 1


def set_rules(fed, **rules):
    """Users' expressions for the check: `filter` and `score`; None takes one off."""
    fed.hub.kubectl.run("annotate", "admissioncheck", "multikueue", "--overwrite", *[
        f"multikueue.regatta.dev/worker-{rule}" + ("-" if text is None else f"={text}")
        for rule, text in rules.items()])


@scenario
def rules_of_users(env):
    """Expressions of the check filter and order the workers that have room. One that cannot be read
    stops the check until it is mended, and one that fails for a worker leaves that one out."""
    fed = env.federate(hub_config={"multiKueue": {"gcInterval": "2s"}})
    use_dispatcher(fed, CAPACITY)
    set_rules(fed, score="worker.name == 'cpu' ? 3.0 : worker.name == 'h100' ? 2.0 : 1.0")
    fed.submit(objects.job("scored", cpu="2", seconds=3))
    assert fed.wait_winner("scored") == "cpu"
    set_rules(fed, filter="worker.name != 'cpu' || workload.requests.cpu > 2.0")
    fed.submit(objects.job("filtered", cpu="2", seconds=3), objects.job("passes", cpu="3", seconds=3))
    assert fed.wait_winner("filtered") == "h100"
    assert fed.wait_winner("passes") == "cpu"
    why = "not cpu, which does not pass the worker-filter"
    assert why in message_of(fed, "filtered"), message_of(fed, "filtered")
    workload = fed.workload_of("filtered")["metadata"]["name"]
    _, told, _ = explain(env, fed.hub, "wl", workload, "-n", objects.NAMESPACE)
    assert why in told, told

    fed.hub.kubectl.run("label", "multikueuecluster", "a100", "site=north")
    set_rules(fed, filter="worker.labels.site == 'north'")
    fed.submit(objects.job("north", cpu="2", seconds=3))
    assert fed.wait_winner("north") == "a100"
    why = "not cpu, which cannot be judged by the worker-filter: no such key: site"
    assert why in message_of(fed, "north"), message_of(fed, "north")

    def active():
        return condition(fed.hub.api.get("admissionchecks", "multikueue"), "Active")
    set_rules(fed, filter="worker.")
    where = "annotation multikueue.regatta.dev/worker-filter: "
    fed.wait_for("the check says what is wrong", lambda: (
        where in active()["message"] and active()["status"] == "False") or report(active()))
    fed.submit(objects.job("waits", cpu="2", seconds=3))
    fed.wait_complete(["scored", "filtered", "passes", "north"])
    assert not fed.winner_of("waits")
    set_rules(fed, filter=None)
    assert fed.wait_winner("waits") == "cpu"
    fed.wait_complete(["waits"])
    fed.wait_workers_empty()
    fed.check_ran_once(["scored", "filtered", "passes", "north", "waits"])


@scenario
def jobs_that_run_on_the_hub(env):
    """Jobs in a queue of workers run on the hub where they ask for that, and share its quota."""
    fed = env.federate(hub_nodes="cpu", hub_config={"multiKueue": {"gcInterval": "2s"}})
    asks = {ON_HUB: "true"}
    here = objects.job("here", cpu="2", seconds=4, managed_by=None, annotations=asks)
    both = objects.job("both", cpu="2", seconds=4, annotations=asks)
    fed.submit(here, objects.job("there", cpu="2", seconds=4), both)
    assert fed.wait_winner("there")
    fed.wait_for("the other one runs on the hub", lambda: (
        fed.hub.api.get("jobs", "here", objects.NAMESPACE).get("status", {}).get("active") == 1))
    workload = fed.workload_of("here")
    assert "clusterName" not in workload["status"], workload["status"]
    assert workload["status"]["admissionChecks"][0]["state"] == "Ready", workload["status"]
    for worker in fed.workers.values():
        names = [w["metadata"]["name"] for w in worker.api.list("workloads", objects.NAMESPACE)]
        assert workload["metadata"]["name"] not in names, names
    fed.wait_for("a job of MultiKueue is told that it cannot", lambda: (
        ON_HUB in condition(fed.workload_of("both"), "Evicted")["message"]))
    fed.wait_complete(["here", "there"])
    fed.wait_workers_empty()


QUOTA = "MultiKueueManagerQuotaAutomation"


def quotas(cluster, name):
    """By resource, summed over the flavors, in numbers."""
    out = {}
    for group in cluster.api.get("clusterqueues", name)["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            for one in flavor["resources"]:
                out[one["name"]] = out.get(one["name"], 0) + number(one["nominalQuota"])
    return out


def number(quantity):
    text = str(quantity)
    for suffix, factor in (("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30), ("Ti", 2**40), ("k", 1000)):
        if text.endswith(suffix):
            return int(text[:-len(suffix)]) * factor
    return int(text)


@scenario
def quota_of_the_fleet(env):
    """The hub's quota follows the sum of its workers', and not the loss of one of them."""
    fed = env.federate(hub_config={"featureGates": {QUOTA: True}})

    def told(reason):
        found = condition(fed.hub.api.get("clusterqueues", "fleet"), QUOTA)
        return found.get("reason") == reason or report(found)

    def follows():
        wanted = {}
        for worker in fed.workers.values():
            for name, quota in quotas(worker, "local").items():
                wanted[name] = wanted.get(name, 0) + quota
        has = quotas(fed.hub, "fleet")
        return has == {name: wanted.get(name, 0) for name in has} or report((has, wanted))

    fed.wait_for("nobody asked", lambda: told("NotRequested"))
    fed.hub.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p",
                        '{"spec": {"quotaManagement": "Automated"}}')
    fed.wait_for("the quota is that of the workers", follows)
    fed.wait_for("it says so", lambda: told("QuotaAutomated"))
    fed.workers["cpu"].kubectl.run("patch", "clusterqueue", "local", "--type=json", "-p", json.dumps([{
        "op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota",
        "value": "1234"}]))
    fed.wait_for("the hub follows", lambda: number(1234) <= quotas(fed.hub, "fleet")["cpu"] and follows())
    before = quotas(fed.hub, "fleet")
    fed.workers["cpu"].kill_server()
    fed.wait_for("the worker is lost", lambda: holding(
        fed.hub.api.get("multikueueclusters", "cpu"), "Active", "False"))
    fed.hub.kill_manager()
    fed.hub.restart_manager()
    fed.submit(objects.job("here", gpus=1))
    fed.wait_winner("here")
    assert quotas(fed.hub, "fleet") == before, "a worker that was lost took its quota along"
    fed.workers["cpu"].restart_server()
    fed.wait_connected(["cpu"])
    fed.wait_complete(["here"])
    assert quotas(fed.hub, "fleet") == before
