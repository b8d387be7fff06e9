"""Jobs race over the workers without faults, and users delete some of them."""
from harness import objects
from harness.api import condition, is_true
from harness.federation import report
from harness.suite import scenario

# Mixed sizes; together more than fits on one worker.
SIZES = [dict(cpu="24"), dict(cpu="16", gpus=2), dict(cpu="4", parallelism=4), dict(cpu="2")]


def mixed(count, seconds=1):
    return [objects.job(f"mix-{i:02}", seconds=seconds, **SIZES[i % len(SIZES)])
            for i in range(count)]


@scenario
def race(env):
    """Twelve jobs: each finishes on the hub, ran on one worker, and leaves nothing behind."""
    fed = env.federate()
    hub = fed.hub.kubectl
    names = fed.submit(*mixed(12))
    hub.run("wait", "-n", objects.NAMESPACE, "--for=condition=Complete", "job", "--all",
            "--timeout=90s", timeout=100)
    fed.wait_workers_empty()
    fed.check_ran_once(names)
    for name in names:
        check_finished(fed, name)
    check_tables(fed, names)
    wins = {fed.winner_of(n) for n in names}
    assert len(wins) > 1, f"every job was won by {wins}"


def check_finished(fed, name, once=True):
    """Checks what a user reads on the hub about a finished job. `once`: it was never evicted."""
    job = fed.hub.api.get("jobs", name, objects.NAMESPACE)
    status = job["status"]
    assert status["succeeded"] == job["spec"]["completions"], f"{name}: {status}"
    assert not status.get("active"), f"{name}: {status}"
    assert "startTime" in status and "completionTime" in status, f"{name}: {status}"
    workload = fed.wait_for(f"workload of {name} is Finished",
                            lambda: is_true(w := fed.workload_of(name), "Finished") and w, 20)
    assert condition(workload, "Finished")["reason"] == "Succeeded", condition(workload, "Finished")
    for kind in ("QuotaReserved", "Admitted"):
        assert is_true(workload, kind), f"{name}: {condition(workload, kind)}"
    winner = workload["status"].get("clusterName")
    ran_on = fed.ran_on(name)
    if not once and is_true(workload, "Evicted"):
        # It was evicted, and ended before it could be stopped: the eviction has taken the record
        # and reset the check.
        assert winner is None and ran_on, f"{name}: won by {winner}, ran on {ran_on}"
        return
    assert [winner] == ran_on if once else winner in ran_on, \
        f"{name}: won by {winner}, ran on {ran_on}"
    assert not workload["status"].get("nominatedClusterNames"), f"{name}: still nominated"
    checks = workload["status"]["admissionChecks"]
    assert [c["state"] for c in checks] == ["Ready"], f"{name}: {checks}"


def check_tables(fed, names):
    """Checks the columns of `kubectl get` and the events of `kubectl describe`."""
    hub = fed.hub.kubectl
    lines = hub.run("get", "workloads", "-n", objects.NAMESPACE).out.splitlines()
    assert lines[0].split() == ["NAME", "QUEUE", "RESERVED", "IN", "ADMITTED", "FINISHED", "AGE"], lines[0]
    assert len(lines) == 1 + len(names), lines
    for line in lines[1:]:
        assert line.split()[1:5] == ["default", "fleet", "True", "True"], line
    lines = hub.run("get", "multikueueclusters").out.splitlines()
    assert lines[0].split() == ["NAME", "CONNECTED", "AGE"], lines[0]
    assert all(line.split()[1] == "True" for line in lines[1:]), lines
    lines = hub.run("get", "clusterqueue", "fleet", "-o", "wide").out.splitlines()
    assert lines[0].split()[:3] == ["NAME", "COHORT", "STRATEGY"], lines[0]
    name = fed.workload_of(names[0])["metadata"]["name"]
    wait_described(fed, "workload", name, ("Events:", "QuotaReserved", "Admitted", "MultiKueue"))
    wait_described(fed, "job", names[0], ("Events:", "CreatedWorkload", "Started"))


def wait_described(fed, kind, name, expected):
    """Waits, because events are written after the changes that they report."""
    def described():
        text = fed.hub.kubectl.run("describe", kind, name, "-n", objects.NAMESPACE).out
        return not (missing := [e for e in expected if e not in text]) or report([missing, text])
    fed.wait_for(f"kubectl describe {kind} shows {expected}", described, 20)


