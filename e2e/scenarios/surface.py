"""kubectl against a single API server with Kueue's CRDs."""
import json
import os
import threading
import time

from harness import objects
from harness.federation import report
from harness.kubectl import Kubectl
from harness.suite import Skip, scenario
from harness.waiting import wait_for

NS = "surface"


@scenario
def kubectl_surface(env):
    """The commonly used verbs of the pinned kubectl."""
    cluster = prepare(env)
    run_checks(cluster.kubectl, cluster)


@scenario
def kubectl_surface_1_33(env):
    """The same with kubectl 1.33."""
    run_with(env, env.suite.pinned_kubectl(33))


@scenario
def kubectl_surface_1_34(env):
    """The same with kubectl 1.34."""
    run_with(env, env.suite.pinned_kubectl(34))


@scenario
def kubectl_surface_system(env):
    """The same with the kubectl of this machine, when it has another version."""
    found = env.suite.system_kubectl()
    if not found:
        raise Skip("there is no other kubectl on PATH")
    program, version = found
    print(f"    with {program} {version}", flush=True)
    run_with(env, program)


def run_with(env, program):
    cluster = prepare(env)
    home = os.path.join(cluster.folder, "home-other")
    run_checks(Kubectl(program, cluster.kubeconfig(), home), cluster)


def prepare(env):
    cluster = env.cluster("surface", "cpu")
    cluster.install_crds()
    cluster.kubectl.apply(objects.namespace(NS))
    return cluster


def run_checks(k, cluster):
    """Runs all checks and reports all failures, so that one run shows everything."""
    failures = []
    for check in CHECKS:
        try:
            check(k, cluster)
        except Exception as e:
            failures.append(f"{check.__name__}: {type(e).__name__}: {e}")
    assert not failures, f"{len(failures)} of {len(CHECKS)} checks failed:\n  " + "\n  ".join(failures)


CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is missing in:\n{text[:1500]}"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NS},
            "data": data}


def queue(name, quota="10", **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": [{
                "coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [
                    {"name": "cpu", "nominalQuota": quota}]}]}], **spec}}


def plain_job(name, seconds=1, suspend=False, **options):
    return objects.job(name, seconds=seconds, managed_by=None, queue=None, suspend=suspend,
                       namespace=NS, **options)


def n(*args):
    return (*args, "-n", NS)


# --- what is served

@check
def version_and_health(k, cluster):
    found = k.run("version", "-o", "json").json()
    expect(found["serverVersion"]["gitVersion"], "v1.")
    for path in ("/readyz", "/livez", "/healthz"):
        assert k.run("get", "--raw", path).out.strip() == "ok"
    expect(k.run("cluster-info").out, "is running at", cluster.url())


@check
def api_versions_and_resources(k, cluster):
    versions = k.run("api-versions").out.split()
    for expected in ("v1", "batch/v1", "apps/v1", "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2",
                     "apiextensions.k8s.io/v1", "coordination.k8s.io/v1", "events.k8s.io/v1",
                     "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1"):
        assert expected in versions, f"{expected} is missing in {versions}"
    names = k.run("api-resources", "--api-group=kueue.x-k8s.io", "-o", "name").out.split()
    for plural in ("workloads", "clusterqueues", "localqueues", "multikueueclusters",
                   "multikueueconfigs", "admissionchecks", "cohorts", "topologies",
                   "resourceflavors", "workloadpriorityclasses", "provisioningrequestconfigs"):
        assert f"{plural}.kueue.x-k8s.io" in names, f"{plural} is missing in {names}"
    wide = k.run("api-resources", "-o", "wide").out
    expect(wide, "kwl", "deletecollection", "mkc", "cm ")
    expect(k.run("api-resources", "--namespaced=false", "--verbs=list,watch", "-o", "name").out,
           "nodes", "clusterqueues.kueue.x-k8s.io")


@check
def explain(k, cluster):
    # The OpenAPI document of a new kind may appear a moment after the kind itself.
    wait_for("the new kinds are explained", lambda: k.run("explain", "workload").out, 20)
    expect(k.run("explain", "workload.spec.podSets").out, "GROUP:", "kueue.x-k8s.io", "KIND:",
           "Workload", "FIELD: podSets", "FIELDS:", "count", "template", "DESCRIPTION:")
    expect(k.run("explain", "clusterqueue.spec", "--recursive").out, "resourceGroups",
           "nominalQuota", "preemption")
    expect(k.run("explain", "job.spec.suspend").out, "FIELD: suspend", "boolean")
    expect(k.run("explain", "pods.spec.containers.resources").out, "limits", "requests")
    expect(k.run("explain", "workload", "--api-version=kueue.x-k8s.io/v1beta1").out, "v1beta1")
    failed = k.try_run("explain", "workload.spec.nonsense")
    assert failed.code != 0
    expect(failed.err, "nonsense")


