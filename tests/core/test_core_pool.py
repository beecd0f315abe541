"""The pool of threads: order, exceptions, signals, forks, and callers side by side."""

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from suffice import _core

# Seconds that a test waits for what ought to happen at once.
PATIENCE = 60
NONE = np.empty(0)


def run(script):
    """Run a script in a process of its own, and return what it printed."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_answers_come_in_the_order_of_the_tasks(threads):
    for number in (1, 2, 5):
        threads(number)
        assert _core.call_in_parallel(lambda i: i * i, 50) == [i * i for i in range(50)]
        assert _core.call_in_parallel(lambda i: i, 0) == []


def test_as_many_threads_as_were_asked_for_work_at_once(threads):
    for number in (3, 2, 4):
        threads(number)
        together = threading.Barrier(number)
        _core.call_in_parallel(lambda _, wait=together.wait: wait(PATIENCE), number)


def test_one_thread_is_the_calling_thread(threads):
    threads(1)
    found = _core.call_in_parallel(lambda _: threading.get_ident(), 5)
    assert set(found) == {threading.get_ident()}


@pytest.mark.parametrize("number", [1, 3])
def test_an_exception_of_a_task_is_raised_and_ends_the_others(threads, number):
    threads(number)
    began = []

    def work(task):
        began.append(task)
        if task == 3:
            raise KeyError("three")

    with pytest.raises(KeyError, match="three"):
        _core.call_in_parallel(work, 10_000)
    assert len(began) < 10_000
    assert _core.call_in_parallel(lambda i: i, 3) == [0, 1, 2]


def test_tasks_within_tasks_are_done_by_the_thread_they_are_in(threads):
    threads(3)

    def outer(_):
        return threading.get_ident(), set(
            _core.call_in_parallel(lambda _: threading.get_ident(), 4)
        )

    together = threading.Barrier(3)
    found = _core.call_in_parallel(lambda i: (together.wait(PATIENCE), outer(i))[1], 3)
    caller = threading.get_ident()
    assert all(inner == {own} for own, inner in found if own != caller)


def test_several_callers_share_the_pool(threads):
    threads(2)
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(200_000, 8)), rng.integers(0, 3, 200_000).astype(np.int32)
    origin = np.zeros((3, 8))
    wanted = [part.tobytes() for part in _core.moments(X, codes, NONE, origin)[1:]]
    wrong = []

    def call():
        for _ in range(10):
            found = [part.tobytes() for part in _core.moments(X, codes, NONE, origin)[1:]]
            if found != wanted:
                wrong.append(found)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_child_has_threads_of_its_own():
    script = """
    import os, threading, warnings
    warnings.simplefilter("ignore")
    from suffice import _core, set_threads
    set_threads(2)
    def use():
        together = threading.Barrier(2)
        _core.call_in_parallel(lambda _: together.wait(60), 2)
    use()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            use()
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    use()
    """
    assert run(script) == "7\n7\n7\n"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
@pytest.mark.parametrize("number", [1, 2])
def test_a_signal_that_raises_ends_a_long_call_and_nothing_else(number):
    script = f"""
    import signal
    import numpy as np
    from suffice import _core, set_threads
    set_threads({number})
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 50)); codes = np.zeros(len(X), np.int32)
    origin, none = np.zeros((1, 50)), np.empty(0)
    wanted = _core.moments(X, codes, none, origin)[3].tobytes()
    class Rang(Exception): pass
    def handler(*_): raise Rang
    signal.signal(signal.SIGALRM, handler)
    rang = 0
    for wait in np.linspace(.001, .05, 40):
        try:
            signal.setitimer(signal.ITIMER_REAL, wait)
            while True:  # one call may be over before the signal comes
                assert _core.moments(X, codes, none, origin)[3].tobytes() == wanted
        except Rang:
            rang += 1
    print(rang, _core.moments(X, codes, none, origin)[3].tobytes() == wanted)
    """
    assert run(script) == "40 True\n"


def test_every_thread_of_the_pool_limits_the_threads_of_libraries(threads):
    threads(3)
    seen = {}
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int)

    def limit(number):
        seen[threading.get_ident()] = number

    setter = kind(limit)
    try:
        _core.limit_libraries([ctypes.cast(setter, ctypes.c_void_p).value])
        together = threading.Barrier(3)
        idents = _core.call_in_parallel(
            lambda _: (together.wait(PATIENCE), threading.get_ident())[1], 3
        )
    finally:
        _core.limit_libraries([])
    others = set(idents) - {threading.get_ident()}
    assert len(others) == 2
    assert {seen.get(one) for one in others} == {1}


def test_rows_are_cut_by_their_shape_alone(ranges):
    ranges(150, sums=10)
    assert _core.row_ranges(500, 3, 9) == [(0, 250), (250, 500)]
    assert _core.row_ranges(500, 3, 2) == [(at, at + 100) for at in range(0, 500, 100)]
    assert _core.row_ranges(40, 3, 9) == [(0, 40)]
    assert _core.row_ranges(100, 3) == [(0, 50), (50, 100)]
    assert _core.row_ranges(0, 3) == []
