"""Faults at random, one after the other, while Jobs run: what must hold all the same."""
import functools
import random
import time

from . import objects
from .api import is_true
from .federation import Federation, in_parallel, report
from .relay import Relay
from .waiting import slowness, wait_for

SIZES = [dict(cpu="24"), dict(cpu="16", gpus=2), dict(cpu="4", parallelism=4), dict(cpu="2"),
         dict(cpu="8", parallelism=2)]
SECONDS = (1, 8)  # how long a Job runs
ENDED_ITSELF = (0, 1)  # a manager that lost its Lease, and is started again as by a Deployment


def election():
    return {"leaderElect": True, "retryPeriod": "500ms",
            "leaseDuration": f"{round(3 * slowness())}s", "renewDeadline": f"{round(2 * slowness())}s"}


class RelayedFederation(Federation):
    """The hub reaches its workers, and each manager its own API server, through relays."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.relays = {f"hub and {name}": Relay(worker.port).start()
                       for name, worker in self.workers.items()}
        for cluster in self.clusters:
            cluster.manager_kubeconfig = functools.partial(self.relayed, cluster)

    def relayed(self, cluster, component="manager"):
        relay = Relay(cluster.port).start()
        self.relays[f"{component} of {cluster.name} and its API server"] = relay
        return cluster.kubeconfig_through(relay.port, component)

    def worker_url(self, name):
        return f"https://127.0.0.1:{self.relays[f'hub and {name}'].port}"


class Soak:
    """`jobs` are unfinished at any time; the seed decides about everything else."""

    def __init__(self, env, seed, jobs, say=print):
        self.rng, self.jobs, self.say = random.Random(seed), jobs, say
        fed = RelayedFederation(env.suite, env.folder,
                                hub_config={"leaderElection": election()})
        env.federation = self.fed = fed
        self.names, self.ended_themselves = [], 0
        fed.up()
        fed.hub.start_replica("standby", fed.hub.manager_kubeconfig("standby"),
                              leaderElection=election())
        self.started = time.monotonic()
        for cluster in fed.clusters:
            cluster.check = lambda: None  # processes end here; revive() looks after them

    # --- rounds

    def rounds(self, count=None, seconds=None):
        """Rounds of faults: so many, or for so long."""
        done = 0
        while done < count if count else time.monotonic() - self.started < seconds:
            done += 1
            self.top_up()
            name, undo = self.break_something()
            lasts = self.rng.uniform(0.2, 4) * slowness() ** 0.5
            self.wait(lasts)
            undo()
            self.revive()
            place = f"[{done}/{count}]" if count else f"[{done}]"
            self.say(f"{place} {time.monotonic() - self.started:6.1f} s  {name}, {lasts:.1f} s; "
                     f"{len(self.names) - len(self.unfinished())} of {len(self.names)} jobs finished")
        return done

    def break_something(self):
        """Breaks one thing; returns what, and the function that mends it."""
        # Deaths and pauses of all processes and partitions come equally often.
        fault = self.rng.choice((self.kill_manager, self.pause, self.kill_server, self.partition))
        return fault()

    def kill_manager(self):
        cluster, component = self.rng.choice(self.managers())
        process = cluster.processes[component]
        process.kill()
        return f"kill -9 of {process.name}", process.start

    def kill_server(self):
        cluster = self.rng.choice(self.fed.clusters)
        cluster.kill_server()
        return f"kill -9 of {cluster.name} apiserver", cluster.restart_server

    def pause(self):
        cluster = self.rng.choice(self.fed.clusters)
        component = self.rng.choice([c for c in cluster.processes if c != "nodes"])
        process = cluster.processes[component]
        process.pause()
        return f"SIGSTOP of {process.name}", process.resume

    def partition(self):
        name = self.rng.choice(sorted(self.fed.relays))
        relay, cut = self.fed.relays[name], self.rng.random() < 0.5
        relay.hold()
        how = "connections cut" if cut else "delivered late"
        return f"{name} apart, {how}", lambda: relay.release(cut)

    def managers(self):
        return [(cluster, component) for cluster in self.fed.clusters
                for component in cluster.processes if component in ("manager", "standby")]

    def wait(self, seconds):
        """Time has to pass, since a fault lasts; nothing is awaited."""
        until = time.monotonic() + seconds
        wait_for("the fault has lasted", lambda: time.monotonic() >= until, seconds + 1)

    def revive(self):
        """Starts what ended by itself for a good reason; raises when something crashed."""
        for cluster, component in self.managers():
            process = cluster.processes[component]
            code = process.exit_code()
            if code is None:
                continue
            assert code in ENDED_ITSELF, f"{process.name} ended with {code}; {process.log}"
            self.ended_themselves += 1
            process.forget()
            process.start()

    # --- jobs

    def unfinished(self):
        listed = self.fed.hub.api.list("jobs", objects.NAMESPACE)
        return [j["metadata"]["name"] for j in listed if not is_true(j, "Complete")]

    def top_up(self):
        missing = self.jobs - wait_for("the hub answers", lambda: [len(self.unfinished())])[0]
        if missing <= 0:
            return
        first = len(self.names)
        made = [objects.job(f"soak-{i:05}", seconds=self.rng.randint(*SECONDS),
                            **self.rng.choice(SIZES)) for i in range(first, first + missing)]
        self.names += self.fed.submit(*made)

    # --- the end

    def settle(self):
        """All is whole again: waits until every Job has ended, and nothing is left anywhere."""
        def over():
            self.revive()
            left = self.unfinished()
            return not left or report(left[:20])
        patience = 60 + self.jobs * 2
        wait_for("all jobs are Complete", over, patience)
        self.fed.wait_workers_empty(60)

    def verdict(self):
        """How many Jobs of each kind there must be none of."""
        present = {j["metadata"]["name"]: j for j in self.fed.hub.api.list("jobs", objects.NAMESPACE)}
        observers = self.fed.observers.values()
        runs = {n: sum(o.runs(objects.NAMESPACE, n) for o in observers) for n in self.names}
        return {
            "lost": [n for n in self.names if n not in present or not is_true(present[n], "Complete")],
            "run twice": [n for n in self.names if runs[n] > 1],
            "left over": self.fed.remote_objects(),
            "stopped without need": sorted({name for o in observers for _, name in o.stopped()}),
        }