@check
def raw_and_output_formats(k, cluster):
    expect(k.run("get", "--raw", f"/api/v1/namespaces/{NS}").out, f'"name":"{NS}"')
    k.apply(config_map("formats", a="1", b="x y"))
    assert k.run(*n("get", "cm", "formats", "-o", "json")).json()["data"] == {"a": "1", "b": "x y"}
    expect(k.run(*n("get", "cm", "formats", "-o", "yaml")).out, "kind: ConfigMap", "b: x y")
    assert k.run(*n("get", "cm", "formats", "-o", "name")).out.strip() == "configmap/formats"
    assert k.run(*n("get", "cm", "formats", "-o", "jsonpath={.data.a}")).out == "1"
    assert k.run(*n("get", "cm", "formats", "-o", "go-template={{.data.b}}")).out == "x y"
    expect(k.run(*n("get", "cm", "formats", "-o", "custom-columns=N:.metadata.name,A:.data.a")).out,
           "N ", "formats   1")
    expect(k.run("get", "cm", "-A", "-o", "wide").out, "NAMESPACE", "DATA", "AGE", "formats")
    expect(k.run(*n("get", "cm", "formats", "--show-labels")).out, "LABELS", "<none>")
    expect(k.run(*n("get", "cm", "formats", "--show-managed-fields", "-o", "yaml")).out,
           "managedFields", "kubectl-client-side-apply")


# --- writing

@check
def apply_client_side(k, cluster):
    expect(k.apply(queue("applied")).out, "clusterqueue.kueue.x-k8s.io/applied created")
    expect(k.apply(queue("applied")).out, "applied unchanged")
    changed = queue("applied", "20", cohortName="everyone")
    expect(k.apply(changed).out, "applied configured")
    spec = k.run("get", "cq", "applied", "-o", "json").json()["spec"]
    quota = spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]
    assert str(quota) == "20" and spec["cohortName"] == "everyone", spec
    assert spec["queueingStrategy"] == "BestEffortFIFO", f"defaults are missing: {spec}"
    k.apply(queue("applied", "20"))
    spec = k.run("get", "cq", "applied", "-o", "json").json()["spec"]
    assert "cohortName" not in spec, "what is no longer applied stays"
    k.apply(config_map("gone", a="1", b="2"))
    k.apply(config_map("gone", a="1"))
    assert k.run(*n("get", "cm", "gone", "-o", "json")).json()["data"] == {"a": "1"}


