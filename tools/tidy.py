#!/usr/bin/env python3
"""House rules that a compiler cannot check. Prints `file:line: rule` and exits 1 on any."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What a folder may include, besides itself and what is below it. The longest entry that matches a
# path counts, so that a sub-folder may have a line of its own. Arrows never turn back.
BASE = {"lib/base"}
PURE = BASE | {"lib/api"}
LIB = PURE | {"lib/runtime", "lib/sim", "lib/net", "lib/kube"}
MANIFEST = {"lib/manifest"}
DECIDE = {"admission", "jobs", "placement", "dispatch", "lifecycle", "webhooks"}
CEL = {"lib/manifest/cel/program.h", "lib/manifest/schema/schema.h"}
ALLOWED = {
    "lib/base": set(),
    "lib/runtime": BASE,
    "lib/sim": BASE,
    "lib/net": BASE | {"lib/runtime"},
    "lib/api": BASE,
    "lib/kube": PURE | {"lib/runtime", "lib/net"},
    "lib/manifest": PURE,
    # What decides: no I/O, no clock, no network.
    "admission": PURE,
    "jobs": PURE,
    "jobs/integrations": PURE | {"jobs"},
    # Kinds that users describe, with expressions about their objects.
    "jobs/described": PURE | {"jobs"} | CEL,
    # Users write expressions about workers.
    "placement": PURE | {"admission"} | CEL,
    "dispatch": PURE | {"jobs", "placement"},
    "lifecycle": PURE | {"admission", "jobs"},
    "webhooks": PURE,
    "visibility": PURE | {"admission"},
    # What carries it out.
    "kubeconfig": LIB,
    "clusters": LIB | {"kubeconfig", "jobs"},
    "controllers": LIB | DECIDE | {"clusters"},
    "manager": LIB | DECIDE | {"kubeconfig", "clusters", "controllers", "visibility"} | CEL,
    # Kueue refuses expressions of device classes that do not compile.
    "manager/config": PURE | {"webhooks"} | CEL,
    "manager/metrics": PURE | {"admission", "manager/config"},
    # Where requests for waiting workloads come in.
    "visibility/server": LIB | {"admission", "visibility"},
    # Where reviews come in.
    "webhooks/server": LIB | {"webhooks"},
    # What asks: decisions over manifests, in virtual time.
    "whatif": PURE | MANIFEST | DECIDE,
    # Where the objects of a live cluster come in.
    "whatif/snapshot": LIB | {"whatif"},
    # What an operator does: registering workers, checking a fleet.
    "operate": LIB | {"kubeconfig"},
    "cli": LIB | {"kubeconfig", "manager", "operate", "whatif"},
    # The laboratory: nothing of it ships.
    "lab": LIB | MANIFEST | {"kubeconfig"},
    "lab/apiserver": LIB | MANIFEST | {"lab/terms.h"},
    "lab/cluster": LIB | MANIFEST,
    # Plays scenarios of other implementations: it sees every part that has an outcome.
    "lab/conformance": LIB | MANIFEST | DECIDE | {"whatif", "manager/config", "manager/metrics", "visibility"},
    "lab/cli": LIB | MANIFEST | {"kubeconfig", "lab"},
    "tests": None,
    "bench": None,
    "e2e": None,
}
# A kind of job is one folder below jobs/. Only the list of kinds knows them.
KIND_OF_JOB = re.compile(r"jobs/(?!integrations/)\w+/")
# Headers that only some folders may include: they are slow to compile or easy to misuse.
FIREWALL = {
    "boost/beast": {"lib/net"},
    "boost/asio/ssl": {"lib/net"},
    "openssl/": {"lib/net", "lib/base"},
    "yaml-cpp": {"lib/api", "kubeconfig"},
    "spdlog/": {"lib/base"},
    "sqlite3.h": {"lab/apiserver"},
    "re2/": {"lib/manifest/schema"},
    "boost/url": {"kubeconfig", "lib/kube", "lab/apiserver"},
    "CLI/": {"cli", "lab", "bench", "tests/sim"},
}
# Folders that are tests as a whole: nothing of them ships.
TESTS = {"tests", "bench", "e2e"}
INCLUDE = re.compile(r'#include "([\w/.]+)"')
AWAIT = re.compile(r"co_await[^;]*")
TEST_FILE = re.compile(r"_(test|bench)\.(cpp|h)$")
# clang-format does not indent what is in a namespace.
TYPE = re.compile(r"(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: :.*)?(?: \{.*)?$")
GATE = re.compile(r'\benabled\("(\w+)"\)')
LINES_MAX = 100
FUNCTION_MAX = 70


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.cpp"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return sorted(pathlib.Path(p) for p in listed if (ROOT / p).exists())


def folder_of(path):
    text = path.as_posix()
    matches = [f for f in ALLOWED if within(text, f)]
    return max(matches, key=len) if matches else None


def line_of(text, offset):
    return text[:offset].count("\n") + 1


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def may_include(folder, target):
    """`target` is the path of a header, from the root."""
    allowed = ALLOWED[folder]
    home = folder_of(pathlib.Path(target))
    if KIND_OF_JOB.match(target) and folder != "jobs/integrations" and allowed is not None:
        return False
    if allowed is None or home is None or home == folder:
        return True
    if within(home, folder):  # a part of it, unless that part sees more than the whole may
        return all(a in allowed or within(a, folder) for a in ALLOWED[home])
    return any(within(target, a) and (a == target or within(home, a)) for a in allowed)


def check_line(where, folder, test, line, bad):
    if (m := INCLUDE.match(line)) and not test and not may_include(folder, m[1]) and \
            not within(m[1], str(pathlib.Path(where).parent)):
        bad.append(f"{where}: {folder} must not include {m[1]}")
    for prefix, homes in FIREWALL.items():
        outside = not any(within(str(where), home) for home in homes)
        if line.startswith(f"#include <{prefix}") and outside and not test:
            bad.append(f"{where}: <{prefix}> belongs in {', '.join(sorted(homes))}")
    if len(line) > LINES_MAX and "http" not in line and 'R"' not in line:
        bad.append(f"{where}: longer than {LINES_MAX} columns")
    if "detached" in line and "asio" in line:
        bad.append(f"{where}: use TaskScope::spawn, not detached")
    if re.search(r"(system|steady)_clock::now\(", line) and folder not in ("lib/base", "bench") and not test:
        bad.append(f"{where}: take a Clock")
    if re.search(r"\bassert\(|<cassert>|<assert\.h>", line) and folder not in TESTS and not test:
        bad.append(f"{where}: use REGATTA_CHECK")
    if "random_device" in line and folder != "lib/base":
        bad.append(f"{where}: take an Rng")
    if re.search(r"temp_directory_path|\bTempDir\(|\bmkdtemp\(|\bmkstemp\(|\btmpnam\(", line) \
            and "temporary_folder" not in pathlib.Path(where).stem:
        bad.append(f"{where}: take a TemporaryFolder, whose name cannot be foretold")
    if test and re.search(r"\bauto&&? \w+ = \w+\([^;]*\)->", line):
        bad.append(f"{where}: copy it; what the call returns ends with the statement")
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


def check_types(path, text, types, bad):
    """Two types of one name: the linker takes the functions of either for both, and says nothing."""
    namespaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if m := re.match(r"(?:inline )?namespace\s*([\w:]*) \{$", line):
            namespaces.append(m[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif (m := TYPE.match(line)) and all(namespaces):
            name = "::".join([*namespaces, m[1]])
            first = types.setdefault(name, f"{path}:{number}")
            if not first.startswith(f"{path}:"):
                bad.append(f"{path}:{number}: {name} is also defined at {first}")


def circles(includes):
    """Groups of folders that include each other, `includes` being folder -> {folder: example}."""
    index, low, stack, found = {}, {}, [], []

    def visit(folder):
        index[folder] = low[folder] = len(index)
        stack.append(folder)
        for target in sorted(includes.get(folder, {})):
            if target not in index:
                visit(target)
            if target in stack:
                low[folder] = min(low[folder], low[target])
        if low[folder] == index[folder]:
            at = stack.index(folder)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for folder in sorted(includes):
        if folder not in index:
            visit(folder)
    return found


def check_circles(includes, bad):
    for group in circles(includes):
        arrows = [includes[a][b] for a in group for b in group if b in includes.get(a, {})]
        bad.append(f"{arrows[0]}: a circle of folders: {', '.join(group)}")
        bad.extend(f"{arrow}: part of it" for arrow in arrows[1:])


def check_gates(asked, bad):
    """A gate that is asked for is no gate without effect, and the docs list those that have one."""
    code, docs = "manager/config/feature_gates.cpp", "docs/operations.md"
    listed = re.search(r"with_effect\[\] = \{(.*?)\};", (ROOT / code).read_text(), re.S)[1]
    section = (ROOT / docs).read_text().split("### Feature gates")[1].split("\n## ")[0]
    known = re.findall(r'"(\w+)"', listed)
    told = re.findall(r"^- `(\w+)`", section, re.M)
    for gate in sorted(set(asked) - set(known)):
        bad.append(f"{asked[gate]}: the gate {gate} is not listed in {code}")
    if known != told:
        bad.append(f"{docs}: the feature gates are not those of {code}: "
                   f"{', '.join(sorted(set(known) ^ set(told)) or ['their order'])}")


def main():
    bad = []
    includes, types, gates = {}, {}, {}
    for path in sources():
        folder = folder_of(path)
        if folder is None:
            continue
        text = (ROOT / path).read_text()
        test = bool(TEST_FILE.search(path.name))
        for number, line in enumerate(text.splitlines(), 1):
            check_line(f"{path}:{number}", folder, test, line, bad)
            if (m := INCLUDE.match(line)) and not test:
                here, there = path.parent.as_posix(), pathlib.Path(m[1]).parent.as_posix()
                if here != there and there != ".":
                    includes.setdefault(here, {}).setdefault(there, f"{path}:{number}")
            if not test and within(path.as_posix(), "manager"):
                gates.update((gate, f"{path}:{number}") for gate in GATE.findall(line))
        check_text(path, text, bad)
        if not test:
            check_functions(path, text, bad)
            check_types(path, text, types, bad)
    check_circles(includes, bad)
    check_gates(gates, bad)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
