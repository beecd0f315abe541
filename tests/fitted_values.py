"""What was fitted is one value: interruptions leave the old one, and readers see one of the two."""

import sys
import threading
from pathlib import Path

import suffice
from interruptions import interrupt_at

HOME = Path(suffice.__file__).parent


class PassThrough:
    """Stands in for `one_blas_thread`, whose own state an interruption must not leave wrong."""

    def __enter__(self):
        self.inside = True

    def __exit__(self, *_):
        self.inside = False


def files_of(*packages):
    """Return the files of these packages, and this one, for its lines of entering and leaving."""
    return {__file__} | {
        str(path) for package in packages for path in (HOME / package).rglob("*.py")
    }


def assert_unchanged_at_any_line(model, change, files, step=1):
    """Interrupt a call at each of its lines in turn (or every `step` lines), until it finishes."""
    before, lines = dict(vars(model)), 0
    while interrupt_at(lambda: change(model), files, KeyboardInterrupt(), lines + 1):
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
        lines += step
    assert lines > 10
    assert vars(model)["_fitted"] is not before.get("_fitted")


def assert_read_whole(model, learn, read, states):
    """Read in this thread while another learns: every reading is of one of the states.

    Parameters
    ----------
    model : fitted
    learn : called with the model and each state, over and over
    read : returns something hashable of the model
    states : what there is to learn
    """
    known = set()
    for state in states:
        learn(model, state)
        known.add(read(model))
    assert len(known) == len(states)
    done, errors = threading.Event(), []

    def write():
        try:
            for turn in range(200):
                learn(model, states[turn % len(states)])
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        writer = threading.Thread(target=write)
        writer.start()
        reads = 0
        while not done.is_set() or not reads:
            assert read(model) in known
            reads += 1
        writer.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