@check
def apply_server_side(k, cluster):
    one, two = config_map("shared", a="1"), config_map("shared", a="2")
    expect(k.run("apply", "--server-side", "-f", "-", stdin=one).out, "serverside-applied")
    conflict = k.try_run("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=two)
    assert conflict.code != 0, conflict.out
    expect(conflict.err, "conflict", ".data.a", "--force-conflicts")
    k.run("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", stdin=two)
    found = k.run(*n("get", "cm", "shared", "-o", "json", "--show-managed-fields")).json()
    assert found["data"]["a"] == "2"
    managers = {m["manager"]: m["operation"] for m in found["metadata"]["managedFields"]}
    assert managers.get("other") == "Apply", managers
    k.run("apply", "--server-side", "-f", "-", stdin=queue("server-side"))
    k.run("apply", "--server-side", "-f", "-", stdin=queue("server-side", "30"))


@check
def applied_by_prune_and_view(k, cluster):
    k.apply(config_map("last", a="1"))
    expect(k.run(*n("apply", "view-last-applied", "cm/last")).out, 'a: "1"')


@check
def create_and_dry_run(k, cluster):
    expect(k.run("create", "--dry-run=server", "-f", "-", stdin=queue("dry")).out,
           "created (server dry run)")
    assert k.try_run("get", "cq", "dry").code != 0, "a dry run was kept"
    bad = queue("dry")
    bad["spec"]["queueingStrategy"] = "Whatever"
    failed = k.try_run("create", "--dry-run=server", "-f", "-", stdin=bad)
    assert failed.code != 0
    expect(failed.err, "is invalid", "spec.queueingStrategy", "Unsupported value")
    k.run(*n("create", "configmap", "made", "--from-literal=a=1"))
    again = k.try_run(*n("create", "configmap", "made", "--from-literal=a=1"))
    expect(again.err, 'configmaps "made" already exists')
    k.run(*n("create", "secret", "generic", "hidden", "--from-literal=key=v"))
    expect(k.run(*n("get", "secret", "hidden")).out, "Opaque", "TYPE", "DATA")
    k.run("create", "namespace", "surface-second")
    k.run(*n("create", "job", "made", "--image=registry.example/x:1"))
    k.run(*n("create", "serviceaccount", "robot"))
    assert k.run(*n("create", "token", "robot")).out.count(".") == 2, "no token"
    k.run(*n("create", "role", "reader", "--verb=get,list", "--resource=configmaps"))
    k.run(*n("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={NS}:robot"))


@check
def field_validation(k, cluster):
    odd = queue("odd", oddity=1)
    failed = k.try_run("apply", "-f", "-", stdin=odd)
    assert failed.code != 0, failed.out
    expect(failed.err, 'unknown field "spec.oddity"')
    expect(k.run("apply", "--validate=warn", "-f", "-", stdin=odd).text, "unknown field")
    job = plain_job("odd")
    job["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    failed = k.try_run("create", "-f", "-", stdin=job)
    expect(failed.err, "restartPolicy", "valid values")


@check
def patches(k, cluster):
    k.apply(config_map("patched", a="1", b="2"))
    get = lambda: k.run(*n("get", "cm", "patched", "-o", "json")).json()["data"]
    k.run(*n("patch", "cm", "patched", "--type=merge", "-p", '{"data":{"a":"9","b":null}}'))
    assert get() == {"a": "9"}, get()
    k.run(*n("patch", "cm", "patched", "--type=json", "-p",
             '[{"op":"test","path":"/data/a","value":"9"},{"op":"add","path":"/data/c","value":"3"}]'))
    assert get() == {"a": "9", "c": "3"}, get()
    k.run(*n("patch", "cm", "patched", "-p", '{"data":{"d":"4"}}'))  # strategic
    assert get() == {"a": "9", "c": "3", "d": "4"}, get()
    expect(k.run(*n("patch", "cm", "patched", "-p", '{"data":{"d":"4"}}')).out, "(no change)")
    k.apply(queue("patched"))
    k.run("patch", "cq", "patched", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
    refused = k.try_run("patch", "cq", "patched", "-p", '{"spec":{"stopPolicy":"None"}}')
    assert refused.code != 0, "custom resources have no strategic merge"
    k.run("patch", "cq", "patched", "--subresource=status", "--type=merge", "-p",
          '{"status":{"pendingWorkloads":3}}')
    expect(k.run("get", "cq", "patched").out, "PENDING WORKLOADS", "3")


@check
def strategic_lists(k, cluster):
    k.create(plain_job("merged", suspend=True))
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "new:2"}]}}}}
    k.run(*n("patch", "job", "merged", "--dry-run=server", "-p",
             json.dumps({"metadata": {"labels": {"x": "y"}}})))
    refused = k.try_run(*n("patch", "job", "merged", "-p", json.dumps(patch)))
    expect(refused.err, "field is immutable")


@check
def replace_edit_and_scale(k, cluster):
    k.apply(config_map("replaced", a="1"))
    expect(k.run("replace", "-f", "-", stdin=config_map("replaced", a="2")).out, "replaced")
    failed = k.try_run("replace", "-f", "-", stdin=config_map("never-made", a="2"))
    expect(failed.err, "NotFound")
    stale = k.run(*n("get", "cm", "replaced", "-o", "json")).json()
    k.run(*n("annotate", "cm", "replaced", "x=1"))
    failed = k.try_run("replace", "-f", "-", stdin=stale)
    expect(failed.err, "Conflict", "the object has been modified")


@check
def labels_and_annotations(k, cluster):
    k.apply(config_map("marked", a="1"))
    expect(k.run(*n("label", "cm", "marked", "team=red")).out, "labeled")
    failed = k.try_run(*n("label", "cm", "marked", "team=blue"))
    assert failed.code != 0
    k.run(*n("label", "cm", "marked", "team=blue", "--overwrite"))
    expect(k.run(*n("get", "cm", "-l", "team=blue")).out, "marked")
    expect(k.run(*n("get", "cm", "-l", "team in (blue,green),team!=red", "-o", "name")).out, "marked")
    expect(k.run(*n("get", "cm", "-L", "team", "-l", "team")).out, "TEAM", "blue")
    k.run(*n("label", "cm", "marked", "team-"))
    assert "marked" not in k.run(*n("get", "cm", "-l", "team", "-o", "name")).out
    expect(k.run(*n("annotate", "cm", "marked", "note=hello world")).out, "annotated")
    failed = k.try_run(*n("label", "cm", "marked", "bad=no/slash/es"))
    assert failed.code != 0


