"""regatta register-worker and regatta doctor."""
import base64
import json
import os
import subprocess

from harness import objects
from harness.api import is_true
from harness.federation import Federation, holding, report
from harness.suite import scenario
from harness.waiting import slowness

SYSTEM, ACCOUNT = objects.SYSTEM, "multikueue-sa"
KUEUE = "kueue.x-k8s.io/v1beta2"
ORIGIN = "kueue.x-k8s.io/multikueue-origin"


class Strangers(Federation):
    """A hub and workers that do not know each other."""

    def _up(self, cluster):
        cluster.start_server()
        cluster.kubectl.apply(objects.namespace(SYSTEM))
        self.prepare(cluster, "hub/queues.yaml" if cluster is self.hub
                     else f"workers/{cluster.name}.yaml")

    def _set_up_hub(self):
        self.hub.kubectl.apply(
            {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": "multikueue"},
             "spec": {"controllerName": objects.MULTIKUEUE, "parameters": {
                 "apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "fleet"}}},
            config(["h100", "cpu"]))

    def regatta(self, *args):
        done = subprocess.run([self.suite.binary, *map(str, args)], capture_output=True, text=True,
                              timeout=120 * slowness(), stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def register(self, worker, *more, code=0):
        """Returns what the command printed."""
        got, out, err = self.regatta(
            "register-worker", worker, "--hub-kubeconfig", self.hub.kubeconfig(),
            "--worker-kubeconfig", self.workers[worker].kubeconfig(), "--timeout",
            f"{60 * slowness()}s", *more)
        assert got == code, f"{worker} {more}: exit {got}\n{out}\n{err}"
        return out + err

    def doctor(self, *asked):
        """With administrators' kubeconfigs of the workers."""
        more = [f"--worker-kubeconfig={n}={w.kubeconfig()}" for n, w in self.workers.items()]
        return doctor(self, *more, *asked)


def doctor(fed, *asked):
    """(exit code, findings as "where: what", the whole answer)."""
    done = subprocess.run([fed.suite.binary, "doctor", "-o", "json", "--hub-kubeconfig",
                           fed.hub.kubeconfig(), *asked], capture_output=True, text=True,
                          timeout=120 * slowness(), stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr}"
    answer = json.loads(done.stdout)
    return done.returncode, [f"{f['where']}: {f['what']}" for f in answer["findings"]], answer


def config(clusters):
    return {"apiVersion": KUEUE, "kind": "MultiKueueConfig", "metadata": {"name": "fleet"},
            "spec": {"clusters": clusters}}


def strangers(env):
    fed = Strangers(env.suite, env.folder, workers=("h100", "cpu"), connect=False)
    env.federation = fed
    return fed.up()


def token_of(fed, worker):
    secret = fed.hub.api.get("secrets", f"{worker}-kubeconfig", SYSTEM)
    text = base64.b64decode(secret["data"]["kubeconfig"]).decode()
    return next(line.split()[-1] for line in text.splitlines() if "token:" in line)


def account_objects(cluster):
    found = cluster.kubectl.run("get", "sa,role,rolebinding,clusterrole,clusterrolebinding", "-A", "-l",
                                f"app.kubernetes.io/instance={ACCOUNT}", "-o", "name").out
    return sorted(found.split())


@scenario
def register_workers(env):
    """Two workers are registered with one command each; Jobs race; tokens rotate; one is removed."""
    fed = strangers(env)
    for worker in fed.workers:
        said = fed.register(worker)
        assert f"MultiKueueCluster {worker} is Active" in said, said
        assert token_of(fed, worker) not in said
    fed.wait_queue_active()
    names = fed.submit(*[objects.job(f"race-{i}") for i in range(4)])
    fed.wait_complete(names)
    fed.check_ran_once(names)

    before = token_of(fed, "h100")
    fed.register("h100", "--rotate")
    assert token_of(fed, "h100") != before, "it is another token"
    wait_refused(fed, "h100", before)
    assert fed.active("h100")["status"] == "True"

    fed.register("cpu", "--namespaces", "team-research,team-product")
    roles = account_objects(fed.workers["cpu"])
    assert len([r for r in roles if r.startswith("role.")]) == 2, roles
    names = fed.submit(*[objects.job(f"again-{i}") for i in range(4)])
    fed.wait_complete(names)
    fed.wait_workers_empty()

    refusals(fed)
    remove(fed)


SELECT = "multikueue.regatta.dev/select-clusters"


@scenario
def workers_selected_by_labels(env):
    """A worker has Jobs while its labels are selected; a selector that cannot be read is told."""
    fed = strangers(env)
    for worker in fed.workers:
        fed.register(worker)
    fed.hub.kubectl.apply(config(["cpu"]))
    fed.hub.kubectl.run("annotate", "multikueueconfig", "fleet", f"{SELECT}=gpu in (h100,h200)")
    fed.wait_queue_active()
    fed.workers["cpu"].stop_manager()
    fed.submit(objects.job("first"))
    fed.wait_for("cpu is asked alone", lambda: nominated(fed, "first") == ["cpu"] or report(nominated(fed, "first")))
    fed.hub.kubectl.run("label", "multikueuecluster", "h100", "gpu=h100")
    fed.wait_complete(["first"])
    assert fed.ran_on("first") == ["h100"], fed.ran_on("first")
    said = fed.register("h100", "--remove", code=1)
    assert "MultiKueueConfig fleet lists h100" in said and "labels" in said, said
    fed.hub.kubectl.run("label", "multikueuecluster", "h100", "gpu-")
    fed.submit(objects.job("second"))
    fed.wait_for("cpu is asked alone", lambda: nominated(fed, "second") == ["cpu"] or report(nominated(fed, "second")))

    fed.hub.kubectl.run("annotate", "--overwrite", "multikueueconfig", "fleet", f"{SELECT}=gpu in (h100")
    fed.wait_for("the check says so", lambda: holding(
        fed.hub.api.get("admissionchecks", "multikueue"), "Active", "False", "BadConfig"))
    _, found, _ = fed.doctor()
    assert any("MultiKueueConfig fleet selects nothing" in one for one in found), found
    fed.hub.kubectl.run("annotate", "--overwrite", "multikueueconfig", "fleet", f"{SELECT}=gpu=h100")
    fed.hub.kubectl.run("label", "multikueuecluster", "h100", "gpu=h100")
    fed.wait_complete(["second"])


def nominated(fed, job):
    workload = fed.workload_of(job)
    return workload and workload.get("status", {}).get("nominatedClusterNames")


def refusals(fed):
    hub = fed.hub.kubeconfig()
    code, out, err = fed.regatta("register-worker", "self", "--hub-kubeconfig", hub,
                                 "--worker-kubeconfig", hub)
    assert code == 1 and "same cluster" in err, (code, out, err)
    code, out, err = fed.regatta("register-worker", "other", "--rotate", "--hub-kubeconfig", hub,
                                 "--worker-kubeconfig", fed.workers["cpu"].kubeconfig())
    assert code == 1 and "no MultiKueueCluster other" in err, (code, out, err)
    said = fed.register("cpu", "--namespaces", "nowhere", code=1)
    assert "nowhere" in said and "not found" in said, said
    said = fed.register("h100", "--remove", code=1)
    assert "MultiKueueConfig fleet lists h100" in said, said
    code, out, err = fed.regatta("register-worker", "h100", "--dry-run", "--worker-kubeconfig",
                                 fed.workers["h100"].kubeconfig())
    assert code == 0 and "kind: MultiKueueCluster" in out and "<a token" in out, (out, err)
    limited = os.path.join(fed.hub.folder, "limited.kubeconfig")
    token = fed.workers["h100"].token_for(SYSTEM, ACCOUNT)
    with open(limited, "w") as f:
        json.dump(fed.workers["h100"].kubeconfig_with_token(token), f)
    code, out, err = fed.regatta("register-worker", "h100", "--hub-kubeconfig", hub,
                                 "--worker-kubeconfig", limited)
    assert code == 1 and "administrator" in err, (code, out, err)


def remove(fed):
    token = token_of(fed, "h100")
    fed.hub.kubectl.apply(config(["cpu"]))
    fed.register("h100", "--remove")
    assert not fed.hub.api.find("multikueueclusters", "h100")
    assert not fed.hub.api.find("secrets", "h100-kubeconfig", SYSTEM)
    assert account_objects(fed.workers["h100"]) == []
    wait_refused(fed, "h100", token)


def wait_refused(fed, name, token):
    worker = fed.workers[name]
    stranger = os.path.join(worker.folder, "stranger.kubeconfig")
    with open(stranger, "w") as f:
        json.dump(worker.kubeconfig_with_token(token), f)

    def refused():
        got = worker.kubectl.try_run("get", "--raw", "/api", "--kubeconfig", stranger)
        return got.code != 0 or report(got.out)
    fed.wait_for("the token is no longer accepted", refused, 60)


# --- doctor

@scenario
def doctor_names_what_is_broken(env):
    """A healthy fleet has no findings; each of ten faults is named, and gone when it is mended."""
    fed = strangers(env)
    for worker in fed.workers:
        fed.register(worker)
    fed.wait_queue_active()
    settle(fed)
    for fault in FAULTS:
        expected, mend = fault(fed)

        def named():
            code, found, _ = fed.doctor()
            return code == 1 and any(expected in f for f in found) or report(found)
        fed.wait_for(f"doctor says: {expected}", named, 60)
        mend()
        settle(fed)
    code, out, err = fed.regatta("doctor", "--hub-kubeconfig", nowhere(fed))
    assert code == 2 and "hub" in err, (code, out, err)
    _, _, answer = fed.doctor()
    assert token_of(fed, "h100") not in json.dumps(answer)


@scenario
def rights_for_other_kinds(env):
    """A hub that sends JobSets gets the rights for them, and doctor asks for these."""
    fed = strangers(env)
    asked = ["--frameworks", "batch/job,jobset.x-k8s.io/jobset"]
    unserved = {f"{name}: jobsets.jobset.x-k8s.io are not served: it gets no job of "
                "jobset.x-k8s.io/jobset" for name in fed.workers}
    for worker in fed.workers:
        fed.register(worker)
    fed.wait_queue_active()
    settle(fed)
    _, found, _ = fed.doctor(*asked)
    assert unserved <= set(found), found
    for verb in ("create", "delete", "list", "watch"):
        assert any(f"the hub may not {verb} jobsets" in f for f in found), (verb, found)
    for worker in fed.workers:
        fed.register(worker, *asked)

    def only_unserved():
        _, found, _ = fed.doctor(*asked)
        return set(found) == unserved or report(found)
    fed.wait_for("the rights are there", only_unserved, 30)
    code, _, err = fed.regatta("doctor", "--frameworks", "jobset")
    assert code == 2 and "jobset" in err and "GROUP/KIND" in err, (code, err)


@scenario
def needs_are_provided(env):
    """What a job needs is created on the worker that was registered for that, with its rights and no
    more, and on no other; what is there stays; what cannot be created is told."""
    fed = strangers(env)
    fed.register("h100", "--provide")
    fed.register("cpu")
    fed.wait_queue_active()
    space, queue = "team-new", "fresh"
    high = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "fresh-class"}, "value": 50}
    fed.hub.kubectl.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "labels": {"team": "new"}}},
        high, {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": queue, "namespace": space},
               "spec": {"clusterQueue": "fleet"}})
    fed.hub.kubectl.create(objects.job("first", queue=queue, namespace=space,
                                       labels={"kueue.x-k8s.io/priority-class": "fresh-class"}))

    def lacking(text):
        member = fed.hub.api.get("multikueueclusters", "h100")
        return text in holding(member, "NeedsLacking", "True", "NotProvided")["message"] or report(member["status"])
    # The ClusterQueue of the hub is called fleet, that of the worker local.
    fed.wait_for("there is no queue to lead to", lambda: lacking(f"LocalQueue {space}/{queue} has nowhere"), 60)
    fed.hub.kubectl.run("annotate", "multikueuecluster", "h100",
                        "multikueue.regatta.dev/provide-cluster-queue=local")
    fed.wait_for("it is Complete", lambda: is_true(fed.hub.api.get("jobs", "first", space), "Complete"), 90)
    h100, cpu = fed.workers["h100"], fed.workers["cpu"]
    made = h100.api.get("namespaces", space)["metadata"]["labels"]
    assert made["team"] == "new" and ORIGIN in made, made
    assert h100.api.get("workloadpriorityclasses", "fresh-class")["value"] == 50
    for kind, name, where in (("namespaces", space, None), ("localqueues", queue, space),
                              ("workloadpriorityclasses", "fresh-class", None)):
        assert not cpu.api.find(kind, name, where), f"cpu has {kind} {name} unasked"

    h100.kubectl.apply({**high, "metadata": {"name": "theirs"}, "value": 1})
    fed.hub.kubectl.apply({**high, "metadata": {"name": "theirs"}, "value": 2})
    fed.wait_for("the class of others is told", lambda: lacking("WorkloadPriorityClass theirs has the value 1"), 60)
    assert h100.api.get("workloadpriorityclasses", "theirs")["value"] == 1
    fed.hub.kubectl.run("delete", "localqueue", queue, "-n", space)
    assert h100.api.find("localqueues", queue, space), "it was removed there"


