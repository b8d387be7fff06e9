#!/usr/bin/env python3
"""The same day of jobs on an even and an uneven fleet, once with each dispatcher.

Prints a table. With --write, keeps it and a picture in docs/.
"""
import argparse
import collections
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "examples/fleet-experiment")
WORKERS = ("ash", "birch", "cedar", "elm", "fir", "oak")
PRICES = dict(zip(WORKERS, (4, 3, 2, 2, 1, 1)))  # as in hub.yaml
END = "2026-01-02T06:00:00Z"  # of the simulation
FLEETS = {"uneven": "64, 32, 16, 8, 8 and 4 GPUs", "even": "22 GPUs each"}
DISPATCHERS = ("all-at-once", "incremental", "capacity", "cost", "spread")
COLUMNS = (
    # heading, unit, digits
    ("creation to end", "min", 1),
    ("creation to start", "min", 1),
    ("copies a job", "", 2),
    ("preemptions", "", 0),
    ("done again", "h", 1),
    ("price of a GPU hour", "", 2),
)
Numbers = collections.namedtuple("Numbers", "end start copies preemptions lost price")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def price_of(report):
    """What a GPU cost in an hour, on average over all work."""
    hours = paid = 0
    for workload in report["workloads"]:
        gpus = workload["requests"]["nvidia.com/gpu"]
        for run in workload.get("runs", []):
            if "startedAt" not in run or "endedAt" not in run:
                continue
            took = gpus * (seconds(run["endedAt"]) - seconds(run["startedAt"])) / 3600
            hours += took
            paid += took * PRICES[run["cluster"]]
    return paid / hours


def until_end(report):
    """From the creation of a job until it ended, with all that it waited and did again; mean."""
    return statistics.mean(seconds(workload.get("finishedAt", END)) - seconds(workload["createdAt"])
                           for workload in report["workloads"])


def day(number):
    """The events of a day; each has other jobs of the same kinds."""
    with open(f"{FOLDER}/day.yaml", encoding="utf-8") as events:
        return re.sub(r"seed: (\d+)", lambda seed: f"seed: {int(seed[1]) + 10 * number}",
                      events.read())


def simulate(binary, fleet, dispatcher, events):
    argv = [binary, "simulate", "-o", "json", "--until", "30h", "--dispatcher", dispatcher,
            "-f", f"{FOLDER}/hub.yaml", "--events", events]
    for name in WORKERS:
        for path in ("worker.yaml", f"{fleet}/{name}.yaml"):
            argv += ["--worker", f"{name}={FOLDER}/{path}"]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    totals = report["totals"]
    return Numbers(until_end(report) / 60, totals["waitingSecondsOfAll"]["mean"] / 60,
                   totals["copies"] / totals["submitted"], totals["preemptions"],
                   totals["lostHours"], price_of(report))


def table(results):
    lines = []
    for fleet, quotas in FLEETS.items():
        heads = [f"{fleet}: {quotas}"]
        heads += [f"{name}, {unit}" if unit else name for name, unit, _ in COLUMNS]
        lines += ["", "| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
        for dispatcher in DISPATCHERS:
            numbers = results[fleet, dispatcher]
            cells = [f"{value:.{digits}f}" for value, (_, _, digits) in zip(numbers, COLUMNS)]
            lines.append(f"| `{dispatcher}` | " + " | ".join(cells) + " |")
    return "\n".join(lines[1:]) + "\n"


def picture(results):
    """Bars for the columns that differ most, as SVG. Colours follow the reader's theme."""
    shown = (0, 2, 3, 5)
    wide, high, left, gap = 210, 16, 96, 34
    width = left + wide * len(shown)
    height = len(FLEETS) * (len(DISPATCHERS) * high + gap) + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="11">',
           "<style>text{fill:#333}.even{fill:#4878a8}.uneven{fill:#b86030}"
           "@media(prefers-color-scheme:dark){text{fill:#ddd}.even{fill:#7aa6d4}"
           ".uneven{fill:#e0925e}}</style>"]
    for at, column in enumerate(shown):
        name, unit, digits = COLUMNS[column]
        x = left + at * wide
        out.append(f'<text x="{x}" y="14" font-weight="bold">{name}'
                   f'{", " + unit if unit else ""}</text>')
        most = max(numbers[column] for numbers in results.values()) or 1
        y = 24
        for fleet in FLEETS:
            if at == 0:
                out.append(f'<text x="0" y="{y + 12}" font-weight="bold">{fleet}</text>')
            y += 18
            for dispatcher in DISPATCHERS:
                value = results[fleet, dispatcher][column]
                long = (wide - 70) * value / most
                if at == 0:
                    out.append(f'<text x="0" y="{y + 11}">{dispatcher}</text>')
                out.append(f'<rect class="{fleet}" x="{x}" y="{y + 2}" width="{long:.1f}" '
                           f'height="{high - 5}"/>')
                out.append(f'<text x="{x + long + 4:.1f}" y="{y + 11}">{value:.{digits}f}</text>')
                y += high
            y += gap - 18
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=os.path.join(ROOT, "build/release/bin/regatta"))
    options.add_argument("--write", action="store_true",
                         help="into docs/placement-experiment.md and .svg")
    options.add_argument("--days", type=int, default=10, help="how many; the numbers are means")
    given = options.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="regatta-") as folder:
        days = []
        for number in range(given.days):
            days.append(f"{folder}/{number}.yaml")
            with open(days[-1], "w", encoding="utf-8") as events:
                events.write(day(number))
        for fleet in FLEETS:
            first = None
            for dispatcher in DISPATCHERS:
                print(f"{fleet}, {dispatcher}", file=sys.stderr)
                runs = [simulate(given.binary, fleet, dispatcher, events) for events in days]
                results[fleet, dispatcher] = Numbers(*map(statistics.mean, zip(*runs)))
                first = runs if dispatcher == DISPATCHERS[0] else first
                if runs is not first:
                    sooner = sum(one.end < other.end for one, other in zip(runs, first))
                    print(f"  ended sooner than {DISPATCHERS[0]} on {sooner} of {given.days} days",
                          file=sys.stderr)
    print(table(results), end="")
    if not given.write:
        return
    page = os.path.join(ROOT, "docs/placement-experiment")
    with open(page + ".svg", "w", encoding="utf-8") as out:
        out.write(picture(results))
    with open(page + ".md", encoding="utf-8") as old:
        text = old.read()
    begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
    head, tail = text.split(begin)[0], text.split(end)[1]
    with open(page + ".md", "w", encoding="utf-8") as out:
        out.write(head + begin + table(results) + end + tail)


if __name__ == "__main__":
    main()