@check
def diff(k, cluster):
    k.apply(queue("differs"))
    same = k.try_run("diff", "-f", "-", stdin=queue("differs"))
    assert same.code == 0, f"{same.code}: {same.text[:500]}"
    changed = k.try_run("diff", "-f", "-", stdin=queue("differs", "77"))
    assert changed.code == 1, f"{changed.code}: {changed.text[:500]}"
    expect(changed.out, "77", "nominalQuota")
    server = k.try_run("diff", "--server-side", "-f", "-", stdin=queue("differs", "78"))
    assert server.code == 1, f"{server.code}: {server.text[:500]}"


# --- reading

@check
def tables(k, cluster):
    k.apply(queue("table"))
    k.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
             "metadata": {"name": "lq", "namespace": NS}, "spec": {"clusterQueue": "table"}})
    header = lambda *args: k.run("get", *args).out.splitlines()[0].split("  ")
    columns = lambda *args: [c.strip() for c in header(*args) if c.strip()]
    assert columns("cq") == ["NAME", "COHORT", "PENDING WORKLOADS"], columns("cq")
    assert columns("cq", "-o", "wide") == ["NAME", "COHORT", "STRATEGY", "PENDING WORKLOADS",
                                           "ADMITTED WORKLOADS"], columns("cq", "-o", "wide")
    assert columns("lq", "-n", NS) == ["NAME", "CLUSTERQUEUE", "PENDING WORKLOADS",
                                       "ADMITTED WORKLOADS"], columns("lq", "-n", NS)
    expect(k.run("get", "nodes", "-o", "wide").out, "STATUS", "Ready", "VERSION", "INTERNAL-IP")
    expect(k.run("get", "crd").out, "CREATED AT", "workloads.kueue.x-k8s.io")
    expect(k.run("get", "ns").out, "STATUS", "Active")
    expect(k.run(*n("get", "cq,cm")).out, "clusterqueue.kueue.x-k8s.io/table", "configmap/")
    expect(k.run("get", "workloads", "-A").text, "No resources found")


@check
def selectors_and_sorting(k, cluster):
    k.create(plain_job("sel-a", suspend=True), plain_job("sel-b", suspend=True))
    found = k.run(*n("get", "jobs", "--field-selector=metadata.name=sel-a", "-o", "name")).out
    assert found.split() == ["job.batch/sel-a"], found
    found = k.run("get", "ns", "--field-selector=status.phase=Active", "-o", "name").out
    assert f"namespace/{NS}" in found.split(), found
    found = k.run("get", "cq", "--field-selector=metadata.name!=table", "-o", "name").out
    assert "clusterqueue.kueue.x-k8s.io/table" not in found.split(), found
    failed = k.try_run(*n("get", "jobs", "--field-selector=spec.nonsense=1"))
    expect(failed.err, "not supported")
    found = k.run(*n("get", "jobs", "--sort-by=.metadata.name", "-o", "name")).out.split()
    assert found == sorted(found), found
    found = k.run(*n("get", "cm", "--chunk-size=2", "-o", "name")).out.split()
    assert len(found) > 2, found


@check
def missing_things(k, cluster):
    expect(k.try_run(*n("get", "cm", "nowhere")).err, 'Error from server (NotFound): configmaps '
           '"nowhere" not found')
    expect(k.try_run("get", "cq", "nowhere").err, 'clusterqueues.kueue.x-k8s.io "nowhere" not found')
    expect(k.try_run("get", "nonsense").err, "the server doesn't have a resource type")
    expect(k.try_run("create", "-f", "-", stdin={**config_map("x"), "metadata": {
        "name": "x", "namespace": "nowhere"}}).err, 'namespaces "nowhere" not found')
    assert k.run(*n("get", "cm", "nowhere", "--ignore-not-found")).out == ""


