#!/usr/bin/env python3
"""What ./dev coverage prints: for each folder the lines that tests run, and a page for each file."""
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_MEASURED = re.compile(r"(_test\.cpp$|^tests/|^build/|^bench/|^e2e/|/testing[/.])")


def folder_of(path):
    parts = path.parts[:-1]
    return "/".join(parts[:2] if parts[0] in ("lib", "lab", "whatif") else parts[:1])


def main():
    build = pathlib.Path(sys.argv[1])
    merged = build / "merged.profdata"
    profiles = sorted(str(p) for p in (build / "profiles").glob("*.profraw"))
    subprocess.run(["llvm-profdata-19", "merge", "--sparse", "-o", merged, *profiles], check=True)

    tests = sorted(p for p in build.rglob("regatta_*_test") if p.is_file())
    objects = [str(tests[0])] + [a for t in tests[1:] for a in ("-object", str(t))]
    common = [f"-instr-profile={merged}", f"-compilation-dir={ROOT}", *objects,
              "-ignore-filename-regex=(_test.cpp|/usr/|/build/)"]
    exported = subprocess.run(["llvm-cov-19", "export", "--summary-only", *common], check=True,
                              capture_output=True, text=True).stdout

    lines, covered = collections.Counter(), collections.Counter()
    for file in json.loads(exported)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if not path.is_relative_to(ROOT) or NOT_MEASURED.search(str(path.relative_to(ROOT))):
            continue
        folder = folder_of(path.relative_to(ROOT))
        lines[folder] += file["summary"]["lines"]["count"]
        covered[folder] += file["summary"]["lines"]["covered"]
    print(f"{'folder':28} {'lines':>7} {'run':>7}")
    for folder in sorted(lines):
        print(f"{folder:28} {lines[folder]:7} {100 * covered[folder] / max(1, lines[folder]):6.1f}%")
    total, run = sum(lines.values()), sum(covered.values())
    print(f"{'all':28} {total:7} {100 * run / max(1, total):6.1f}%")

    html = build / "html"
    subprocess.run(["llvm-cov-19", "show", "-format=html", f"-output-dir={html}", *common], check=True)
    print(f"file by file: {html}/index.html")


if __name__ == "__main__":
    main()
