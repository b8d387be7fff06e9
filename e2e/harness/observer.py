"""Watches a worker from outside, so that a scenario knows afterwards what happened."""
import threading
import time

from .api import is_true


class Observer(threading.Thread):
    """Follows the Jobs of one cluster. A job that was created and deleted between two polls
    is seen here, as long as the server keeps its history."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self._stopping = cluster, threading.Event()
        self._lock = threading.Lock()
        self._known = {}  # (namespace, name) -> set of uids
        self._ran = {}  # (namespace, name) -> set of uids
        self._status = {}  # (namespace, name) -> the last status seen
        self._stopped = set()  # (namespace, name)
        self.history = []  # (time, event, key, uid, what)

    def run(self):
        while not self._stopping.is_set():
            try:
                path = self.cluster.api.path("jobs")
                listed = self.cluster.api.request("GET", path)
                for obj in listed["items"]:
                    self._note("LISTED", obj)
                version = listed["metadata"]["resourceVersion"]
                for event in self.cluster.api.watch("jobs", version, seconds=20):
                    if self._stopping.is_set():
                        return
                    if event["type"] == "ERROR":
                        break
                    self._note(event["type"], event["object"])
            except Exception as e:  # a killed server comes back
                self._remember("LOST", ("", ""), "", f"{type(e).__name__}: {e}")
            self._stopping.wait(0.05)

    def stop(self):
        self._stopping.set()

    def jobs_seen(self):
        with self._lock:
            return set(self._known)

    def jobs_started(self):
        with self._lock:
            return set(self._ran)

    def runs(self, namespace, name):
        """How many Jobs of that name started here."""
        with self._lock:
            return len(self._ran.get((namespace, name), ()))

    def stopped(self):
        """The Jobs that were suspended or deleted after their start and before their end."""
        with self._lock:
            return set(self._stopped)

    def last_status(self, namespace, name):
        """The last status of the Job of that name; it may be deleted since."""
        with self._lock:
            return self._status.get((namespace, name))

    def _note(self, event, obj):
        meta = obj["metadata"]
        key = (meta["namespace"], meta["name"])
        status = obj.get("status", {})
        over = is_true(obj, "Complete") or is_true(obj, "Failed")
        with self._lock:
            self._known.setdefault(key, set()).add(meta["uid"])
            self._status[key] = status
            if meta["uid"] in self._ran.get(key, ()) and not over and \
                    (event == "DELETED" or obj["spec"].get("suspend")):
                self._stopped.add(key)
            if status.get("startTime") or status.get("active"):
                self._ran.setdefault(key, set()).add(meta["uid"])
        what = f"suspend={obj['spec'].get('suspend')} active={status.get('active', 0)} " \
               f"succeeded={status.get('succeeded', 0)}"
        self._remember(event, key, meta["uid"], what)

    def _remember(self, event, key, uid, what):
        if len(self.history) < 100000:
            self.history.append((time.time(), event, "/".join(key), uid, what))