@check
def describe(k, cluster):
    expect(k.run("describe", "cq", "table").out, "Name:", "table", "Kind:", "ClusterQueue",
           "Nominal Quota:", "Events:")
    expect(k.run("describe", "node").out, "Capacity:", "Allocatable:", "cpu:")
    expect(k.run("describe", "ns", NS).out, "Status:", "Active")
    expect(k.run(*n("describe", "job", "sel-a")).out, "Suspend:", "true", "Pod Template:")
    expect(k.run(*n("describe", "secret", "hidden")).out, "key:", "bytes")
    expect(k.run("describe", "crd", "workloads.kueue.x-k8s.io").out, "Established")


@check
def jobs_and_pods(k, cluster):
    k.create(plain_job("works", seconds=1, parallelism=2))
    k.run(*n("wait", "--for=condition=Complete", "job/works", "--timeout=30s"))
    line = k.run(*n("get", "job", "works")).out.splitlines()
    expect(line[0], "STATUS", "COMPLETIONS", "DURATION")
    expect(line[1], "Complete", "2/2")
    pods = k.run(*n("get", "pods", "-l", "job-name=works", "-o", "wide")).out
    expect(pods, "READY", "RESTARTS", "NODE", "Completed")
    expect(k.run(*n("describe", "job", "works")).out, "2 Succeeded")
    expect(k.run(*n("describe", "pod", "-l", "job-name=works")).out, "Controlled By:", "Job/works")
    k.run(*n("delete", "job", "works"))
    gone(k, cluster, "pods", "-l", "job-name=works")


@check
def waits(k, cluster):
    k.apply(config_map("awaited", state="no"))
    timer = threading.Timer(0.5, lambda: k.run(*n("patch", "cm", "awaited", "--type=merge", "-p",
                                                  '{"data":{"state":"yes"}}')))
    timer.start()
    try:
        k.run(*n("wait", "--for=jsonpath={.data.state}=yes", "cm/awaited", "--timeout=20s"))
    finally:
        timer.join()
    timer = threading.Timer(0.3, lambda: k.run(*n("delete", "cm", "awaited")))
    timer.start()
    try:
        k.run(*n("wait", "--for=delete", "cm/awaited", "--timeout=20s"))
    finally:
        timer.join()
    failed = k.try_run(*n("wait", "--for=condition=Complete", "job/sel-a", "--timeout=1s"))
    assert failed.code != 0
    expect(failed.err, "timed out waiting for the condition")


@check
def watches(k, cluster):
    child = k.start(*n("get", "cm", "-w", "-o", "name", "-l", "watched"))
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(child.stdout.readline, "")), daemon=True)
    reader.start()
    try:
        def seen():
            k.apply({**config_map("watched", n=str(time.monotonic())), "metadata": {
                "name": "watched", "namespace": NS, "labels": {"watched": ""}}})
            return lines.count("configmap/watched\n") >= 2 or report(lines)
        wait_for("kubectl get -w shows changes", seen, 20)
    finally:
        child.terminate()
        child.wait(10)
    child = k.start(*n("get", "cq,lq", "-w"))
    child.terminate()
    child.wait(10)
    child = k.start("get", "cq", "-w", "--output-watch-events")
    try:
        first = child.stdout.readline()
        expect(first, "EVENT", "NAME", "COHORT")
    finally:
        child.terminate()
        child.wait(10)


@check
def events(k, cluster):
    k.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e.1", "namespace": NS},
              "involvedObject": {"apiVersion": "batch/v1", "kind": "Job", "name": "sel-a",
                                 "namespace": NS, "uid": k.run(
                                     *n("get", "job", "sel-a", "-o", "jsonpath={.metadata.uid}")).out},
              "reason": "Tried", "message": "it was tried", "type": "Normal", "count": 1,
              "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
              "source": {"component": "e2e"}})
    expect(k.run(*n("get", "events")).out, "REASON", "Tried", "job/sel-a", "it was tried")
    expect(k.run(*n("events", "--for", "job/sel-a")).out, "Tried")
    expect(k.run(*n("describe", "job", "sel-a")).out, "it was tried")
    found = k.run(*n("get", "events", "--field-selector=involvedObject.name=sel-a", "-o", "name")).out
    expect(found, "event/e.1")


# --- access

@check
def who_may_do_what(k, cluster):
    assert k.run("auth", "can-i", "create", "jobs", "-n", NS).out.strip() == "yes"
    robot = ("--as", f"system:serviceaccount:{NS}:robot")
    assert k.try_run(*n("auth", "can-i", "get", "configmaps", *robot)).out.strip() == "yes"
    denied = k.try_run(*n("auth", "can-i", "delete", "configmaps", *robot))
    assert denied.out.strip().startswith("no") and denied.code == 1, denied.text
    expect(k.run(*n("auth", "can-i", "--list")).out, "Resources", "Verbs", "*.*")
    expect(k.run("auth", "whoami").out, "Username", "system:masters")


