"""Conditions with deadlines. Nothing here waits for a fixed time."""
import os
import time


class NotYet(Exception):
    """Raised by a condition that does not hold yet; says why."""


class Expired(AssertionError):
    pass


class ProcessDied(AssertionError):
    """A process ended, so there is nothing to wait for."""


def slowness():
    """The factor for all deadlines: REGATTA_E2E_SLOW=3 on a busy machine. Real API servers take
    longer for everything, so with them it is 5."""
    return float(os.environ.get("REGATTA_E2E_SLOW") or
                 ("5" if os.environ.get("KUBEBUILDER_ASSETS") else "1"))


def wait_for(what, condition, timeout=60, check=None):
    """Polls `condition` until it returns a true value, and returns that. False values and
    exceptions both mean "not yet"; at the deadline the last one is part of the error.
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
        except Exception as e:  # the error at the deadline has it
            last = f"last error: {type(e).__name__}: {e}"
        if time.monotonic() > deadline:
            waited = time.monotonic() - started
            raise Expired(f"not within {waited:.0f} s: {what}; {last}")
        if check:
            check()
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
