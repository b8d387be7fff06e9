"""`regatta explain`, for a job that does not start."""
import json
import os
import subprocess

from harness import objects
from harness.federation import report
from harness.suite import scenario
from harness.waiting import slowness


def explain(env, cluster, *args, env_kubeconfig=None, timeout=30):
    """Exit code, standard output, standard error."""
    command = [env.suite.binary, "explain", *args]
    if env_kubeconfig is None:
        command += ["--kubeconfig", cluster.kubeconfig()]
    variables = {**os.environ, "KUBECONFIG": env_kubeconfig or "", "HOME": env.folder}
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout * slowness(),
                          stdin=subprocess.DEVNULL, env=variables)
    return done.returncode, done.stdout, done.stderr


def write_kubeconfig(env, cluster, account):
    """Writes a kubeconfig of that service account; returns its path."""
    config = cluster.kubeconfig_with_token(cluster.token_for(objects.NAMESPACE, account))
    path = os.path.join(env.folder, f"{account}.kubeconfig")
    with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
        out.write(config if isinstance(config, str) else json.dumps(config))
    return path


def completed(env, *words):
    """The completions that bash offers for the last word."""
    script = ('source <("$0" completion bash); COMP_WORDS=(regatta "$@"); COMP_CWORD=$#; _regatta; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, env.suite.binary, *words], capture_output=True,
                          text=True, check=True)
    return done.stdout.split()


def told(env, cluster, name, *args):
    """The account of a workload, as JSON."""
    code, out, err = explain(env, cluster, "workload", f"{objects.NAMESPACE}/{name}", "-o", "json", *args)
    assert code == 0, f"exit {code}: {err}"
    return json.loads(out)


def workload_name(fed, job):
    found = fed.wait_for(f"job {job} has a Workload", lambda: fed.workload_of(job), 20)
    return found["metadata"]["name"]


def expect_standing(env, fed, job, standing):
    name = workload_name(fed, job)
    def stands():
        account = told(env, fed.hub, name)
        return account["standing"] == standing and account or report(account["summary"])
    return fed.wait_for(f"{job} is told to be {standing}", stands, 30)


@scenario
def explain_a_queue_that_is_full(env):
    """Why a job waits, which jobs must finish first, which worker runs it, and that it has ended."""
    fed = env.federate()
    # The hub has 12 GPUs in all.
    fed.submit(*[objects.job(f"busy-{i}", gpus=4, seconds=60) for i in range(3)])
    for i in range(3):
        expect_standing(env, fed, f"busy-{i}", "Admitted")
    fed.submit(objects.job("waits", gpus=4), objects.job("too-big", gpus=400))
    workload_name(fed, "too-big")
    waiting = expect_standing(env, fed, "waits", "WaitsForQuota")
    holders = {h["workload"] for p in waiting["podSets"] for f in p["flavors"]
               for h in f.get("enoughWhenFinished", [])}
    busy = {f"{objects.NAMESPACE}/{workload_name(fed, f'busy-{i}')}" for i in range(3)}
    assert holders and holders <= busy, (holders, busy)
    assert any("wait for" in step for step in waiting["nextSteps"]), waiting["nextSteps"]
    assert waiting["queue"]["of"] == 2, waiting["queue"]
    big = expect_standing(env, fed, "too-big", "ExceedsQuota")
    assert any("nominalQuota" in step for step in big["nextSteps"]), big["nextSteps"]

    running = expect_standing(env, fed, "busy-0", "Admitted")
    winner = fed.wait_winner("busy-0")
    assert running["multiKueue"]["clusterName"] == winner, running["multiKueue"]
    assert {c["name"] for c in running["multiKueue"]["clusters"]} == set(fed.workers)
    fed.hub.kubectl.run("delete", "job", "too-big", "busy-0", "busy-1", "busy-2", "-n",
                        objects.NAMESPACE)
    fed.wait_complete(["waits"], 60)
    expect_standing(env, fed, "waits", "Finished")