@check
def service_account_rights(k, cluster):
    token = k.run(*n("create", "token", "robot")).out.strip()
    path = os.path.join(cluster.folder, "robot.kubeconfig")
    with open(path, "w") as f:
        json.dump(cluster.kubeconfig_with_token(token), f)
    robot = Kubectl(k.program, path, k.home)
    robot.run(*n("get", "cm"))
    refused = robot.try_run(*n("delete", "cm", "formats"))
    expect(refused.err, "Forbidden", f'User "system:serviceaccount:{NS}:robot" cannot delete resource '
           '"configmaps" in API group ""')
    with open(path, "w") as f:
        json.dump(cluster.kubeconfig_with_token("no-such-token"), f)
    expect(robot.try_run(*n("get", "cm")).err, "Unauthorized")


# --- deleting

def gone(k, cluster, *what):
    wait_for(f"{' '.join(what)} are gone", lambda: not (
        left := k.run(*n("get", *what, "-o", "name")).out.strip()) or report(left), 30)


@check
def deletes(k, cluster):
    k.create(plain_job("del-fg", seconds=300), plain_job("del-bg", seconds=300),
             plain_job("del-orphan", seconds=300))

    def running():
        pods = k.run(*n("get", "pods", "-o", "name")).out
        return all(f"del-{way}-" in pods for way in ("fg", "bg", "orphan")) or report(pods)
    wait_for("the jobs have pods", running, 20)
    k.run(*n("delete", "job", "del-fg", "--cascade=foreground"))
    assert not k.run(*n("get", "pods", "-l", "job-name=del-fg", "-o", "name")).out.strip(), \
        "pods outlive a foreground deletion"
    k.run(*n("delete", "job", "del-bg", "--cascade=background"))
    gone(k, cluster, "pods", "-l", "job-name=del-bg")
    k.run(*n("delete", "job", "del-orphan", "--cascade=orphan"))
    assert k.try_run(*n("get", "job", "del-orphan")).code != 0
    assert k.run(*n("get", "pods", "-l", "job-name=del-orphan", "-o", "name")).out.strip(), \
        "pods went with a job that orphaned them"
    expect(k.run(*n("delete", "cm", "formats", "--dry-run=server")).out, 'configmap "formats" deleted',
           "(server dry run)")
    k.run(*n("get", "cm", "formats"))
    expect(k.run(*n("delete", "cm", "-l", "watched")).out, 'configmap "watched" deleted')
    expect(k.run(*n("delete", "cm", "--all")).out, 'configmap "formats" deleted')
    expect(k.try_run(*n("delete", "cm", "formats")).err, "NotFound")


@check
def finalizers_hold(k, cluster):
    k.apply({**config_map("held"), "metadata": {"name": "held", "namespace": NS,
                                               "finalizers": ["example.com/hold"]}})
    k.run(*n("delete", "cm", "held", "--wait=false"))
    expect(k.run(*n("get", "cm", "held", "-o", "yaml")).out, "deletionTimestamp")
    k.run(*n("patch", "cm", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'))
    gone(k, cluster, "cm", "--field-selector=metadata.name=held")


@check
def custom_resource_rules(k, cluster):
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueConfig",
              "metadata": {"name": "twice"}, "spec": {"clusters": ["a", "a"]}}
    expect(k.try_run("create", "-f", "-", stdin=flavor).err, "is invalid", "unique")
    k.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
             "metadata": {"name": "fixed"}, "spec": {"controllerName": "example.com/a"}})
    changed = k.try_run("patch", "ac", "fixed", "--type=merge", "-p",
                        '{"spec":{"controllerName":"example.com/b"}}')
    expect(changed.err, "is invalid", "immutable")
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor",
           "metadata": {"name": "old-api"}, "spec": {}}
    k.apply(old)
    expect(k.run("get", "rf", "old-api", "-o", "yaml").out, "apiVersion: kueue.x-k8s.io/v1beta2")


@check
def namespace_goes(k, cluster):
    k.run("create", "configmap", "inside", "-n", "surface-second", "--from-literal=a=1")
    k.run("delete", "namespace", "surface-second", "--timeout=30s")
    expect(k.try_run("get", "ns", "surface-second").err, "NotFound")
