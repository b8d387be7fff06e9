#!/usr/bin/env python3
"""Runs end-to-end scenarios: real processes, real kubectl.

With KUBEBUILDER_ASSETS naming a folder that holds etcd and kube-apiserver, each cluster is a pair of
those; otherwise it is Regatta's embedded API server. Scenarios with upstream's manager also need its
program there, called kueue.
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
from harness import upstream  # noqa: E402
from harness.suite import INTEROP, ROOT, SCENARIOS, Environment, Skip, Suite  # noqa: E402
from harness.waiting import slowness  # noqa: E402

SKIPPED = 77  # exit code when nothing was left to run
REAL = ("etcd", "kube-apiserver")  # what KUBEBUILDER_ASSETS must hold
SHOWN = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


def parse():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=os.path.join(ROOT, "build/dev/bin/regatta"))
    options.add_argument("--lab", help="otherwise the regatta-lab beside the binary")
    options.add_argument("-k", metavar="NAME", action="append", default=[],
                         help="scenarios whose name contains NAME; =NAME for exactly that one")
    options.add_argument("--only", metavar="NAME", nargs="+", default=[],
                         help="these scenarios, by their whole names")
    options.add_argument("--real", action="store_true",
                         help="refuse to run on anything but etcd and kube-apiserver")
    options.add_argument("--keep", action="store_true", help="keep the folder of every scenario")
    options.add_argument("--kubectl", metavar="PATH", help="instead of the pinned one")
    options.add_argument("--log-level", default="info", help="of the managers")
    options.add_argument("--repeat", type=int, default=1, metavar="N", help="run each N times")
    options.add_argument("--list", action="store_true", help="names of those that can run here")
    return options.parse_args()


def load():
    for module in sorted(m.name for m in pkgutil.iter_modules(scenarios.__path__)):
        importlib.import_module(f"scenarios.{module}")


def wanted(name, filters):
    return not filters or any(name == f[1:] if f.startswith("=") else f in name for f in filters)


def chosen_by(options):
    """The scenarios to run, by name; an error message instead when a name is unknown."""
    if unknown := [n for n in options.only if n not in SCENARIOS]:
        return None, f"no scenario is called {' or '.join(unknown)}; --list names them"
    filters = options.k + [f"={n}" for n in options.only]
    chosen = {n: f for n, f in SCENARIOS.items() if wanted(n, filters)}
    return chosen, None if chosen else f"no scenario is called {' or '.join(filters)}"


def no_real_servers():
    """Why there are no real servers to run on; None when there are."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    wants = "set it to a folder with the programs etcd and kube-apiserver, and with kueue, " \
            "upstream's manager, for the scenarios beside upstream"
    if not folder:
        return f"KUBEBUILDER_ASSETS is not set: {wants}"
    lacking = [p for p in REAL if not os.access(os.path.join(folder, p), os.X_OK)]
    if lacking:
        return f"KUBEBUILDER_ASSETS={folder} has no {' and no '.join(lacking)}: {wants}"
    return None


def run_one(suite, name, function, place):
    """One of passed, failed, skipped; prints why. `place`: which one of how many."""
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
    print(f"{place} {SHOWN[outcome]:8}{took:6.1f} s  {name}{tail}", flush=True)
    return outcome


def main():
    options = parse()
    load()
    chosen, wrong = chosen_by(options)
    wrong = wrong or options.real and no_real_servers()
    if wrong:
        print(wrong, file=sys.stderr)
        return 2
    if options.list:
        here = not upstream.missing(os.environ.get("KUBEBUILDER_ASSETS"))
        print("\n".join(n for n in chosen if here or n not in INTEROP))
        return 0
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
    print(f"{len(chosen)} scenarios, {kind}, {suite.kubectl}, deadlines times {slowness():g}",
          flush=True)
    outcomes = {outcome: [] for outcome in SHOWN}  # the names of the scenarios
    try:
        run_all(suite, chosen, options.repeat, outcomes)
    finally:
        suite.guardian.close()
        if not outcomes["failed"] and not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(", ".join(f"{len(names)} {outcome}" for outcome, names in outcomes.items()))
    if failed := outcomes["failed"]:
        print(f"failed: {' '.join(failed)}; their folders are in {folder}")
        return 1
    return 0 if outcomes["passed"] else SKIPPED


def run_all(suite, chosen, repeat, outcomes):
    """Runs all of them, and then all of them again."""
    turns = list(chosen.items()) * repeat
    width = len(str(len(turns)))
    for i, (name, function) in enumerate(turns, 1):
        outcome = run_one(suite, name, function, f"[{i:{width}}/{len(turns)}]")
        outcomes[outcome].append(name)


if __name__ == "__main__":
    sys.exit(main())
