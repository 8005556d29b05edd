"""The driver's side of a cluster, on a Ray of threads: games lost with machines, refusals, objects, calls."""

import gc
import json
import re
import sys
from types import SimpleNamespace

import pytest

from config import UserError
from plugins.cluster import cluster
from plugins.cluster import handle as cluster_handle
from plugins.cluster import pool as cluster_pool
from plugins.cluster.cluster import Cluster
from plugins.cluster.pool import ClusterPool, actors_config, backend_of
from plugins.cluster.tests.fake_actors import FakeActor
from plugins.cluster.tests.fake_ray import ActorDiedError, FakeRay
from storage.atomic_files import sha256
from support.browser import until
from support.command_line import output_of
from support.fake_workers import expected, game_of
from support.tiny_runs import tiny
from training.selfplay import game_seed
from training.worker_messages import pack
from training.worker_pool import RoundSpec, WorkersFailed

NET = b"net"


class Driver:
    """A driver of fake actors on a fake Ray; `said` and `log` are what the user reads."""

    def __init__(self, ray, folder, monkeypatch, precision="float32", **settings):
        monkeypatch.setattr(cluster, "_connect", lambda *_: ray)
        monkeypatch.setattr(cluster, "LOOK", 0.0)
        monkeypatch.setattr(cluster_handle, "ASK_AGAIN", 0.01)
        monkeypatch.setattr("plugins.cluster.actor.GATHER", 0.0)
        monkeypatch.setattr("plugins.cluster.actor.PATIENCE", 0.2)
        self.said, self.log, self.ray = [], [], ray
        self.cluster = Cluster("auto", library="openvino", precision=precision, say=self.said.append, actor=FakeActor)
        self._path = folder / "net"
        self._path.write_bytes(NET)
        self._settings = json.dumps({"folder": str(folder), **settings}).encode()
        self.pool = None

    def play(self, count, *, workers=0, side_by_side=4, stop=lambda: False):
        if self.pool is None:
            self.pool = ClusterPool(
                self.cluster, self._settings, workers=workers, side_by_side=side_by_side, log=self.log.append,
                expected=expected,
            )
        spec = RoundSpec("run", 3, 5, str(self._path), sha256(NET))
        return self.pool.play(spec, range(count), stop=stop)

    def busy(self):
        """Return the actors that play; of one whose process has ended the pool may not know yet."""
        actors = [place.handle._actor for place in self.pool._places if place.busy]
        return [actor for actor in actors if actor is not None and not actor.gone]


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Return a function (ray, **settings) -> driver; all are closed in the end."""
    made = []

    def make(ray, **settings):
        made.append(Driver(ray, tmp_path, monkeypatch, **settings))
        return made[-1]

    yield make
    for one in made:
        if one.pool is not None:
            one.pool.close()
        one.cluster.close()


def assert_all_there(records, count):
    """Each game came once, and is the one that an undisturbed worker plays."""
    assert sorted(r.index for r in records) == list(range(count))
    for record in records:
        wanted = game_of(record.index, game_seed("run", 3, record.index), NET)
        assert record.result == wanted.result and record.moves.tolist() == wanted.moves.tolist()


def test_games_come_once_each_and_nothing_is_left_after_each_round(driver):
    ray = FakeRay()
    one = driver(ray)
    for _ in range(4):
        assert_all_there(list(one.play(60)), 60)
        assert one.cluster.content is None
        gc.collect()
        assert len(ray.objects) == 0
    assert len(ray.actors) == 3 and one.log == []
    assert one.pool.counts().evaluations == 240
    assert until(lambda: all(place.handle._outgoing == [] for place in one.pool._places))


def test_at_most_two_calls_of_an_actor_are_open(driver):
    one = driver(FakeRay(), pace=0.002)
    assert_all_there(list(one.play(300)), 300)
    assert max(actor.most_open for actor in one.ray.actors) == 2


def test_lost_machines_cost_no_game_and_nobody_is_blamed_however_many_there_are(driver):
    one, found, lost = driver(FakeRay(1), pace=0.01), [], 0
    for record in one.play(120):
        found.append(record)
        if len(found) % 20 == 10 and lost < 5:
            lost += 1
            one.ray.leave(one.busy()[0].machine)
            one.ray.join(f"new{lost}")
    assert_all_there(found, 120)
    assert lost == 5 and sum("node has died" in line for line in one.log) == 5


def test_actors_whose_process_ends_again_and_again_cost_no_game(driver):
    one, found, crashed = driver(FakeRay(), pace=0.005), [], 0
    for record in one.play(200):
        found.append(record)
        if len(found) >= 15 * (crashed + 1) and crashed < 10 and one.busy():
            one.ray.crash(one.busy()[0])
            crashed += 1
    assert_all_there(found, 200)
    assert crashed == 10 and sum("the process ended" in line for line in one.log) == 10


@pytest.mark.parametrize("machine_too", [True, False])
def test_a_process_that_ended_was_lost_if_its_machine_is_gone_whatever_ray_says_first(driver, machine_too):
    one, handles, ended = driver(FakeRay(1), pace=0.01), [], ActorDiedError("the process ended")
    for record in one.play(80):
        handle = one.pool._places[0].handle
        if record.index % 16 == 5 and len(handles) < 4 and handle._actor is not None:
            handles.append(handle)
            if machine_too:
                one.ray.leave(handle._actor.machine, first=ended, then=ended)
                one.ray.join(f"new{len(handles)}")
            else:
                one.ray.crash(handle._actor)
    assert len(handles) == 4 and [handle.lost for handle in handles] == [machine_too] * 4
    assert sum("the process ended" in line for line in one.log) == 4


def test_a_frozen_actor_is_replaced_when_its_lease_is_over(driver):
    """Its silence is made long by hand: a busy machine would make that of the others long as well."""
    one, frozen = driver(FakeRay(2), pace=0.01), []

    def freeze():
        """Freeze the first worker that plays; from then on it has been silent for too long, whatever it still sent."""
        for place in one.pool._places:
            if place.busy and place.handle._actor is not None and not frozen:
                place.handle._actor.frozen = True
                frozen.append(place.handle)
            if place.handle in frozen:
                place.silent = one.pool._lease + 1
        return False

    assert_all_there(list(one.play(80, stop=freeze)), 80)
    assert len(frozen) == 1 and sum("gave no sign for" in line for line in one.log) == len(one.log) == 1


def test_a_worker_that_waits_for_a_machine_is_not_hung_and_the_user_is_told(driver, monkeypatch):
    """Its silence is made long by hand while it waits; that of a worker at work may be long on a busy machine."""
    monkeypatch.setattr(cluster, "WAITED", 0.0)
    ray, looks = FakeRay(0), []
    one = driver(ray)
    games = one.play(40)
    slots = one.cluster.slots

    def slots_later():
        looks.append(slots())
        for place in one.pool._places:
            if not ray.sizes:
                place.silent = one.pool._start + 1 if len(looks) < 5 else 0.0
        if len(looks) == 5:
            ray.join("late", 2)
        return slots()

    one.cluster.slots = slots_later
    assert_all_there(list(games), 40)
    assert "waiting for a machine" in one.said[0] and one.log == []
    assert len(one.pool._places) == 2


def test_a_late_machine_gets_workers(driver):
    one, found = driver(FakeRay(1), pace=0.01), []
    for record in one.play(120):
        found.append(record)
        if len(found) == 10:
            one.ray.join("late", 2)
    assert_all_there(found, 120)
    assert len(one.pool._places) == 3 and {"m0", "late"} <= {actor.machine for actor in one.ray.actors}


def test_a_number_of_workers_that_is_named_stays(driver):
    one = driver(FakeRay(4))
    assert_all_there(list(one.play(40, workers=2)), 40)
    assert len(one.pool._places) == 2


FOREIGN = [
    ({"sources": "x", "commit": "abc1234"}, "expected the program of this machine .*got commit abc1234; make"),
    ({"sources": "x"}, "got commit .* with other files; make the folders the same"),
    ({"python": "3.1.0"}, "expected python .* got 3.1.0; install the same"),
    ({"packages": {}}, "expected numpy .* got none; install the same"),
]


@pytest.mark.parametrize("facts, words", FOREIGN)
def test_a_machine_that_differs_is_refused_and_the_others_play(driver, facts, words):
    ray = FakeRay(0)
    ray.join("m1", 1, **facts)
    ray.join("m2", 1)
    one = driver(ray)
    while len(one.cluster._parked) + len(one.cluster._accepted) < 2:  # one may play many games before the other answers
        assert_all_there(list(one.play(30)), 30)
    assert_all_there(list(one.play(30)), 30)
    assert len(one.cluster._parked) == 1 == len(one.said)
    assert re.search(words, one.said[0]), one.said


@pytest.mark.parametrize("facts, words", FOREIGN)
def test_where_every_machine_differs_the_run_ends_with_the_reason(driver, facts, words):
    ray = FakeRay(0)
    ray.join("m1", 2, **facts)
    with pytest.raises(UserError, match=f"no machine that can play: .*{words}"):
        list(driver(ray).play(30))


def called(*messages, closed=False, sizes=None):
    """Return what `GameActor.listen` returns."""
    return pack({"sizes": sizes or [len(m) for m in messages], "closed": closed}, b"".join(messages))


HELLOS = ["", "[]", "{", "3", None, b"{}", "{}", "[" * 50_000, '{"host": 3}', "x" * (1 << 17)]
HEARD = [
    None, 3, "text", b"", b"{}", b"[]\n", b"[" * 50_000 + b"\n", pack({"kind": "alive"}), b'{"sizes": [3]}\nabc',
    called(b"abc"), called(b"abc", sizes=[2]), called(b"abc", sizes=[-1, 4]), called(b"abc", sizes=[1 << 60]),
    called(b"abc", sizes="abc"), called(pack({"kind": "game"})),
    called(pack({"kind": "failed", "text": "a", "exit_code": "x"})),
]


def played_until_one_is_refused(driver, **facts):
    """Return a driver that played until it refused the machine with these facts; another one plays all games."""
    ray = FakeRay(0)
    ray.join("m1", 1, **facts)
    ray.join("m2", 1)
    one = driver(ray)
    while not one.cluster._parked:
        assert_all_there(list(one.play(30)), 30)
    return one


@pytest.mark.parametrize("hello", HELLOS, ids=range(len(HELLOS)))
def test_a_machine_whose_facts_are_none_is_refused_and_the_others_play(driver, hello):
    one = played_until_one_is_refused(driver, hello=hello)
    assert len(one.said) == 1 and "a machine says of itself what cannot be: expected" in one.said[0]
    assert one.log == [] and len(one.said[0]) < 300


@pytest.mark.parametrize("heard", HEARD, ids=range(len(HEARD)))
def test_a_machine_that_sends_what_cannot_be_is_named_and_left_and_the_others_play(driver, heard):
    one = played_until_one_is_refused(driver, listen=heard)
    assert_all_there(list(one.play(30)), 30)
    assert one.cluster._left == {"m1"} and len(one.log) == 1 and "it is left" in one.log[0]
    assert ", process " in one.log[0] and one.log[0].split(":")[0] in one.said[0] and "plays no more" in one.said[0]


def test_where_every_machine_is_left_the_run_ends_with_the_reason(driver):
    ray = FakeRay(0)
    ray.join("m1", 4, listen=b"what?")
    with pytest.raises(UserError, match="no machine that can play: worker 1 .*expected a line of JSON"):
        list(driver(ray).play(30))


def test_bfloat16_is_for_processors_that_all_have_it_or_all_have_not(driver):
    for precision in ("bfloat16", "float32"):
        ray = FakeRay(0)
        ray.join("m1", 1, bfloat16=not cluster.facts()["bfloat16"])
        games = driver(ray, precision=precision).play(5)
        if precision == "bfloat16":
            with pytest.raises(UserError, match="--precision float32 suits all"):
                list(games)
        else:
            assert_all_there(list(games), 5)


def test_a_task_that_fails_each_time_ends_the_run_with_the_workers_words(driver):
    one = driver(FakeRay(), raises=[7])
    with pytest.raises(WorkersFailed, match="failed 3 times; the last time: RuntimeError: game 7 is broken"):
        list(one.play(20))
    assert "fake_workers.py" in "".join(one.log)


def test_a_round_that_is_left_in_the_middle_leaves_no_game_for_the_next(driver):
    one = driver(FakeRay(), pace=0.01)
    for _ in one.play(200):
        break
    assert_all_there(list(one.play(12)), 12)


def test_an_actor_has_games_for_its_batches_but_no_more_than_the_run():
    config = tiny(games_in_flight=256, backend="openvino", precision="float32")
    assert [actors_config(config, workers, 2).games_in_flight for workers in (1, 2, 100)] == [256, 128, 64]
    assert actors_config(tiny(games_in_flight=8, backend="openvino"), 100, 2).games_in_flight == 8


def test_keras_alone_is_refused_and_so_are_addresses_that_are_none():
    with pytest.raises(UserError, match="evaluate without Keras.*got keras"):
        backend_of("keras")
    assert backend_of("auto") == "openvino"
    with pytest.raises(UserError, match="expected HOST:PORT or auto, on the cluster's head, got 'ray://x:1'"):
        cluster._connect("ray://x:1", True)
    assert cluster_pool.backend_of("onnxruntime") == "onnxruntime"


def test_without_ray_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match="Ray is not installed; `pip install -r requirements-cluster.txt`"):
        cluster._connect("auto", False)


GOOD = ["auto", "head:6379", "10.0.0.1:1", "node-1.example.org:65535", "[::1]:6379", "[fe80::1%eth0]:6379"]
BAD = ["local", "", "head", ":6379", "head:", "head:0", "head:65536", "head:6379 ", "head:6379\n", "-x:1", "::1:6379",
       "[::1]", "ray://head:10001", "http://head:8265", "user@head:6379", "head:6379/x", "h\u00e9ad:1", "head:\u0663"]


def test_an_address_is_that_of_a_head_and_nothing_else_that_ray_understands(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for address in GOOD:
        cluster.check_address(address)
    for address in BAD:
        with pytest.raises(UserError, match="expected HOST:PORT or auto, on the cluster's head, got"):
            cluster.check_address(address)


def test_auto_with_an_address_in_the_environment_that_leads_elsewhere_is_refused(monkeypatch):
    for given in ("ray://head:10001", "local"):
        monkeypatch.setenv("RAY_ADDRESS", given)
        with pytest.raises(UserError, match=f"expected HOST:PORT in RAY_ADDRESS, got '{given}'; unset it"):
            cluster._connect("auto", True)
        cluster.check_address("head:6379")  # Ray then reads no other
    for given in ("", "auto", "head:6379"):
        monkeypatch.setenv("RAY_ADDRESS", given)
        cluster.check_address("auto")


@pytest.mark.parametrize("mode", [None, "", "disabled"])
@pytest.mark.parametrize(
    "command",
    [["--new"], ["match", "random", "greedy"], ["evaluate", "random", "--positions", "0", "--ladder-games", "2"]],
    ids=["train", "match", "evaluate"],
)
def test_a_cluster_is_not_joined_without_a_token_unless_an_option_says_so(monkeypatch, place, capsys, command, mode):
    joined = []
    fake = SimpleNamespace(is_initialized=lambda: False, init=lambda **how: joined.append(how) or 1 / 0)
    for name in ("ray", "ray.exceptions", "ray._private"):
        monkeypatch.setitem(sys.modules, name, fake)
    fake.exceptions = fake._private = fake
    fake.worker = SimpleNamespace()
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    words = [*command, "--game", "tictactoe", "--cluster", "head:6379"]
    code, out, err = output_of(capsys, *words)
    assert (code, out, joined) == (2, "", []) and err.count("\n") == 1
    assert f"cluster: expected RAY_AUTH_MODE=token, got {mode or ''!r}" in err and "--cluster-without-token" in err
    code, _, err = output_of(capsys, *words, "--cluster-without-token")
    assert code == 2 and len(joined) == 1 and "cluster head:6379: cannot connect (division by zero)" in err
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert output_of(capsys, *words)[0] == 2 and len(joined) == 2
