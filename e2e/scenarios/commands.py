"""The commands of `regatta-lab`, as a new user types them."""
import json
import os
import signal
import subprocess
import time

from harness import objects
from harness.api import is_true
from harness.federation import report
from harness.kubectl import Kubectl
from harness.suite import scenario
from harness.waiting import ProcessDied, slowness, wait_for


class Sandbox:
    def __init__(self, env):
        self.lab, self.folder = env.suite.lab, os.path.join(env.folder, "sandbox")
        self.kubectl_program, self.home = env.suite.kubectl, os.path.join(env.folder, "home")

    def try_run(self, *args, timeout=120):
        command = [self.lab, *map(str, args), "--dir", self.folder]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout * slowness(),
                              stdin=subprocess.DEVNULL)

    def run(self, *args, timeout=120):
        done = self.try_run(*args, timeout=timeout)
        assert done.returncode == 0, f"sandbox {args[0]}: exit {done.returncode}\n{done.stdout[-1500:]}" \
                                     f"\n{done.stderr[-1500:]}"
        return done.stdout

    def status(self):
        done = self.try_run("status", "-o", "json")
        return json.loads(done.stdout), done.returncode

    def component(self, name):
        return next(c for c in self.status()[0]["components"] if c["name"] == name)

    def kubectl(self, cluster="hub"):
        """kubectl with the kubeconfig that `status` names."""
        found = next(c for c in self.status()[0]["clusters"] if c["name"] == cluster)
        return Kubectl(self.kubectl_program, found["kubeconfigs"]["admin"], self.home)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@scenario
def sandbox_commands(env):
    """up, status, rotate, restart and down, with the examples' jobs in between."""
    sandbox = Sandbox(env)
    up = sandbox.run("up")
    try:
        assert "export KUBECONFIG=" in up and "sandbox down" in up, up
        status, code = sandbox.status()
        assert code == 0 and all(c["running"] for c in status["components"]), status
        pids = [c["pid"] for c in status["components"]]
        again = sandbox.try_run("up")
        assert again.returncode == 0 or "already" in again.stderr, again.stderr
        use_sandbox(env, sandbox)
        pids += [c["pid"] for c in sandbox.status()[0]["components"]]
    finally:
        sandbox.run("down")
    left = [p for p in pids if alive(p)]
    assert not left, f"still alive after sandbox down: {left}"
    again = sandbox.try_run("down")
    assert "no sandbox in" in again.stderr, again.stderr


def use_sandbox(env, sandbox):
    hub = sandbox.kubectl()
    hub.run("create", "-f", os.path.join(env.suite.root, "examples/jobs"))
    os.kill(sandbox.component("a100-manager")["pid"], signal.SIGKILL)
    wait_for("status tells what does not run", lambda: (s := sandbox.status())[1] == 3 and not
             next(c for c in s[0]["components"] if c["name"] == "a100-manager")["running"], 10)
    sandbox.run("restart", "a100-manager")
    sandbox.run("rotate", "h100")
    hub.run("wait", "--for=condition=Complete", "job", "--all", "-A", "--timeout=60s", timeout=70)
    hub.run("wait", "--for=condition=Active", "multikueuecluster", "--all", "--timeout=30s")
    sandbox.run("restart", "cpu-apiserver")
    hub.run("create", "-f", "-", stdin=objects.job("after", namespace="team-product"))
    hub.run("wait", "-n", "team-product", "--for=condition=Complete", "job/after", "--timeout=60s",
            timeout=70)
    assert sandbox.try_run("restart", "no-such-thing").returncode != 0


@scenario
def sandbox_demo(env):
    """The demo, shortened: plain lines, a summary, exit 0, nothing left running."""
    sandbox = Sandbox(env)
    started = time.monotonic()
    said = sandbox.run("demo", "--jobs", 12)
    if not env.suite.assets:
        assert time.monotonic() - started < 60 * slowness(), "too slow"
    assert "\x1b[" not in said, "colours although this is no terminal"
    for expected in ("a100", "h100", "cpu", "p50", "p95"):
        assert expected in said, f"{expected!r} is missing in:\n{said}"
    mixed = "job,jobset,pytorchjob,rayjob,appwrapper,pod-group"
    said = sandbox.run("demo", "--jobs", 18, "--kinds", mixed)
    for expected in ("(jobset) finished", "(pod-group) finished", "18 of 18 jobs succeeded"):
        assert expected in said, f"{expected!r} is missing in:\n{said}"
    none = sandbox.try_run("demo", "--kinds", "cronjob")
    assert none.returncode != 0 and "jobset" in none.stderr, none
    check_all_ended(sandbox)


