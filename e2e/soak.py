#!/usr/bin/env python3
"""Faults at random while Jobs run: kill -9, SIGSTOP and partitions of managers and API servers.

A hub with two managers and three workers, as in the end-to-end scenarios. Each round breaks one
thing for a moment. At the end no Job may be lost, run twice, left over or stopped without need.
With KUBEBUILDER_ASSETS the API servers are etcd and kube-apiserver of that folder."""
import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness.soak import Soak  # noqa: E402
from harness.suite import ROOT, Environment, Suite  # noqa: E402


def parse():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    length = options.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, metavar="N", help="rounds for so long")
    length.add_argument("--rounds", type=int, metavar="N", help="so many rounds; default 100")
    options.add_argument("--jobs", type=int, default=200, metavar="N",
                         help="so many are unfinished at any time; default %(default)s")
    options.add_argument("--seed", type=int, help="otherwise a new one, which is printed")
    options.add_argument("--binary", default=os.path.join(ROOT, "build/dev/bin/regatta"))
    options.add_argument("--log-level", default="info", help="of the managers")
    options.add_argument("--keep", action="store_true", help="keep the folder with all logs")
    return options.parse_args()


def run(env, seed, options):
    soak = Soak(env, seed, options.jobs, lambda text: print(text, flush=True))
    if options.minutes:
        done = soak.rounds(seconds=options.minutes * 60)
    else:
        done = soak.rounds(count=options.rounds or 100)
    print("whole again; the jobs end", flush=True)
    soak.settle()
    wrong = soak.verdict()
    print(f"{done} rounds, {len(soak.names)} jobs, seed {seed}; "
          f"{soak.ended_themselves} managers ended because they had lost their Lease")
    for what, names in wrong.items():
        print(f"{'FAILED' if names else 'ok':6} {len(names)} {what} {' '.join(names[:20])}".rstrip())
    return not any(wrong.values())


def main():
    options = parse()
    binary = os.path.abspath(options.binary)
    lab = os.path.join(os.path.dirname(binary), "regatta-lab")
    for program in (binary, lab):
        if not os.access(program, os.X_OK):
            sys.exit(f"{program} is missing: build it first")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = options.seed if options.seed is not None else random.randrange(10**9)
    folder = tempfile.mkdtemp(prefix="regatta-soak-")
    suite = Suite(binary, lab, None, folder, options.keep, options.log_level)
    print(f"seed {seed}, {'kube-apiserver' if suite.assets else 'embedded API servers'}, {folder}",
          flush=True)
    env, good = Environment(suite, folder), False
    try:
        good = run(env, seed, options)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    finally:
        if not good:
            env.describe_failure(sys.stdout)
        complaints = env.close()
        suite.guardian.close()
    print("\n".join(complaints))
    if good and not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good and not complaints else 1


if __name__ == "__main__":
    sys.exit(main())
