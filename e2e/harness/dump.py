"""Writes what there is to read after a failed scenario."""
import json
import os

KINDS = ("jobs", "workloads", "clusterqueues", "localqueues", "admissionchecks",
         "multikueueclusters", "multikueueconfigs", "resourceflavors", "pods", "events")

TALKATIVE = ("etcd", "apiserver")  # of real servers: long lines about little


def dump(federation, folder, out):
    """Writes every object into files of `folder` and says on `out` where to look."""
    for cluster in federation.clusters:
        dump_cluster(cluster, folder, out)
    for name, observer in federation.observers.items():
        path = os.path.join(folder, f"history-{name}.txt")
        with open(path, "w") as f:
            f.writelines(" ".join(map(str, line)) + "\n" for line in observer.history)
    print(f"  objects and job histories: {folder}/dump-*.json, history-*.txt", file=out)


def dump_cluster(cluster, folder, out):
    print(f"  {cluster.name} ({cluster.url()})", file=out)
    _processes(cluster, out)
    for kind in KINDS:
        try:
            items = cluster.api.list(kind)
        except Exception as e:
            print(f"    {kind}: {type(e).__name__}: {str(e)[:200]}", file=out)
            continue
        path = os.path.join(folder, f"dump-{cluster.name}-{kind}.json")
        with open(path, "w") as f:
            json.dump(items, f, indent=1)
        for item in items[:24] if kind in ("jobs", "workloads", "multikueueclusters") else []:
            print(f"    {kind}/{item['metadata']['name']}: {summary(item)}", file=out)


def summary(item):
    status = item.get("status", {})
    conditions = " ".join(f"{c['type']}={c['status']}({c.get('reason', '')}: {c.get('message', '')[:90]})"
                          for c in status.get("conditions", []))
    checks = " ".join(f"check {c['name']}={c['state']} {c.get('message', '')[:90]}"
                      for c in status.get("admissionChecks", []))
    rest = {k: status[k] for k in ("clusterName", "nominatedClusterNames", "active", "succeeded",
                                   "failed") if k in status}
    suspended = " suspended" if item.get("spec", {}).get("suspend") else ""
    return f"{rest}{suspended}{kept_by(item['metadata'])} {checks} {conditions}"


def kept_by(metadata):
    """What an object hangs on: its owners, and when it is being deleted, its finalizers."""
    owners = [f"{o['kind']} {o['name']} {o['uid']}" for o in metadata.get("ownerReferences", [])]
    said = f" owned by {', '.join(owners)}" if owners else ""
    if "deletionTimestamp" in metadata:
        said += f" being deleted, finalizers {metadata.get('finalizers', [])}"
    return said


def _processes(cluster, out):
    files = sorted(f for f in os.listdir(cluster.folder) if f.endswith(".log"))
    for name in files:
        component = name.removesuffix(".log")
        process = cluster.processes.get(component)
        state = "not running" if process is None else \
            f"pid {process.pid}" if process.running() else f"ended with {process.exit_code()}"
        path = os.path.join(cluster.folder, name)
        print(f"    {component}: {state}, log {path}", file=out)
        lines = 3 if cluster.suite.assets and component in TALKATIVE else 15
        with open(path, errors="replace") as f:
            for line in f.read().splitlines()[-lines:]:
                print(f"      | {line[:400]}", file=out)
