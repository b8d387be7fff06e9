"""Registry of scenarios, and their environment."""
import os
import subprocess
import traceback

from . import upstream
from .clusters import EmbeddedCluster, RealCluster
from .dump import dump, dump_cluster
from .federation import Federation
from .kubectl import version_of
from .process import Guardian

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENARIOS = {}  # in order of registration
INTEROP = set()  # the names of those that need upstream's manager


class Skip(Exception):
    """The scenario cannot run here; the text says why."""


def scenario(function):
    """Registers `function(env)` under its name. `--list` shows its doc string."""
    SCENARIOS[function.__name__] = function
    return function


def interop(function):
    """Registers a scenario that needs upstream's manager."""
    def run(env):
        if why := upstream.missing(env.suite.assets):
            raise Skip(why)
        function(env)
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    INTEROP.add(function.__name__)
    return scenario(run)


class Suite:
    """What all scenarios of a run have in common."""

    def __init__(self, binary, lab, kubectl, folder, keep, log_level):
        self.root, self.binary, self.lab = ROOT, binary, lab
        self.folder, self.keep = folder, keep
        self.log_level = log_level
        self.assets = os.environ.get("KUBEBUILDER_ASSETS") or None
        self.kubectl = kubectl or self.pinned_kubectl()
        self.guardian = Guardian()

    def cluster(self, folder, name, fleet):
        kind = RealCluster if self.assets else EmbeddedCluster
        return kind(self, folder, name, fleet)

    def system_kubectl(self):
        """A kubectl on PATH of another version than the pinned one, as (program, version)."""
        for folder in os.environ.get("PATH", "").split(":"):
            program = os.path.join(folder, "kubectl")
            if os.access(program, os.X_OK):
                version = version_of(program)
                if version and version != version_of(self.kubectl):
                    return program, version
        return None

    def pinned_kubectl(self, minor=35):
        return self.pinned("kubectl", minor)

    def pinned(self, program, minor=35):
        command = [os.path.join(ROOT, "tools/kubectl.sh"), program, str(minor)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
        return done.stdout.strip().splitlines()[-1]


class Environment:
    """The surroundings of one scenario: a folder, and clusters that are stopped afterwards."""

    def __init__(self, suite, folder):
        self.suite, self.folder, self.federation, self.lone = suite, folder, None, []

    def federate(self, **options):
        self.federation = Federation(self.suite, self.folder, **options)
        return self.federation.up()

    def cluster(self, name="lone", fleet="none", faults=None, apart=False):
        """One API server without a manager; `faults` and `apart` (nodes in a process of their own)
        are for an embedded one."""
        cluster = self.suite.cluster(self.folder, name, fleet)
        if faults:
            cluster.faults = faults
        cluster.apart = apart
        self.lone.append(cluster)
        cluster.start_server()
        return cluster

    def on_embedded_only(self, why):
        if self.suite.assets:
            raise Skip(why)

    def describe_failure(self, out):
        print(f"  folder {self.folder}", file=out)
        try:
            if self.federation:
                dump(self.federation, self.folder, out)
            for cluster in self.lone:
                dump_cluster(cluster, self.folder, out)
        except Exception:
            traceback.print_exc(file=out)

    def close(self):
        """Stops everything; returns the processes that did not end as they should."""
        complaints = self.federation.down() if self.federation else []
        for cluster in self.lone:
            complaints += cluster.stop()
        return complaints