def settle(fed):
    def healthy():
        code, found, _ = fed.doctor()
        return code == 0 and not found or report(found)
    fed.wait_for("doctor finds nothing", healthy, 60)


def nowhere(fed):
    path = os.path.join(fed.hub.folder, "nowhere.kubeconfig")
    with open(path, "w") as f:
        json.dump(fed.hub.kubeconfig_with_token("x", "https://127.0.0.1:1"), f)
    return path


def no_namespace(fed):
    queue = {"apiVersion": KUEUE, "kind": "LocalQueue",
             "metadata": {"name": "default", "namespace": "team-new"},
             "spec": {"clusterQueue": "fleet"}}
    fed.hub.kubectl.apply(objects.namespace("team-new"), queue)
    return "h100: there is no namespace team-new", lambda: fed.hub.kubectl.run(
        "delete", "localqueue", "default", "-n", "team-new")


def no_local_queue(fed):
    worker = fed.workers["h100"].kubectl
    worker.run("delete", "localqueue", "default", "-n", "team-research")
    return "h100: there is no LocalQueue team-research/default", lambda: restore(fed)


def no_priority_class(fed):
    fed.workers["h100"].kubectl.run("delete", "workloadpriorityclass", "urgent")
    return "h100: there is no WorkloadPriorityClass urgent", lambda: restore(fed)