@scenario
def failing_job(env):
    """A job that fails on its worker is Failed on the hub."""
    fed = env.federate(workers=("cpu",))
    doomed = objects.job("doomed", annotations={"sandbox.regatta.dev/fail": "true"})
    doomed["spec"]["backoffLimit"] = 0
    fed.submit(doomed)
    fed.wait_for("the hub's job is Failed", lambda: is_true(
        fed.hub.api.get("jobs", "doomed", objects.NAMESPACE), "Failed"), 40)
    fed.wait_for("its workload is Finished", lambda: condition(
        fed.workload_of("doomed"), "Finished").get("reason") == "Failed", 20)
    fed.wait_workers_empty()


@scenario
def deleted_mid_run(env):
    """Running jobs deleted on the hub are deleted on the workers, in background and foreground."""
    fed = env.federate(workers=("a100", "cpu"))
    names = fed.submit(objects.job("gone-background", seconds=300),
                       objects.job("gone-foreground", seconds=300),
                       objects.job("stays", seconds=4))
    for name in names[:2]:
        fed.wait_running(name)
    for way in ("background", "foreground"):
        fed.hub.kubectl.run("delete", "job", f"gone-{way}", "-n", objects.NAMESPACE,
                            f"--cascade={way}", "--wait=false")
    fed.wait_for("both are gone from the hub", lambda: not (left := [
        kind for kind in ("jobs", "workloads") for o in fed.hub.api.list(kind, objects.NAMESPACE)
        if "gone" in o["metadata"]["name"]]) or report(left), 30)
    fed.wait_complete(["stays"])
    fed.wait_workers_empty()
    fed.check_ran_once(names)


TAKEN = "not created by MultiKueue"


@scenario
def foreign_job(env):
    """Foreign jobs of the same names on a worker are left alone; the hub's jobs run elsewhere."""
    fed = env.federate(workers=("a100", "cpu"))
    names = [f"twin-{i}" for i in range(4)]
    a100 = fed.workers["a100"]
    a100.kubectl.create(*[
        objects.job(n, seconds=600, managed_by=None, queue=None, suspend=False,
                    labels={"owner": "worker"}) for n in [*names, "twin-gpu"]])
    uids = {j["metadata"]["name"]: j["metadata"]["uid"] for j in a100.api.list("jobs")}
    fed.submit(*[objects.job(n) for n in names], objects.job("twin-gpu", gpus=1))
    fed.wait_complete(names)
    wrong = {n: fed.winner_of(n) for n in names if fed.winner_of(n) != "cpu"}
    assert not wrong, f"jobs whose name is taken on a100 were won by {wrong}"
    fed.wait_for("the hub says that the only worker with GPUs has such a job",
                 lambda: told_about(fed, "twin-gpu", TAKEN), 30)
    check_untouched(a100, uids)
    assert not is_true(fed.hub.api.get("jobs", "twin-gpu", objects.NAMESPACE), "Complete")
    # The hub's job is deleted, the worker's own objects stay.
    fed.hub.kubectl.run("delete", "job", "twin-gpu", "-n", objects.NAMESPACE)
    fed.wait_workers_empty()
    check_untouched(a100, uids)


def told_about(fed, name, text):
    """Whether the workload's check or its events say `text`."""
    workload = fed.workload_of(name)
    checks = workload["status"].get("admissionChecks", [])
    events = [e for e in fed.hub.api.list("events", objects.NAMESPACE)
              if e["involvedObject"]["name"] == workload["metadata"]["name"]]
    told = [c.get("message", "") for c in checks] + [e["message"] for e in events]
    return any(text in t for t in told) or report(told)


def check_untouched(worker, uids):
    for name, uid in uids.items():
        twin = worker.api.get("jobs", name, objects.NAMESPACE)
        assert twin["metadata"]["uid"] == uid, f"{name} of {worker.name} was replaced"
        assert twin["metadata"]["labels"].get("owner") == "worker", twin["metadata"]
        assert objects.ORIGIN_LABEL not in twin["metadata"]["labels"], twin["metadata"]
        assert not twin["spec"].get("suspend"), f"{name} of {worker.name} was suspended"
        assert not twin["metadata"].get("deletionTimestamp"), f"{name} of {worker.name} is going"
