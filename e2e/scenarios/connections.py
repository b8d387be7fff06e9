"""How the hub connects to its workers, and what it reports when it cannot."""
import base64
import json
import re
import subprocess
import urllib.request

from harness import objects
from harness.api import condition
from harness.federation import holding, report
from harness.prefix_proxy import PrefixProxy
from harness.suite import scenario
from harness.waiting import slowness

from .explain import explain, workload_name
from .race import check_finished, mixed
from .registration import doctor


@scenario
def credentials_rotated(env):
    """In mid-race a worker's credentials are replaced and the old ones refused: no job is lost."""
    fed = env.federate(hub_config={"metrics": {"secureServing": False}})
    secrets = [secret for worker in fed.workers for secret in secrets_of(fed, worker)]
    names = fed.submit(*mixed(12, seconds=2))
    fed.wait_for("some job runs", lambda: any(o.jobs_started() for o in fed.observers.values()), 30)
    for name, worker in fed.workers.items():
        worker.kubectl.apply(*objects.hub_account("rotated"))
        token = worker.token_for(objects.SYSTEM, "rotated")
        secrets.append(token)
        config = worker.kubeconfig_with_token(token)
        # The old account goes first: for a moment the hub holds credentials that are refused.
        worker.kubectl.run("delete", "serviceaccount,clusterrolebinding", "multikueue-sa", "-n",
                           objects.SYSTEM)
        fed.hub.kubectl.apply(objects.kubeconfig_secret(name, config))
    fed.wait_complete(names, 90)
    fed.wait_connected(fed.workers)
    fed.wait_workers_empty()
    fed.check_ran_once(names)
    for name in names:
        check_finished(fed, name)
    # Nor do errors about a kubeconfig repeat what is in it.
    wrong = f'{{"users": [{{"name": "hub", "user": {{"token": ["{CANARY}"], "password": "{CANARY}"}}}}]}}'
    fed.hub.kubectl.apply(objects.kubeconfig_secret("cpu", wrong))
    fed.wait_for("the kubeconfig is refused", lambda: holding(
        fed.hub.api.get("multikueueclusters", "cpu"), "Active", "False"), 30)
    check_untold(fed, [*secrets, CANARY], names[0])


CANARY = "canary-5d1f0c"


def secrets_of(fed, worker):
    """The token that the hub has for a worker."""
    secret = fed.hub.api.get("secrets", f"{worker}-kubeconfig", objects.SYSTEM)
    config = json.loads(base64.b64decode(secret["data"]["kubeconfig"]))
    return [user["user"]["token"] for user in config["users"]]


def check_untold(fed, secrets, job=None):
    """Neither logs nor events, statuses or metrics of the hub's manager have one of these, nor what the
    commands print about the hub, and about the job if there is one."""
    hub = fed.hub
    with open(hub.processes["manager"].log, encoding="utf-8") as log:
        told = {"log": log.read()}
    with urllib.request.urlopen(f"http://127.0.0.1:{hub.metrics_port}/metrics", timeout=5) as page:
        told["metrics"] = page.read().decode()
    for kind in ("events", "multikueueclusters", "admissionchecks"):
        told[kind] = json.dumps(hub.kubectl.run("get", kind, "-A", "-o", "json").json())
    if job:
        code, out, err = explain(fed, hub, "workload", workload_name(fed, job), "-n",
                                 objects.NAMESPACE, "-o", "json")
        assert code == 0, out + err
        told["explain"] = out + err
    looked = subprocess.run([fed.suite.binary, "doctor", "--hub-kubeconfig", hub.kubeconfig()],
                            capture_output=True, text=True, timeout=120 * slowness(),
                            stdin=subprocess.DEVNULL)
    told["doctor"] = looked.stdout + looked.stderr
    assert looked.returncode in (0, 1), looked
    for place, text in told.items():
        for secret in secrets:
            assert secret not in text, f"{place} tells a secret: …{secret[-12:]}"


def wait_refused(fed, worker):
    """The cluster's condition, once the hub has failed to connect."""
    return fed.wait_for(f"{worker} is not Active", lambda: holding(
        fed.hub.api.get("multikueueclusters", worker), "Active", "False",
        "ClientConnectionFailed"), 30)


@scenario
def worker_without_crds(env):
    """A worker without Kueue's CRDs is reported and not used; with the CRDs it joins."""
    fed = env.federate(workers=("a100", "cpu"), without_crds=("a100",))
    active = wait_refused(fed, "a100")
    for expected in ("workloads", "kueue.x-k8s.io/v1beta2", "CRDs"):
        assert expected in active["message"], f"{expected} is not named: {active}"
    check = fed.wait_for("the check names the missing cluster", lambda: (
        c := condition(fed.hub.api.get("admissionchecks", "multikueue"), "Active"))
        .get("reason") == "SomeActiveClusters" and c or report(c), 20)
    assert check["status"] == "True" and "Inactive clusters: [a100]" in check["message"], check
    names = fed.submit(*[objects.job(f"early-{i}") for i in range(3)])
    fed.wait_complete(names)
    assert {fed.winner_of(n) for n in names} == {"cpu"}, "a job ran where no CRDs are"
    fed.prepare(fed.workers["a100"], "workers/a100.yaml")
    fed.without_crds.clear()
    # The hub tries again with growing pauses: 5, 10, 20 seconds.
    fed.wait_connected(["a100"], 60)
    fed.submit(objects.job("late", gpus=1))
    fed.wait_complete(["late"])
    assert fed.winner_of("late") == "a100"
    fed.wait_workers_empty()