def restore(fed):
    fed.workers["h100"].kubectl.run("apply", "-f", fed.example("workers/h100.yaml"))


def no_right(fed):
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": ACCOUNT}}
    rules = fed.workers["cpu"].kubectl.run("get", "clusterrole", ACCOUNT, "-o", "json").json()["rules"]
    for rule in rules:
        rule["verbs"] = [v for v in rule["verbs"] if v != "delete"]
    patch = json.dumps({"rules": rules})
    fed.workers["cpu"].kubectl.run("patch", "clusterrole", ACCOUNT, "--type=merge", "-p", patch)

    def mend():
        fed.workers["cpu"].kubectl.run("delete", "clusterrole", role["metadata"]["name"])
        fed.register("cpu")
    return "cpu: the hub may not delete jobs.batch", mend


def unknown_worker(fed):
    fed.hub.kubectl.apply(config(["h100", "cpu", "ghost"]))
    return "hub: MultiKueueConfig fleet names ghost", lambda: fed.hub.kubectl.apply(
        config(["h100", "cpu"]))


def wrong_token(fed):
    wrong = fed.workers["cpu"].kubeconfig_with_token("wrong")
    secret = objects.kubeconfig_secret("cpu", wrong)
    patch = json.dumps({"data": secret["data"]})
    fed.hub.kubectl.run("patch", "secret", "cpu-kubeconfig", "-n", SYSTEM, "--type=merge", "-p", patch)

    def mend():
        fed.hub.kubectl.run("delete", "secret", "cpu-kubeconfig", "-n", SYSTEM)
        fed.register("cpu")
    return "cpu: the hub's kubeconfig does not lead to it", mend


