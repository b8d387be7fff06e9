"""A small API client for polling, because a kubectl process for each look would take longest."""
import base64
import http.client
import json
import os
import ssl
import threading
import urllib.parse

CORE, BATCH, KUEUE = "/api/v1", "/apis/batch/v1", "/apis/kueue.x-k8s.io/v1beta2"
# Plural -> (group version, whether it is namespaced).
KINDS = {
    "namespaces": (CORE, False), "nodes": (CORE, False), "pods": (CORE, True),
    "secrets": (CORE, True), "configmaps": (CORE, True), "events": (CORE, True),
    "serviceaccounts": (CORE, True), "jobs": (BATCH, True),
    "workloads": (KUEUE, True), "localqueues": (KUEUE, True), "clusterqueues": (KUEUE, False),
    "multikueueclusters": (KUEUE, False), "multikueueconfigs": (KUEUE, False),
    "admissionchecks": (KUEUE, False), "resourceflavors": (KUEUE, False),
    "workloadpriorityclasses": (KUEUE, False),
    "customresourcedefinitions": ("/apis/apiextensions.k8s.io/v1", False),
    "leases": ("/apis/coordination.k8s.io/v1", True),
}


class ApiError(Exception):
    def __init__(self, code, status):
        self.code, self.status = code, status
        super().__init__(f"{code} {status.get('reason', '')}: {status.get('message', '')}")


class Credentials:
    """The current user and cluster of a kubeconfig, with its inline data as files in `folder`."""

    def __init__(self, config, folder):
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = urllib.parse.urlsplit(cluster["server"])
        ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.tls = ssl.create_default_context(cadata=ca)
        self.token = user.get("token")
        if "client-certificate-data" in user:
            pair = os.path.join(folder, "api-client.pem")
            with open(pair, "wb", opener=lambda p, f: os.open(p, f, 0o600)) as out:
                out.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
                out.write(base64.b64decode(user["client-key-data"]))
            self.tls.load_cert_chain(pair)

    def connect(self, timeout):
        return http.client.HTTPSConnection(self.server.hostname, self.server.port, timeout=timeout,
                                           context=self.tls)

    def headers(self):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


class Api:
    """Requests of one cluster; safe to share between threads."""

    def __init__(self, credentials, timeout=20):
        self._credentials, self._timeout = credentials, timeout
        self._mine = threading.local()

    def request(self, method, path, body=None, content_type="application/json"):
        code, text = self.raw(method, path, body, content_type)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {"message": text[:300]}
        if code >= 300:
            raise ApiError(code, answer)
        return answer

    def raw(self, method, path, body=None, content_type="application/json"):
        headers = {**self._credentials.headers(), "Accept": "application/json",
                   "User-Agent": "regatta-e2e"}
        if body is not None:
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
            headers["Content-Type"] = content_type
        reused = getattr(self._mine, "connection", None) is not None
        try:
            return self._exchange(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            # The server may close an idle connection; only a new one tells its state.
            if not reused:
                raise
            return self._exchange(method, path, body, headers)

    def _exchange(self, method, path, body, headers):
        connection = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self._credentials.connect(self._timeout)
        self._mine.connection = None
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except BaseException:
            connection.close()
            raise
        self._mine.connection = connection
        return response.status, text

    def path(self, kind, name=None, namespace=None, query=None):
        prefix, namespaced = KINDS[kind]
        middle = f"/namespaces/{namespace}" if namespaced and namespace else ""
        tail = f"/{name}" if name else ""
        asked = "?" + urllib.parse.urlencode(query) if query else ""
        return f"{prefix}{middle}/{kind}{tail}{asked}"

    def get(self, kind, name, namespace=None):
        return self.request("GET", self.path(kind, name, namespace))

    def find(self, kind, name, namespace=None):
        """The object, or None when there is none."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as e:
            if e.code == 404:
                return None
            raise

    def list(self, kind, namespace=None, selector=None):
        query = {"labelSelector": selector} if selector else None
        return self.request("GET", self.path(kind, namespace=namespace, query=query))["items"]

    def watch(self, kind, version, seconds=30):
        """Yields events until the server ends the watch. Raises when it cannot be opened."""
        query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": seconds}
        connection = self._credentials.connect(seconds + 30)
        try:
            connection.request("GET", self.path(kind, query=query), None,
                               {**self._credentials.headers(), "User-Agent": "regatta-e2e"})
            response = connection.getresponse()
            if response.status != 200:
                raise ApiError(response.status, {"message": response.read().decode()[:300]})
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()


def condition(obj, kind):
    """The condition of that type; an empty one when there is none."""
    # A kube-apiserver answers `conditions: null` for a CRD that was just created.
    for found in obj.get("status", {}).get("conditions") or []:
        if found["type"] == kind:
            return found
    return {}


def is_true(obj, kind):
    return condition(obj, kind).get("status") == "True"