@scenario
def explain_command_line(env):
    """Forms of the command, what it prints, and its exit codes."""
    fed = env.federate(workers=("cpu",))
    fed.hub.kubectl.run("patch", "localqueue", "default", "-n", objects.NAMESPACE, "--type=merge",
                        "-p", json.dumps({"spec": {"stopPolicy": "Hold"}}))
    fed.submit(objects.job("held"))
    expect_standing(env, fed, "held", "LocalQueueStopped")
    name = workload_name(fed, "held")
    code, text, err = explain(env, fed.hub, "wl", name, "-n", objects.NAMESPACE)
    assert code == 0 and "is stopped" in text and "Set spec.stopPolicy" in text, text + err
    code, yaml, _ = explain(env, fed.hub, "wl", name, "-n", objects.NAMESPACE, "-o", "yaml",
                            env_kubeconfig=fed.hub.kubeconfig())
    assert code == 0 and "standing: LocalQueueStopped" in yaml, yaml
    code, out, err = explain(env, fed.hub, "workload", f"{objects.NAMESPACE}/held")
    assert code == 1 and out == "" and f"did you mean {objects.NAMESPACE}/{name}" in err, out + err
    for args in (["workload"], ["workload", "a/b/c"], ["workload", "a/b", "-o", "xml"], ["pod", "x"]):
        code, out, err = explain(env, fed.hub, *args)
        assert code == 2 and out == "" and err, (args, code, out, err)
    code, _, err = explain(env, fed.hub, "workload", "a/b", "--context", "elsewhere")
    assert code == 1 and "elsewhere" in err, err
    code, text, _ = explain(env, fed.hub, "workload", "--help", env_kubeconfig="none")
    assert code == 0 and "--context" in text and "--namespace" in text, text
    assert completed(env, "explain", "workload", "--out") == ["--output"]
    assert completed(env, "explain", "workload", "a/b", "-o", "") == ["table", "json", "yaml"]
    assert completed(env, "simulate", "-f", "x/", "--dispatcher", "inc") == ["incremental"]
    assert completed(env, "simulate", "-f", "") == [], "a file: bash's own"


@scenario
def explain_without_permission(env):
    """A user who may not read queues learns which permission is missing."""
    fed = env.federate(workers=("cpu",))
    fed.hub.kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": "looks", "namespace": objects.NAMESPACE}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
         "metadata": {"name": "looks", "namespace": objects.NAMESPACE},
         "rules": [{"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "localqueues"],
                    "verbs": ["list"]}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
         "metadata": {"name": "looks", "namespace": objects.NAMESPACE},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looks"},
         "subjects": [{"kind": "ServiceAccount", "name": "looks",
                       "namespace": objects.NAMESPACE}]})
    fed.submit(objects.job("too-big", cpu="4000"))
    name = workload_name(fed, "too-big")
    fed.wait_for("it is written why the job waits", lambda: any(
        c["type"] == "QuotaReserved" for c in fed.workload_of("too-big").get("status", {}).get(
            "conditions", [])), 30)
    path = write_kubeconfig(env, fed.hub, "looks")
    code, text, err = explain(env, fed.hub, "workload", f"{objects.NAMESPACE}/{name}",
                              env_kubeconfig=path)
    assert code == 0, err
    assert "may not list clusterqueues.kueue.x-k8s.io" in text, text
    assert "The last message about it" in text, text
    fed.hub.kubectl.run("apply", "-f", fed.example("rbac/explain.yaml"))
    fed.hub.kubectl.run("create", "clusterrolebinding", "looks", "--clusterrole=regatta-explain",
                        f"--serviceaccount={objects.NAMESPACE}:looks")

    def everything():
        _, text, _ = explain(env, fed.hub, "workload", f"{objects.NAMESPACE}/{name}",
                             env_kubeconfig=path)
        return "may not list" not in text and "more than ClusterQueue" in text or report(text)
    fed.wait_for("the role of the examples is enough", everything, 20)


@scenario
def simulate_from_a_live_cluster(env):
    """Simulates more jobs, beginning with the present objects of a cluster; nothing is written."""
    fed = env.federate(workers=("cpu",))
    worker = fed.workers["cpu"]
    fed.submit(objects.job("runs", seconds=60))
    fed.wait_running("runs")
    # The permission to list is enough, and with it nothing can be written.
    worker.kubectl.run("apply", "-f", fed.example("rbac/explain.yaml"))
    worker.kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                          "metadata": {"name": "asks", "namespace": objects.NAMESPACE}})
    worker.kubectl.run("create", "clusterrolebinding", "asks", "--clusterrole=regatta-explain",
                       f"--serviceaccount={objects.NAMESPACE}:asks")
    asks = write_kubeconfig(env, worker, "asks")
    before = {w["metadata"]["name"] for w in worker.api.list("workloads")}
    more = os.path.join(env.folder, "more.json")
    extra = objects.job("more", queue="default", managed_by=None)
    with open(more, "w") as out:
        json.dump(extra, out)
    done = subprocess.run(
        [env.suite.binary, "simulate", "--from-cluster", "--kubeconfig", asks, "-f", more,
         "--until", "2h", "-o", "json"],
        capture_output=True, text=True, timeout=60 * slowness(), stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    outcome = {w["name"]: w for w in json.loads(done.stdout)["workloads"]}
    assert before <= set(outcome), (before, set(outcome))
    finished = [w for w in outcome.values() if w["outcome"] == "finished"]
    assert len(finished) == len(outcome) == len(before) + 1, outcome
    assert {w["metadata"]["name"] for w in worker.api.list("workloads")} == before
