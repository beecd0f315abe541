"""How many threads anything of ours uses, and one thread of BLAS inside our calls.

Rows are shared out to threads of our own (`kernels.ranges`). BLAS then has nothing to gain from
threads inside them, and much to lose: its threads wait for each other at each product, and on a
machine that has other work one of them is always late.
"""

from __future__ import annotations

import inspect
import operator
import os
import sys
from contextlib import ContextDecorator
from threading import Lock, local
from types import FunctionType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from suffice.errors import InputError

__all__ = ["get_threads", "set_threads"]

VARIABLE = "SUFFICE_THREADS"

C = TypeVar("C", bound=type)


class _Limit:
    """The number of threads that was asked for; no number means one a core."""

    def __init__(self) -> None:
        self.known = False
        self.threads: int | None = None

    def read(self) -> int | None:
        """Return the number, from the environment if nobody has set it yet."""
        if not self.known:
            text = os.environ.get(VARIABLE, "").strip()
            if text and not (text.isascii() and text.isdigit() and int(text) >= 1):
                raise InputError(
                    f"The environment variable {VARIABLE} is {text!r}, which is no whole number "
                    "of at least 1. Set it to a number of threads, or unset it to use every core."
                )
            self.threads, self.known = int(text) if text else None, True
        return self.threads

    def write(self, threads: int | None) -> None:
        """Take a number, and leave it to processes that are started from now on."""
        if threads is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = str(threads)
        self.threads, self.known = threads, True


_limit = _Limit()


def set_threads(n: int | None) -> None:
    """Set how many threads any call of this package uses, from the next call on.

    Processes started afterwards inherit it. Results do not depend on it.

    Parameters
    ----------
    n : int or None
        At least 1; None for as many as the cores that this process may use, the default unless
        the environment variable `SUFFICE_THREADS` says otherwise.

    Examples
    --------
    >>> import suffice
    >>> suffice.set_threads(1)
    >>> suffice.get_threads()
    1
    >>> suffice.set_threads(None)
    """
    if n is not None:
        n = _whole(n)
    _limit.write(n)


def _whole(n: Any) -> int:
    """Return a number of threads, or refuse it."""
    try:
        threads = 0 if isinstance(n, bool) else operator.index(n)
    except TypeError:
        threads = 0
    if threads < 1:
        raise InputError(
            f"Threads are a whole number of at least 1, but set_threads was given {n!r}. Give a "
            "number, or None for one thread a core."
        )
    return threads


def get_threads() -> int:
    """Return how many threads a call of this package uses at most.

    That is the number given to `set_threads`, or else the one in the environment variable
    `SUFFICE_THREADS` when it was first needed, or else the cores that this process may use.
    """
    return _limit.read() or _cores()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _OneBlasThread(ContextDecorator):
    """While any thread is inside, BLAS multiplies on the thread that calls it.

    BLAS knows one limit for the whole process, so entries are counted: the first one lowers it
    and the last one to leave puts back what was there, unless somebody else has set it meanwhile.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries = 0
        self._mine = local()
        self._controllers: list[Any] = []
        self._searched_with_scipy: bool | None = None
        self._before: dict[str, tuple[Any, int]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._after_fork,
            )

    def __enter__(self) -> None:
        with self._lock:
            for library in self._libraries():
                if library.filepath not in self._before:
                    self._before[library.filepath] = library, library.get_num_threads()
                    library.set_num_threads(1)
            self._entries += 1
            self._mine.entries = getattr(self._mine, "entries", 0) + 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entries -= 1
            self._mine.entries -= 1
            if self._entries == 0:
                self._restore()

    def on_this_thread(self) -> None:
        """Limit BLAS on a new thread: that of OpenMP knows a limit for each thread."""
        for library in self._controllers:
            library.set_num_threads(1)

    def _libraries(self) -> list[Any]:
        """Return what numpy and scipy multiply with; to look for it takes milliseconds."""
        with_scipy = "scipy.linalg" in sys.modules
        if with_scipy is not self._searched_with_scipy:
            found = ThreadpoolController().select(user_api="blas").lib_controllers
            self._controllers = [one for one in found if one.get_num_threads() is not None]
            self._searched_with_scipy = with_scipy
        return self._controllers

    def _restore(self) -> None:
        for library, threads in self._before.values():
            if threads != 1 and library.get_num_threads() == 1:
                library.set_num_threads(threads)
        self._before.clear()

    def _after_fork(self) -> None:
        """Forget entries of threads that the new process does not have."""
        self._entries = getattr(self._mine, "entries", 0)
        if self._entries == 0:
            self._restore()
        self._lock.release()


one_blas_thread = _OneBlasThread()


def with_one_blas_thread(owner: C) -> C:
    """Let every public method and property of a class run inside `one_blas_thread`.

    Methods that it inherits from other classes of ours are covered, those of other libraries not.
    """
    for name in dir(owner):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(owner, name)
        if isinstance(member, property) and member.fget is not None and _is_ours(member.fget):
            setattr(owner, name, member.getter(one_blas_thread(member.fget)))
        elif isinstance(member, classmethod) and _is_ours(member.__func__):
            setattr(owner, name, classmethod(one_blas_thread(member.__func__)))
        elif _is_ours(member):
            setattr(owner, name, one_blas_thread(member))
    return owner


def _is_ours(member: Any) -> bool:
    return isinstance(member, FunctionType) and member.__module__.startswith("suffice.")
