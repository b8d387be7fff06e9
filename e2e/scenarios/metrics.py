"""What Prometheus reads."""
import contextlib
import http.client
import os
import resource
import socket
import ssl

from harness import objects
from harness.pki import make_pki
from harness.solo import Solo, cluster_queue, job as solo_job
from harness.suite import scenario
from harness.waiting import wait_for

READER = "metrics-reader"


def read(port, token=None, secure=True, tls=None):
    """(status, text) of GET /metrics."""
    if secure:
        tls = tls or ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=tls)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", "/metrics",
                           headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def accounts(*names):
    return [{"apiVersion": "v1", "kind": "ServiceAccount",
             "metadata": {"name": name, "namespace": objects.SYSTEM}} for name in names]


def reader_role(account):
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": READER},
         "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": READER},
         "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": READER},
         "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": objects.SYSTEM}]}]


@scenario
def metrics_need_a_token(env):
    """HTTPS on the metrics port: tokens, permissions, and a certificate that is replaced."""
    folder = os.path.join(env.folder, "metrics-certs")
    os.makedirs(folder)
    solo = Solo(env, metrics={"certDir": folder})
    cluster = solo.cluster
    port = cluster.metrics_port
    solo.kubectl.apply(*accounts("prometheus", "stranger"), *reader_role("prometheus"))
    allowed = cluster.token_for(objects.SYSTEM, "prometheus")
    stranger = cluster.token_for(objects.SYSTEM, "stranger")
    assert read(port)[0] == 401, "without a token"
    assert read(port, "made-up")[0] == 401
    code, text = read(port, stranger)
    assert code == 403 and "stranger" in text, (code, text)
    code, text = read(port, allowed)
    assert code == 200 and "kueue_build_info" in text, (code, text[:200])

    make_pki(folder)  # server.crt for 127.0.0.1, of ca.crt
    for name in ("tls.crt", "tls.key"):
        os.link(os.path.join(folder, name.replace("tls", "server")), os.path.join(folder, name))
    trusting = ssl.create_default_context(cafile=os.path.join(folder, "ca.crt"))
    wait_for("the certificate of the folder is used",
             lambda: read(port, allowed, tls=trusting)[0] == 200, 20, cluster.check)


@scenario
def metrics_without_tls(env):
    """metrics.secureServing: false is HTTP for all."""
    solo = Solo(env, metrics={"secureServing": False})
    code, text = read(solo.cluster.metrics_port, secure=False)
    assert code == 200 and "kueue_build_info" in text, (code, text[:200])


class Flood:
    """`pairs` pairs of clients that connect to a port, send what they have to say, and stay; fewer
    where this process may not have so many open files."""

    def __init__(self, port, pairs):
        self.port, self.sockets = port, []
        self.limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        hard = self.limits[1]
        may_have = pairs if hard == resource.RLIM_INFINITY else (hard - 1024) // 2
        self.pairs = min(pairs, may_have)

    def __enter__(self):
        soft, hard = self.limits
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(2 * self.pairs + 1024, soft), hard))
        return self

    def __exit__(self, *_):
        for client in self.sockets:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, self.limits)

    def send(self, text, body_max=0):
        """One more client."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.sockets.append(client)
        client.setblocking(False)
        left = text.encode() + b"x" * body_max
        with contextlib.suppress(BlockingIOError, ConnectionError):  # it is full, or was closed
            while left:
                left = left[client.send(left):]


def resident_mb(pid):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def growth_max_mb(binary):
    """AddressSanitizer keeps 256 MB of what was freed, and what it notes of it."""
    with open(binary, "rb") as f:
        return 512 if b"__asan_init" in f.read() else 64


@scenario
def metrics_port_in_a_flood(env):
    """4,096 clients that send bodies to the metrics port, and as many that send half of a request:
    the leader keeps its Lease and its memory, starts jobs, and still tells its metrics."""
    solo = Solo(env, metrics={"secureServing": False},
                leaderElection={"leaderElect": True, "leaseDuration": "6s", "renewDeadline": "4s",
                                "retryPeriod": "500ms"})
    solo.queues(cluster_queue("cq", 8))
    cluster = solo.cluster

    def lease():
        held = solo.api.find("leases", "c1f6bfd2.kueue.x-k8s.io", objects.SYSTEM)["spec"]
        return held["holderIdentity"], held.get("leaseTransitions", 0)
    before, pid = lease(), cluster.processes["manager"].pid
    memory = resident_mb(pid)
    most = memory
    with Flood(cluster.metrics_port, 4096) as flood:
        for i in range(flood.pairs):
            flood.send(f"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: {3 << 20}\r\n\r\n",
                       body_max=1 << 18)
            flood.send("POST /metrics HTTP/1.1\r\nContent-")
            if i == flood.pairs // 2:
                solo.submit(solo_job("amid", "cq"))
            most = max(most, resident_mb(pid)) if i % 64 == 0 else most
        solo.wait_running("amid")
        assert read(cluster.metrics_port, secure=False)[0] == 200
        most = max(most, resident_mb(pid))
    said = f"{2 * flood.pairs} clients: {memory:.0f} MB before, {most:.0f} at most"
    print(f"           {said}")
    assert lease() == before
    assert most < memory + growth_max_mb(env.suite.binary), said


@scenario
def metrics_of_workers(env):
    """A hub's series about its workers, from a Job that races and a worker that goes away."""
    fed = env.federate(workers=("h100", "cpu"), hub_config={"metrics": {"secureServing": False}})
    names = fed.submit(objects.job("measured"))
    fed.wait_complete(names)
    fed.wait_workers_empty()
    winner = fed.ran_on("measured")[0]

    def sample(name, cluster):
        """The sum of the samples of that metric for the worker; None without any."""
        _, text = read(fed.hub.metrics_port, secure=False)
        found = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                 if line.startswith(f"regatta_worker_{name}{{") and f'cluster="{cluster}"' in line]
        return sum(found) if found else None

    def counted():
        for cluster in fed.workers:
            assert sample("connected", cluster) == 1, cluster
            assert sample("nomination_wait_time_seconds_count", cluster) == 1, cluster
            assert sample("requests_total", cluster) > 3, cluster
        # The other one may have been spared.
        assert sample("removed_objects_total", winner) == 2, "the job and the copy"
        assert sample("admission_wait_time_seconds_count", winner) == 1
        assert sample("start_wait_time_seconds_count", winner) == 1
        return True
    fed.wait_for("the hub has counted", counted, 20)
    fed.workers["cpu"].kill_server()
    fed.wait_for("cpu is not connected", lambda: sample("connected", "cpu") == 0, 30)
    fed.hub.kubectl.run("delete", "multikueuecluster", "cpu")
    fed.wait_for("cpu has no series", lambda: sample("requests_total", "cpu") is None, 30)
