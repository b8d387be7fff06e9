#!/usr/bin/env python3
"""Runs end-to-end scenarios: real processes, real kubectl.

With KUBEBUILDER_ASSETS naming a folder that holds etcd and kube-apiserver, each cluster is a pair of
those; otherwise it is Regatta's embedded API server.
"""
import argparse
import importlib
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import scenarios  # noqa: E402
from harness.suite import ROOT, SCENARIOS, Environment, Skip, Suite  # noqa: E402

SKIPPED = 77  # exit code when nothing was left to run


def parse():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=os.path.join(ROOT, "build/dev/bin/regatta"))
    options.add_argument("--lab", help="otherwise the regatta-lab beside the binary")
    options.add_argument("-k", metavar="NAME", action="append", default=[],
                         help="scenarios whose name contains NAME; =NAME for exactly that one")
    options.add_argument("--keep", action="store_true", help="keep the folder of every scenario")
    options.add_argument("--kubectl", metavar="PATH", help="instead of the pinned one")
    options.add_argument("--log-level", default="info", help="of the managers")
    options.add_argument("--repeat", type=int, default=1, metavar="N", help="run each N times")
    options.add_argument("--list", action="store_true", help="names, and nothing else")
    return options.parse_args()


def load():
    for module in sorted(m.name for m in pkgutil.iter_modules(scenarios.__path__)):
        importlib.import_module(f"scenarios.{module}")


def wanted(name, filters):
    return not filters or any(name == f[1:] if f.startswith("=") else f in name for f in filters)


def run_one(suite, name, function):
    """One of passed, failed, skipped; prints why."""
    folder = tempfile.mkdtemp(prefix=f"{name}-", dir=suite.folder)
    env = Environment(suite, folder)
    started = time.monotonic()
    outcome, note = "passed", ""
    try:
        function(env)
    except Skip as e:
        outcome, note = "skipped", str(e)
    except Exception as e:
        outcome = "failed"
        where = traceback.extract_tb(e.__traceback__)
        inside = [f for f in where if "/scenarios/" in f.filename] or where
        note = f"{type(e).__name__}: {e}\n  at {inside[-1].filename}:{inside[-1].lineno}"
        if not isinstance(e, AssertionError):
            note += "\n" + traceback.format_exc()
    if outcome == "failed":
        print(f"--- {name}: {note}", flush=True)
        env.describe_failure(sys.stdout)
    took = time.monotonic() - started
    complaints = env.close()
    if complaints and outcome == "passed":
        outcome, note = "failed", "; ".join(complaints)
        print(f"--- {name}: {note}; folder {folder}")
    if outcome != "failed" and not suite.keep:
        shutil.rmtree(folder, ignore_errors=True)
    tail = f": {note}" if outcome == "skipped" else ""
    print(f"{outcome:8}{took:6.1f} s  {name}{tail}", flush=True)
    return outcome


def main():
    options = parse()
    load()
    if options.list:
        print("\n".join(SCENARIOS))
        return 0
    chosen = {n: f for n, f in SCENARIOS.items() if wanted(n, options.k)}
    if not chosen:
        print(f"no scenario is called {' or '.join(options.k)}", file=sys.stderr)
        return 2
    binary = os.path.abspath(options.binary)
    lab = os.path.abspath(options.lab or os.path.join(os.path.dirname(binary), "regatta-lab"))
    for program in (binary, lab):
        if not os.access(program, os.X_OK):
            print(f"{program} is missing: build it first", file=sys.stderr)
            return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="regatta-e2e-")
    suite = Suite(binary, lab, options.kubectl, folder, options.keep, options.log_level)
    kind = f"kube-apiserver of {suite.assets}" if suite.assets else "embedded API servers"
    print(f"{len(chosen)} scenarios, {kind}, {suite.kubectl}", flush=True)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        for _ in range(options.repeat):
            for name, function in chosen.items():
                counts[run_one(suite, name, function)] += 1
    finally:
        suite.guardian.close()
        if not counts["failed"] and not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    if counts["failed"]:
        return 1
    return SKIPPED if counts["skipped"] and not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
