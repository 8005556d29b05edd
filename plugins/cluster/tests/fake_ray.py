"""What plugins/cluster uses of Ray, in this process: machines that join, leave and freeze, actors in threads."""

import threading
import weakref
from concurrent.futures import Future
from types import SimpleNamespace


class ActorDiedError(Exception):
    pass


class ActorUnavailableError(Exception):
    pass


class NodeDiedError(Exception):
    pass


class Ref:
    """An object in the store."""

    def __init__(self, value):
        self.value = value


class FakeRay:
    """machines: {name: cores that are free}; facts: {name: what that machine says of itself in place of the truth}."""

    exceptions = SimpleNamespace(
        ActorDiedError=ActorDiedError, ActorUnavailableError=ActorUnavailableError, NodeDiedError=NodeDiedError
    )

    def __init__(self, machines=3, cores=1):
        self.sizes, self.free, self.facts = {}, {}, {}
        self.waiting, self.actors, self.objects = [], [], weakref.WeakSet()
        self.lock = threading.RLock()
        for number in range(machines):
            self.join(f"m{number}", cores)

    # ---- what a test does

    def join(self, name, cores=1, **facts):
        with self.lock:
            self.sizes[name] = self.free[name] = cores
            self.facts[name] = {"machine": name, **facts}
        self._place()

    def leave(self, name, first=None, then=None):
        """Lose a machine with its actors: they cannot be reached at first, then they are known to be dead."""
        with self.lock:
            del self.sizes[name], self.free[name]
            lost = [actor for actor in self.actors if actor.machine == name]
        for actor in lost:
            actor.end(first or ActorUnavailableError("socket closed"), then or ActorDiedError("its node has died"))

    def crash(self, actor):
        """End an actor's process, on a machine that stays."""
        actor.end(ActorDiedError("the process ended"), ActorDiedError("the process ended"))
        self._release(actor)

    # ---- what the program calls

    def nodes(self):
        with self.lock:
            return [
                {"NodeID": name, "Alive": True, "Resources": {"CPU": float(size)}} for name, size in self.sizes.items()
            ]

    def put(self, value):
        ref = Ref(value)
        self.objects.add(ref)
        return ref

    def remote(self, **options):
        return lambda kind: SimpleNamespace(
            options=lambda num_cpus, **_: SimpleNamespace(remote=lambda: self._new(kind, num_cpus))
        )

    def kill(self, actor):
        actor.end(ActorDiedError("it was killed"), ActorDiedError("it was killed"))
        self._release(actor)

    def shutdown(self):
        pass

    # ---- inside

    def _new(self, kind, cores):
        actor = Actor(kind, cores)
        with self.lock:
            self.actors.append(actor)
            self.waiting.append(actor)
        self._place()
        return actor

    def _place(self):
        with self.lock:
            for actor in list(self.waiting):
                room = [name for name, free in self.free.items() if free >= actor.cores]
                if actor.gone or room:
                    self.waiting.remove(actor)
                if room and not actor.gone:
                    self.free[room[0]] -= actor.cores
                    actor.start(room[0], self.facts[room[0]])

    def _release(self, actor):
        with self.lock:
            machine, actor.machine = actor.machine, None
            if machine in self.free:
                self.free[machine] += actor.cores
        self._place()


class Actor:
    """An actor; its methods are called in threads, one at a time for each method."""

    def __init__(self, kind, cores):
        self.kind, self.cores, self.machine, self.frozen = kind, cores, None, False
        self.inside, self.gone, self.later = None, None, None
        self.most_open = 0
        self._calls, self._open, self._lock = [], [], threading.RLock()

    def start(self, machine, facts):
        with self._lock:
            self.machine, self.inside = machine, self.kind(facts)
            calls, self._calls = self._calls, []
        for call in calls:
            self._run(*call)

    def end(self, error, later):
        with self._lock:
            if self.gone:
                return
            self.gone, self.later = error, later
            calls, self._calls, self._open = [*self._open, *(call[2] for call in self._calls)], [], []
        for future in calls:
            if not future.done():
                future.set_exception(error)

    def __getattr__(self, name):
        if name not in ("hello", "begin", "tell", "listen"):
            raise AttributeError(name)
        return Method(self, name)

    def call(self, name, arguments):
        future = Future()
        with self._lock:
            if self.gone:
                error, self.gone = self.gone, self.later
                future.set_exception(error)
            elif self.inside is None:
                self._calls.append((name, arguments, future))
            else:
                self._run(name, arguments, future)
        return future

    def _run(self, name, arguments, future):
        if self.frozen:
            self._open.append(future)
            return
        values = [a.value if isinstance(a, Ref) else a for a in arguments]
        self._open.append(future)
        self.most_open = max(self.most_open, len(self._open))

        def run():
            try:
                found, error = getattr(self.inside, name)(*values), None
            except Exception as fault:
                found, error = None, fault
            with self._lock:
                if future not in self._open or self.frozen:
                    return
                self._open.remove(future)
            if error is None:
                future.set_result(found)
            else:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()


class Method:
    """A method of an actor as the driver sees it."""

    def __init__(self, actor, name):
        self._actor, self._method_name = actor, name

    def options(self, **_):
        return self

    def remote(self, *arguments):
        return SimpleNamespace(future=lambda: self._actor.call(self._method_name, arguments))
