#!/usr/bin/env python3
"""House rules that a compiler cannot check. Prints `file:line: rule` and exits 1 on any."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> folders it may include besides itself. Arrows never turn back.
BASE = {"lib/base"}
LIB = BASE | {"lib/runtime", "lib/sim", "lib/net", "lib/api", "lib/kube"}
ALLOWED = {
    "lib/base": set(),
    "lib/runtime": BASE,
    "lib/sim": BASE,
    "lib/net": BASE | {"lib/runtime"},
    "lib/api": BASE,
    "lib/kube": BASE | {"lib/runtime", "lib/net", "lib/api"},
    "kubeconfig": BASE | {"lib/net", "lib/api", "lib/kube"},
    "apiserver": LIB,
    "admission": BASE | {"lib/api"},
    "clusters": LIB | {"kubeconfig"},
    "jobs": LIB | {"clusters", "admission"},
    "controllers": LIB | {"clusters", "admission", "jobs"},
    "placement": LIB | {"clusters", "admission"},
    "dispatch": LIB | {"clusters", "admission", "placement", "jobs"},
    # The pure parts of them: a simulation has neither clock nor network.
    "whatif": BASE | {"lib/api", "apiserver", "admission", "jobs", "controllers", "placement",
                      "dispatch", "sandbox"},
    # Where the objects of a live cluster come in.
    "whatif/snapshot": LIB | {"whatif"},
    "sandbox": LIB | {"kubeconfig", "apiserver"},
    "manager": None,  # the composition root sees everything
    "tests": None,
    "bench": None,
    "e2e": None,
}
# Headers that only some folders may include: they are slow to compile or easy to misuse.
FIREWALL = {
    "boost/beast": {"lib/net"},
    "boost/asio/ssl": {"lib/net"},
    "openssl/": {"lib/net", "lib/base"},
    "yaml-cpp": {"lib/api", "kubeconfig"},
    "spdlog/": {"lib/base"},
    "sqlite3.h": {"apiserver"},
    "CLI/": {"manager", "sandbox", "bench"},
}
AWAIT = re.compile(r"co_await[^;]*")
TEST_FILE = re.compile(r"_(test|bench)\.(cpp|h)$")
LINES_MAX = 100
FUNCTION_MAX = 70


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.cpp"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return sorted(pathlib.Path(p) for p in listed if (ROOT / p).exists())


def folder_of(path):
    text = path.as_posix()
    matches = [f for f in ALLOWED if text.startswith(f + "/")]
    return max(matches, key=len) if matches else None


def line_of(text, offset):
    return text[:offset].count("\n") + 1


def check_line(where, folder, test, line, bad):
    allowed = ALLOWED[folder]
    if m := re.match(r'#include "([\w/]+)/[\w.]+"', line):
        target = folder_of(pathlib.Path(m[1] + "/x.h"))
        if target and target != folder and allowed is not None and not test and target not in allowed:
            bad.append(f"{where}: {folder} must not include {target}")
    for prefix, homes in FIREWALL.items():
        if line.startswith(f"#include <{prefix}") and folder not in homes and not test:
            bad.append(f"{where}: <{prefix}> belongs in {', '.join(sorted(homes))}")
    if len(line) > LINES_MAX and "http" not in line and 'R"' not in line:
        bad.append(f"{where}: longer than {LINES_MAX} columns")
    if "detached" in line and "asio" in line:
        bad.append(f"{where}: use TaskScope::spawn, not detached")
    if re.search(r"(system|steady)_clock::now\(", line) and folder not in ("lib/base", "bench") and not test:
        bad.append(f"{where}: take a Clock")
    if "random_device" in line and folder != "lib/base":
        bad.append(f"{where}: take an Rng")
    if re.search(r"\bTODO\b|\bFIXME\b|\bXXX\b", line):
        bad.append(f"{where}: finish it or write it down in docs/")
    if re.search(r"\b(sleep_for|sleep_until)\(", line) and "std::this_thread" in line and folder != "e2e":
        bad.append(f"{where}: no real sleeping; wait on a Clock")


def check_text(path, text, bad):
    for m in AWAIT.finditer(text):
        expression = re.sub(r'"(\\.|[^"\\])*"', '""', m[0].split("{\n")[0])
        if re.search(r"\[[^\]]*[&=\w][^\]]*\]\s*[({]", expression):
            bad.append(f"{path}:{line_of(text, m.start())}: no capturing lambda inside co_await; name it first")
    if path.suffix == ".h" and "#pragma once" not in text:
        bad.append(f"{path}:1: #pragma once")
    if not text.endswith("\n"):
        bad.append(f"{path}:{line_of(text, len(text))}: no newline at the end")


def check_functions(path, text, bad):
    """Functions at namespace scope or in a class: from an unindented signature to its `}`."""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if start is None and re.match(r"^[A-Za-z_].*\)[^;]*\{$|^    .*\)[^;]*\{$", line) and \
                not line.startswith(("namespace", "struct", "class", "enum", "if", "for", "while")) and \
                (line[0] != " "):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > FUNCTION_MAX:
                bad.append(f"{path}:{start}: function of {number - start + 1} lines, at most {FUNCTION_MAX}")
            start = None


def main():
    bad = []
    for path in sources():
        folder = folder_of(path)
        if folder is None:
            continue
        text = (ROOT / path).read_text()
        test = bool(TEST_FILE.search(path.name))
        for number, line in enumerate(text.splitlines(), 1):
            check_line(f"{path}:{number}", folder, test, line, bad)
        check_text(path, text, bad)
        if not test:
            check_functions(path, text, bad)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