@scenario
def sandbox_demo_whose_manager_dies(env):
    """Nothing starts it again, so the demo ends with its name, and does not wait for the race."""
    sandbox = Sandbox(env)
    # Stderr is not a pipe, which could fill up and hold the demo.
    with open(os.path.join(env.folder, "demo.log"), "w+") as log:
        demo = subprocess.Popen([sandbox.lab, "demo", "--jobs", "300", "--dir", sandbox.folder],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True)

        def check():
            if demo.poll() is not None:
                raise ProcessDied(f"the demo ended early:\n{read(log.name)[-1500:]}")

        try:
            wait_for("a job to finish", lambda: ") finished" in read(log.name), 60, check)
            os.kill(sandbox.component("hub-manager")["pid"], signal.SIGKILL)
            assert demo.wait(30 * slowness()) == 1, demo.returncode
        finally:
            demo.kill()
    said = read(log.name)
    assert "hub-manager ended in mid-race" in said, said[-1500:]
    check_all_ended(sandbox)


def read(path):
    with open(path) as f:
        return f.read()


def check_all_ended(sandbox):
    kept = [p for p in os.listdir("/proc") if p.isdigit() and names_folder(p, sandbox.folder)]
    assert not kept, f"processes of the demo are left: {kept}"


def names_folder(pid, folder):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return folder.encode() in f.read() and alive(pid)
    except OSError:
        return False


@scenario
def nodes_for_any_server(env):
    """`regatta-lab nodes` beside a server without controllers: Jobs run, dependents of deleted objects
    are deleted, and a server that went away is followed again when it is back."""
    cluster = env.cluster("apart", fleet="cpu", apart=True)
    cluster.install_crds()
    cluster.kubectl.run("apply", "-f", os.path.join(env.suite.root, "examples/rbac/manager.yaml"),
                        "-f", os.path.join(env.suite.root, "examples/workers/cpu.yaml"))
    cluster.start_manager()
    cluster.wait_manager()

    def left(kind):
        return [o["metadata"]["name"] for o in cluster.api.list(kind, objects.NAMESPACE)]

    def run(name):
        cluster.kubectl.create(objects.job(name, managed_by=None))
        wait_for(f"job {name} is Complete", lambda: is_true(
            cluster.api.get("jobs", name, objects.NAMESPACE), "Complete"), 30, cluster.check)

    run("before")
    cluster.kill_server()
    cluster.restart_server()
    run("after")
    cluster.kubectl.run("delete", "jobs", "--all", "-n", objects.NAMESPACE)
    for kind in ("pods", "workloads"):
        wait_for(f"{kind} go with their jobs", lambda: not left(kind) or report(left(kind)), 30,
                 cluster.check)
    cluster.kubectl.run("delete", "namespace", objects.NAMESPACE, "--timeout=30s", timeout=40)


@scenario
def faults_by_flag(env):
    """An API server that fails on purpose from its start, until the faults are switched off."""
    env.on_embedded_only("a real API server has no faults to ask for")
    cluster = env.cluster(faults={"latencyMs": 300, "internalError": 0.0})

    def took():
        started = time.monotonic()
        cluster.api.find("namespaces", "default")
        return time.monotonic() - started

    assert took() >= 0.3, "no latency"
    code, _ = cluster.api.raw("DELETE", "/_regatta/faults")
    assert code == 200, code
    wait_for("requests are answered at once", lambda: took() < 0.3, 10)
    refused = Sandbox(env).try_run("apiserver", "--faults", '{"conflict": 2}')
    assert refused.returncode == 1 and "--faults: conflict" in refused.stderr, refused.stderr
