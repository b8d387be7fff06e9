"""Conditions with deadlines. Nothing here waits for a fixed time and hopes."""
import os
import time


class NotYet(Exception):
    """What a condition raises to say why it does not hold so far."""


class Expired(AssertionError):
    pass


class ProcessDied(AssertionError):
    """Waiting on is pointless."""


def slowness():
    """Deadlines are multiplied by it: REGATTA_E2E_SLOW=3 on a busy machine. Real API servers take
    longer for everything."""
    return float(os.environ.get("REGATTA_E2E_SLOW") or
                 ("2" if os.environ.get("KUBEBUILDER_ASSETS") else "1"))


def wait_for(what, condition, timeout=60, check=None):
    """Polls `condition` until it returns something true, which is returned. False answers and
    exceptions both mean "not yet"; the last one is part of what is raised at the deadline.
    `check` is called between the polls and may raise to give up early."""
    started = time.monotonic()
    deadline = started + timeout * slowness()
    pause = 0.02
    while True:
        try:
            found = condition()
            if found:
                return found
            last = f"last seen: {found!r}"
        except ProcessDied:
            raise
        except Exception as e:  # the deadline tells it
            last = f"last error: {type(e).__name__}: {e}"
        if time.monotonic() > deadline:
            waited = time.monotonic() - started
            raise Expired(f"not within {waited:.0f} s: {what}; {last}")
        if check:
            check()
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