def no_secret(fed):
    fed.hub.kubectl.run("delete", "secret", "cpu-kubeconfig", "-n", SYSTEM)
    return "cpu: there is no Secret kueue-system/cpu-kubeconfig", lambda: fed.register("cpu")


def short_token(fed):
    fed.register("h100", "--rotate", "--token-duration", "20m")
    return "h100: the token of the hub ends", lambda: fed.register("h100", "--rotate")


def no_bundle(fed):
    name = "kueue-validating-webhook-configuration"
    fed.hub.kubectl.apply({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{
            "name": "vcohort.kb.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore", "clientConfig": {"service": {
                "name": "kueue-webhook-service", "namespace": SYSTEM, "path": "/validate"}}}]})
    return "hub: webhook vcohort.kb.io has no CA bundle", lambda: fed.hub.kubectl.run(
        "delete", "validatingwebhookconfiguration", name)


def no_answer(fed):
    name = "kueue-validating-webhook-configuration"
    fed.hub.kubectl.apply({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{
            "name": "vresourceflavor.kb.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:1/validate", "caBundle": fed.hub.ca_data()},
            "rules": [{"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["*"],
                       "operations": ["CREATE"], "resources": ["resourceflavors"]}]}]})
    return "hub: a webhook does not answer: ", lambda: fed.hub.kubectl.run(
        "delete", "validatingwebhookconfiguration", name)


FAULTS = [no_namespace, no_local_queue, no_priority_class, no_right, unknown_worker, wrong_token,
          no_secret, short_token, no_bundle, no_answer]