@scenario
def insecure_kubeconfig(env):
    """Unsafe kubeconfigs are refused, the condition names the field, and shows no secret."""
    fed = env.federate(workers=("cpu",))
    good = fed.workers["cpu"].kubeconfig_with_token("s3cr3t-t0ken")
    for what, (section, change, expected) in INSECURE.items():
        bad = {**good, section: [{**good[section][0],
                                  section[:-1]: {**good[section][0][section[:-1]], **change}}]}
        for field in [k for k, v in change.items() if v is None]:
            del bad[section][0][section[:-1]][field]
        fed.hub.kubectl.apply(objects.kubeconfig_secret("bad", bad), mkc("bad", "bad-kubeconfig"))
        active = fed.wait_for(f"{what} is refused", lambda: (a := fed.active("bad"))
                              .get("reason") == "InsecureKubeConfig" and expected in a["message"]
                              and a or report(a), 20)
        assert active["status"] == "False", active
        assert "s3cr3t" not in active["message"], active
    fed.hub.kubectl.apply(mkc("missing", "no-such-secret"))
    fed.wait_for("a missing Secret is reported", lambda: (a := fed.active("missing"))
                 .get("reason") == "BadKubeConfig" and "no-such-secret" in a["message"]
                 or report(a), 20)
    names = fed.submit(objects.job("unharmed"))
    fed.wait_complete(names)
    with open(fed.hub.processes["manager"].log) as log:
        assert "s3cr3t" not in log.read(), "a token is in the hub's log"


def mkc(name, secret):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster",
            "metadata": {"name": name}, "spec": {"clusterSource": {"kubeConfig": {
                "locationType": "Secret", "location": secret}}}}


# What is wrong -> (section of the kubeconfig, fields changed, text expected in the condition).
INSECURE = {
    "unverified TLS": ("clusters", {"insecure-skip-tls-verify": True,
                                    "certificate-authority-data": None},
                       "insecure TLS verification is not allowed"),
    "a CA file": ("clusters", {"certificate-authority": "/etc/ssl/ca.crt",
                               "certificate-authority-data": None}, "certificate-authority"),
    "a token file": ("users", {"tokenFile": "/var/run/token", "token": None},
                     "tokenFile is not allowed"),
    "an exec plugin": ("users", {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
                                          "command": "get-token", "interactiveMode": "Never"},
                                 "token": None}, "exec plugins are not allowed"),
    "a password": ("users", {"username": "hub", "password": "s3cr3t-w0rd", "token": None},
                   "basic auth is not allowed"),
    "plain http": ("clusters", {"server": "http://127.0.0.1:1"}, "http"),
}


@scenario
def worker_lost_and_back(env):
    """Jobs of a worker that is away too long run elsewhere; leftovers are deleted on its return."""
    fed = env.federate(workers=("h100", "cpu"), hub_config={"multiKueue": {
        "gcInterval": "2s", "workerLostTimeout": "3s"}})
    fed.submit(objects.job("long", seconds=8))
    lost = fed.wait_running("long")
    other = next(n for n in fed.workers if n != lost)
    victim = fed.workers[lost]
    old = victim.api.get("jobs", "long", objects.NAMESPACE)["metadata"]["uid"]
    victim.kill_manager()
    victim.kill_server()
    fed.wait_for(f"the job moves to {other}", lambda: fed.winner_of("long") == other
                 or report(fed.workload_of("long")["status"].get("admissionChecks")), 60)
    victim.restart_server()
    victim.restart_manager()
    fed.wait_connected([lost], 60)
    fed.wait_for(f"the stale job on {lost} is removed", lambda: victim.api.find(
        "jobs", "long", objects.NAMESPACE) is None, 30)
    fed.wait_complete(["long"])
    workload = fed.workload_of("long")
    assert workload["status"]["clusterName"] == other, workload["status"]
    fed.wait_workers_empty()
    uids = {line[3] for line in fed.observers[lost].history if line[2].endswith("/long")}
    assert uids == {old}, f"{lost} was given the job again: {uids}"


