#!/usr/bin/env python3
"""clang-tidy on what changed: the sources that differ from main, and those beside a header that does.

Needs build/lint, which `./dev lint` configures. Prints the findings of .clang-tidy and exits 1 on any."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "lint"


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def base():
    """The commit that a change starts from: where it left main, or its parent."""
    head = git("rev-parse", "HEAD")
    for main in ("main", "origin/main"):
        found = git("merge-base", "HEAD", main)
        if found and found != head:
            return found
    return git("rev-parse", "HEAD~1") or head


def changed(since):
    if not git("rev-parse", "--verify", "--quiet", since + "^{commit}"):
        sys.exit(f"lint: there is no commit {since} to compare with")
    names = git("diff", "--name-only", "--diff-filter=d", since).split()
    return names + git("ls-files", "--others", "--exclude-standard").split()


def sources_of(names, known):
    """The compiled sources among the names; for a header, the source and the test beside it."""
    wanted = set()
    for name in names:
        stem, extension = os.path.splitext(name)
        candidates = [name] if extension == ".cpp" else [f"{stem}.cpp", f"{stem}_test.cpp"]
        if extension in (".cpp", ".h"):
            wanted.update(c for c in candidates if c in known)
    return sorted(wanted)


def run(name):
    command = ["clang-tidy-19", "--quiet", "-p", BUILD, name]
    if name.startswith("tests/") or name.endswith("_test.cpp"):
        # A test runs its coroutine to the end before the lambda and what it captures are gone.
        command.append("--checks=-cppcoreguidelines-avoid-capturing-lambda-coroutines")
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    report = done.stdout if done.returncode == 0 else done.stdout + done.stderr
    return name, done.returncode, report, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(prog="./dev lint")
    parser.add_argument("--all", action="store_true", help="every source, not only what changed")
    parser.add_argument("--since", metavar="COMMIT", help="what differs from this commit")
    parser.add_argument("--limit", type=float, metavar="SECONDS", default=float("inf"),
                        help="start no further source after this time, and say which were left out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", metavar="FILE", help="these, whether they changed or not")
    options = parser.parse_args()

    commands = json.loads((BUILD / "compile_commands.json").read_text())
    known = {os.path.relpath(c["file"], ROOT) for c in commands}
    if options.all:
        names = sorted(n for n in known if not n.startswith("build/") and n != "cmake/boost.cpp")
    else:
        names = sources_of(options.files or changed(options.since or base()), known)
        missing = [f for f in options.files if not sources_of([f], known)]
        if missing:
            sys.exit(f"lint: {missing[0]} is no source of this project")

    deadline = time.monotonic() + options.limit
    failed, skipped = 0, []

    def one(name):
        return run(name) if time.monotonic() < deadline else (name, None, "", 0)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, code, report, seconds in pool.map(one, names):
            if code is None:
                skipped.append(name)
                continue
            print(f"{seconds:5.1f} s  {name}" + (f"\n{report}" if report else ""), flush=True)
            failed += code != 0
    if skipped:
        print(f"left out, because the time was up: {len(skipped)} of {len(names)} sources, "
              f"from {skipped[0]} on")
    print(f"{len(names) - len(skipped)} sources, {failed} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
