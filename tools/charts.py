#!/usr/bin/env python3
"""Writes charts/manifests.yaml and charts/tests/golden/*.yaml from the charts; with --check only
compares. Helm is the one that tools/kubectl.sh fetches.

A golden file is what a chart makes of charts/tests/values/CHART/*.yaml, without the
CustomResourceDefinitions: these are the same in all of them, and in manifests.yaml.
"""
import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHARTS = ROOT / "charts"
VALUES, GOLDEN = CHARTS / "tests/values", CHARTS / "tests/golden"
NAMESPACE = "kueue-system"
# What `kubectl apply -f` needs besides what Helm renders.
NAMESPACE_OBJECT = f"""---
apiVersion: v1
kind: Namespace
metadata:
  name: {NAMESPACE}
"""


@functools.cache
def helm():
    found = subprocess.run([ROOT / "tools/kubectl.sh", "helm"], capture_output=True, text=True)
    if found.returncode != 0:
        raise SystemExit(found.stderr.strip())
    return found.stdout.strip().splitlines()[-1]


class RenderFailed(Exception):
    pass


def run(*args):
    done = subprocess.run([helm(), *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RenderFailed(done.stderr.strip() or done.stdout.strip())
    return done.stdout


@functools.cache
def template(chart, *args, values=None):
    """The text of all objects. `values`: a file."""
    files = ["-f", values] if values else []
    return run("template", chart, CHARTS / chart, "--namespace", NAMESPACE, *files, *args)


def without_crds(text):
    documents = text.split("\n---\n")
    return "\n---\n".join(d for d in documents if "\nkind: CustomResourceDefinition\n" not in d)


def generated():
    """What there should be, by path."""
    made = {CHARTS / "manifests.yaml":
            "# Made by `./dev manifests` from charts/regatta with its default values. For\n"
            "# kubectl apply --server-side -f. Deleting what it has deletes every queue and Workload.\n"
            + NAMESPACE_OBJECT + template("regatta")}
    for values in sorted(VALUES.glob("*/*.yaml")):
        chart = values.parent.name
        made[GOLDEN / chart / values.name] = without_crds(template(chart, values=values))
    return made


def main():
    check = sys.argv[1:] == ["--check"]
    made = generated()
    old = [p for p in GOLDEN.glob("*/*.yaml") if p not in made]
    wrong = [p for p, text in made.items() if not p.exists() or p.read_text() != text] + old
    if check:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is not what the charts make: run ./dev manifests")
        return 1 if wrong else 0
    for path in old:
        path.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print("\n".join(f"wrote {p.relative_to(ROOT)}" for p in wrong) or "everything is current")
    return 0


if __name__ == "__main__":
    sys.exit(main())
