"""Child processes with a log file each, none of which outlives the run."""
import os
import signal
import subprocess
import sys

from .waiting import slowness

# Reads "+pid" and "-pid" lines; when its input ends, whatever is still listed is killed. So nothing
# is left behind even when the run itself is killed.
GUARDIAN = r"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
alive = set()
for line in sys.stdin:
    (alive.add if line[0] == "+" else alive.discard)(int(line[1:]))
for pid in alive:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
"""


class Guardian:
    def __init__(self):
        self._child = subprocess.Popen([sys.executable, "-c", GUARDIAN], stdin=subprocess.PIPE,
                                       text=True, start_new_session=True)

    def tell(self, line):
        self._child.stdin.write(line + "\n")
        self._child.stdin.flush()

    def close(self):
        self._child.stdin.close()
        self._child.wait()


class Process:
    """One program that runs until it is stopped. Its output is appended to its log."""

    def __init__(self, guardian, name, argv, log, env=None):
        self.name, self.argv, self.log = name, [str(a) for a in argv], log
        self._guardian, self._env, self._child = guardian, env, None

    def start(self):
        assert not self.running(), f"{self.name} runs already"
        with open(self.log, "ab") as out:
            out.write(f"--- {' '.join(self.argv)}\n".encode())
            out.flush()
            self._child = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=subprocess.STDOUT, start_new_session=True,
                                           env={**os.environ, **(self._env or {})})
        self._guardian.tell(f"+{self._child.pid}")
        return self

    @property
    def pid(self):
        return self._child.pid if self._child else None

    def running(self):
        return self._child is not None and self._child.poll() is None

    def exit_code(self):
        """None while it runs or before it was started."""
        return self._child.poll() if self._child else None

    def kill(self):
        """SIGKILL: the process cannot flush anything."""
        self._signal(signal.SIGKILL)
        self._reap(10)

    def pause(self):
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def stop(self, patience=10):
        """SIGTERM; returns the exit code. Raises when it takes longer than `patience` seconds, which
        are multiplied as all deadlines are."""
        if self._child is None:
            return None
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        try:
            return self._reap(patience)
        except subprocess.TimeoutExpired as late:
            self.kill()
            raise RuntimeError(
                f"{self.name} did not end within {late.timeout:.0f} s of SIGTERM") from None

    def forget(self):
        """Called after an intended end: the process no longer counts as one that should run."""
        self._child = None

    def tail(self, lines=25):
        try:
            with open(self.log, "rb") as f:
                f.seek(max(0, os.path.getsize(self.log) - 16384))
                return f.read().decode(errors="replace").splitlines()[-lines:]
        except OSError as e:
            return [f"cannot read {self.log}: {e}"]

    def _signal(self, number):
        if self._child is not None and self._child.poll() is None:
            os.killpg(self._child.pid, number)

    def _reap(self, patience):
        if self._child is None:
            return None
        code = self._child.wait(patience * slowness())
        self._guardian.tell(f"-{self._child.pid}")
        self._child = None
        return code