@scenario
def forbidden_kind(env):
    """A worker that forbids one kind is reported with that kind; the other workers go on."""
    fed = env.federate(workers=("h100", "cpu"))
    rules = [r for r in objects.HUB_RULES if "jobs" not in r["resources"]]
    role = {**objects.hub_account()[1], "rules": rules}
    fed.workers["h100"].kubectl.apply(role)
    fed.hub.kubectl.run("delete", "multikueuecluster", "h100")
    fed.hub.kubectl.apply(mkc("h100", "h100-kubeconfig"))
    active = wait_refused(fed, "h100")
    assert "jobs" in active["message"] and "forbidden" in active["message"].lower(), active
    names = fed.submit(objects.job("anyway"))
    fed.wait_complete(names)
    assert fed.winner_of("anyway") == "cpu"


@scenario
def hung_worker(env):
    """A worker that accepts connections and never answers delays no other worker."""
    fed = env.federate(workers=("h100", "cpu"))
    hung = fed.workers["h100"].processes["apiserver"]
    hung.pause()
    try:
        names = fed.submit(*[objects.job(f"past-{i}", cpu="2") for i in range(4)])
        fed.wait_complete(names, 30)
        fed.check_ran_once(names)
        wrong = {n: fed.ran_on(n) for n in names if fed.ran_on(n) != ["cpu"]}
        assert not wrong, wrong
    finally:
        hung.resume()
    fed.wait_workers_empty(60)


@scenario
def worker_below_a_path(env):
    """A worker that is reached through a proxy below a path of its URL, as OCM's cluster-proxy
    serves it, is used like any other: for requests and for watches."""
    fed = env.federate(workers=("cpu",), connect=False)
    worker = fed.workers["cpu"]
    proxy = PrefixProxy(worker).start()
    token = worker.token_for(objects.SYSTEM, "multikueue-sa")
    config = proxy.through(worker.kubeconfig_with_token(token))
    fed.hub.kubectl.apply(objects.kubeconfig_secret("cpu", config))
    fed.wait_for("the hub asks the proxy", lambda: proxy.passed)
    fed.wait_connected(["cpu"])
    fed.wait_queue_active()
    fed.submit(objects.job("through"))
    fed.wait_complete(["through"])
    fed.wait_workers_empty()
    fed.check_ran_once(["through"])
    for passed in ("POST .*/jobs[?]", "GET .*/workloads[?]watch=1", "GET .*/jobs[?]watch=1"):
        assert any(re.match(passed, one) for one in proxy.passed), (passed, proxy.passed)
    # A slash at the end of the URL changes nothing.
    worker.kubectl.apply(*objects.hub_account("second"))
    config = proxy.through(worker.kubeconfig_with_token(worker.token_for(objects.SYSTEM, "second")))
    config["clusters"][0]["cluster"]["server"] += "/"
    worker.kubectl.run("delete", "serviceaccount,clusterrolebinding", "multikueue-sa", "-n",
                       objects.SYSTEM)
    fed.hub.kubectl.apply(objects.kubeconfig_secret("cpu", config))
    fed.submit(objects.job("slash"))
    fed.wait_complete(["slash"])
    fed.wait_workers_empty()
    assert not proxy.strays, proxy.strays


def list_clusters(fed, *names):
    fed.hub.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p",
                        json.dumps({"spec": {"clusters": names}}))


@scenario
def worker_of_two_names(env):
    """A worker that is registered under another name while it runs a job: the job goes on, new ones
    run once, and the second name says why it does nothing. It takes the place of the first one when
    that is deleted."""
    fed = env.federate(workers=("cpu",))
    fed.submit(objects.job("running", seconds=3600))
    fed.wait_running("running")
    api = fed.workers["cpu"].api
    before = api.get("jobs", "running", objects.NAMESPACE)["metadata"]["uid"]
    again = fed.hub.api.get("secrets", "cpu-kubeconfig", objects.SYSTEM)["data"]["kubeconfig"]
    fed.hub.kubectl.apply(objects.kubeconfig_secret("again", base64.b64decode(again).decode()),
                          mkc("again", "again-kubeconfig"))
    list_clusters(fed, "cpu", "again")
    told = fed.wait_for("the second name is told", lambda: holding(
        fed.hub.api.get("multikueueclusters", "again"), "SameCluster", "True", "OtherName"))
    assert '"cpu"' in told["message"], told
    code, findings, answer = doctor(fed)
    assert code == 1 and any(f.startswith("again: SameCluster") for f in findings), answer
    names = fed.submit(*[objects.job(f"new-{i}") for i in range(4)])
    fed.wait_complete(names)
    fed.check_ran_once(names)
    after = api.get("jobs", "running", objects.NAMESPACE)
    assert after["metadata"]["uid"] == before and after["status"]["active"] == 1, after
    assert fed.winner_of("running") == "cpu"
    fed.hub.kubectl.run("delete", "job", "running", "-n", objects.NAMESPACE)
    fed.wait_workers_empty()
    list_clusters(fed, "again")
    fed.hub.kubectl.run("delete", "multikueuecluster", "cpu")
    fed.submit(objects.job("renamed"))
    fed.wait_complete(["renamed"])
    assert fed.winner_of("renamed") == "again"
    fed.wait_workers_empty()
