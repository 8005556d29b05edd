"""Calls put together and devices side by side: each thread gets the answers to its own positions."""

import threading
from collections import Counter

import numpy as np
import pytest

from network.pipelines import JoinedCalls, SeveralDevices, devices_of, pipeline

SHAPE = 2, 3, 1


class Device:
    """Answers by the positions alone; notes the sizes of its calls. It waits until it is let go."""

    def __init__(self):
        self.sizes, self.weights, self.threads = [], [], Counter()
        self.go, self.entered = threading.Event(), threading.Semaphore(0)
        self.fault = None
        self.name = "device"
        self.go.set()

    def load(self, weights):
        self.weights.append(weights)

    def __call__(self, planes):
        self.sizes.append(len(planes))
        self.threads[threading.get_ident()] += 1
        planes = planes.copy()
        self.entered.release()
        assert self.go.wait(60)
        if self.fault:
            raise self.fault
        return right(planes)


def right(planes):
    flat = planes.reshape(len(planes), -1).astype(np.float32)
    return flat.sum(axis=1), flat * 2


def some(count, seed):
    return np.random.default_rng(seed).integers(0, 256, (count, *SHAPE)).astype(np.uint8)


def called(predictor, batches):
    """Call from a thread for each batch; return (threads, list of what each got)."""
    found = [None] * len(batches)

    def call(i):
        try:
            found[i] = predictor(batches[i])
        except BaseException as error:
            found[i] = error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(batches))]
    for thread in threads:
        thread.start()
    return threads, found


def joined(threads):
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def until(condition):
    """Wait until a condition of other threads holds."""
    for _ in range(60_000):
        if condition():
            return
        threading.Event().wait(0.001)
    raise AssertionError("waited a minute")


def waiting(predictor):
    return predictor._open.count if predictor._open else 0


def test_calls_that_come_while_the_device_works_are_put_together():
    device = Device()
    predictor = JoinedCalls(device, most=12)
    device.go.clear()
    first, first_found = called(predictor, [some(5, 0)])
    assert device.entered.acquire(timeout=60)
    sizes = 4, 3, 5
    rest, found = called(predictor, [some(n, 1 + i) for i, n in enumerate(sizes)])
    assert device.entered.acquire(timeout=60)
    device.go.set()
    joined(first + rest)
    assert device.sizes == [5, 12]
    asked = [some(5, 0), *(some(n, 1 + i) for i, n in enumerate(sizes))]
    for got, planes in zip(first_found + found, asked, strict=True):
        for ours, expected in zip(got, right(planes), strict=True):
            np.testing.assert_array_equal(ours, expected)


def test_a_batch_that_is_full_is_evaluated_beside_others_and_the_rest_when_these_are_done():
    device = Device()
    predictor = JoinedCalls(device, most=8)
    device.go.clear()
    first, _ = called(predictor, [some(8, 0)])
    assert device.entered.acquire(timeout=60)
    rest, found = called(predictor, [some(3, i) for i in range(5)])
    for _ in range(2):  # 3 + 3, and another 3 does not fit
        assert device.entered.acquire(timeout=60)
    until(lambda: waiting(predictor) == 3)
    device.go.set()
    joined(first + rest)
    assert device.sizes == [8, 6, 6, 3]
    for i, (values, _) in enumerate(found):
        np.testing.assert_array_equal(values, right(some(3, i))[0])


def test_many_threads_get_their_own_answers_again_and_again():
    device, faults = Device(), []
    predictor = JoinedCalls(device, most=64)

    def work(seed):
        rng = np.random.default_rng(seed)
        for i in range(200):
            planes = some(int(rng.integers(1, 33)), 1000 * seed + i)
            got = predictor(planes)
            if not all(np.array_equal(a, b) for a, b in zip(got, right(planes), strict=True)):
                faults.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    joined(threads)
    assert not faults and max(device.sizes) <= 64
    assert len(predictor._spare) <= 9, "buffers are used again"


def test_an_error_reaches_every_thread_of_the_batch_and_the_next_call_is_answered():
    device = Device()
    predictor = JoinedCalls(device, most=12)
    device.go.clear()
    first, _ = called(predictor, [some(5, 0)])
    assert device.entered.acquire(timeout=60)
    rest, found = called(predictor, [some(4, 1), some(4, 2)])
    until(lambda: waiting(predictor) == 8)
    device.fault = ZeroDivisionError("the device fails")
    device.go.set()
    joined(first + rest)
    assert all(isinstance(error, ZeroDivisionError) for error in found)
    device.fault = None
    np.testing.assert_array_equal(predictor(some(4, 3))[0], right(some(4, 3))[0])


def test_a_call_of_more_than_a_batch_is_made_alone():
    device = Device()
    assert len(JoinedCalls(device, most=4)(some(9, 0))[0]) == 9 and device.sizes == [9]


def test_threads_are_shared_out_among_devices_and_keep_to_theirs():
    devices = [Device() for _ in range(3)]
    predictor, barrier = SeveralDevices(devices), threading.Barrier(6)

    def work():
        for i in range(4):
            np.testing.assert_array_equal(predictor(some(3, i))[0], right(some(3, i))[0])
            barrier.wait(60)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    joined(threads)
    assert [sorted(device.threads.values()) for device in devices] == [[4, 4]] * 3
    predictor.load([1])
    assert [device.weights for device in devices] == [[[1]]] * 3
    assert devices_of(predictor) == tuple(devices) and devices_of(devices[0]) == (devices[0],)


@pytest.mark.parametrize("count", [1, 2])
def test_a_plan_that_joins_calls_does_so_on_each_device(count):
    devices = [Device() for _ in range(count)]
    predictor = SeveralDevices(devices) if count > 1 else devices[0]
    assert pipeline(predictor, joined=1, games=32) is predictor
    made = pipeline(predictor, joined=2, games=32)
    assert len(devices_of(made)) == count and all(isinstance(d, JoinedCalls) for d in devices_of(made))
    np.testing.assert_array_equal(made(some(5, 0))[0], right(some(5, 0))[0])


# ---- Keras on several GPUs


def test_all_gpus_answer_where_several_threads_call(monkeypatch):
    pytest.importorskip("keras")
    from network import choose_predictor, keras_predictor
    from support.small_networks import make
    from support.tiny_runs import boards, trained_looking

    model = make("tictactoe")
    model.set_weights(trained_looking(model))
    planes = boards(model.game, 40)
    one = choose_predictor.make_predictor(model, backend="keras", streams=2)
    assert not isinstance(one, SeveralDevices) and not one.on_device
    monkeypatch.setattr(choose_predictor, "gpus", lambda: ["one", "two"])
    several = choose_predictor.make_predictor(model, backend="keras", streams=2)
    assert len(devices_of(several)) == 2 and several.on_device
    assert len(devices_of(choose_predictor.make_predictor(model, backend="keras"))) == 1, "one thread has one"
    if keras_predictor.BACKEND == "tensorflow":  # on a machine without a GPU, TensorFlow takes the processor for it
        monkeypatch.setattr(keras_predictor, "gpus", lambda: ["one", "two"])
        several = choose_predictor.make_predictor(model, backend="keras", streams=2)
        assert all(device.on_device and device.name == "keras tensorflow gpu" for device in devices_of(several))
    for found in (one, *devices_of(several)):
        for _ in range(2):  # the same planes are used again, with rows of the call before
            for count in (40, 3):
                for ours, right in zip(found(planes[:count]), model.predict(planes[:count]), strict=True):
                    np.testing.assert_allclose(ours, right, atol=1e-4)
