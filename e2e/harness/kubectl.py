"""kubectl as a user runs it, with a deadline."""
import json
import os
import re
import subprocess

from .waiting import slowness


class KubectlFailed(AssertionError):
    pass


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out + self.err

    def json(self):
        return json.loads(self.out)


class Kubectl:
    """`kubectl` of one program for one cluster."""

    def __init__(self, program, kubeconfig, home):
        self.program, self.kubeconfig, self.home = str(program), str(kubeconfig), str(home)
        os.makedirs(self.home, exist_ok=True)

    def try_run(self, *args, stdin=None, timeout=60):
        """Runs kubectl; the caller handles a non-zero exit."""
        command = [self.program, "--kubeconfig", self.kubeconfig, *map(str, args)]
        if stdin is not None and not isinstance(stdin, str):
            stdin = json.dumps(stdin)
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, text=True,
                                  timeout=timeout * slowness(), env=self._environment())
        except subprocess.TimeoutExpired as e:
            out = (e.stdout or b"").decode(errors="replace")[-1000:]
            raise KubectlFailed(
                f"kubectl {' '.join(map(str, args))}: no end within {timeout} s; so far: {out}") from None
        return Result(done.returncode, done.stdout, done.stderr)

    def run(self, *args, stdin=None, timeout=60):
        done = self.try_run(*args, stdin=stdin, timeout=timeout)
        if done.code != 0:
            raise KubectlFailed(f"kubectl {' '.join(map(str, args))}: exit {done.code}\n"
                                f"{done.err.strip() or done.out.strip()}")
        return done

    def start(self, *args):
        """Starts kubectl, for watches. The caller ends it."""
        return subprocess.Popen([self.program, "--kubeconfig", self.kubeconfig, *map(str, args)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                stdin=subprocess.DEVNULL, env=self._environment())

    def apply(self, *objects, args=()):
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self.run("apply", "-f", "-", *args, stdin=items)

    def create(self, *objects):
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self.run("create", "-f", "-", stdin=items)

    def _environment(self):
        # HOME: discovery caches of clusters and versions stay apart, and out of the user's home.
        return {"HOME": self.home, "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "KUBECTL_KUBERC": "false"}


def version_of(program):
    """ "v1.35.2", or None when it does not run."""
    try:
        done = subprocess.run([program, "version", "--client", "-o", "json"], capture_output=True,
                              text=True, timeout=30)
        found = re.search(r'"gitVersion":\s*"([^"]+)"', done.stdout)
        return found[1] if found else None
    except (OSError, subprocess.TimeoutExpired):
        return None
