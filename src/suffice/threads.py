"""How many threads anything of ours uses, and one thread of BLAS inside our calls.

Rows are shared out to threads of our own (`src/core/threads.cpp`). BLAS then has nothing to gain
from threads inside them, and much to lose: its threads wait for each other at each product, and on
a machine that has other work one of them is always late.
"""

from __future__ import annotations

import ctypes
import inspect
import operator
import os
import sys
from collections.abc import Callable
from functools import wraps
from threading import Lock, local
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from threadpoolctl import ThreadpoolController

from suffice import _core
from suffice.errors import InputError

__all__ = ["get_threads", "set_threads"]

VARIABLE = "SUFFICE_THREADS"

C = TypeVar("C", bound=type)
P = ParamSpec("P")
R = TypeVar("R")


class _Limit:
    """The number of threads that was set; no number means one a core."""

    def __init__(self) -> None:
        self.known = False
        self.threads: int | None = None

    def read(self) -> int | None:
        """Return the number, from the environment if it was not set yet."""
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
        _core.set_threads(threads or 0)


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

    Examples
    --------
    >>> import suffice
    >>> suffice.get_threads() >= 1
    True
    """
    return _limit.read() or _cores()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Library(NamedTuple):
    """A library for matrices: how to get and set its number of threads.

    With OpenMP each thread of the process has a limit of its own, otherwise the process has one.
    """

    get: Callable[[], int]
    set: Callable[[int], object]
    per_thread: bool

    @classmethod
    def of(cls, controller: Any) -> Self:
        """Return the library of a controller.

        OpenBLAS is called directly: of threads that set its limit, threadpoolctl serves one at a
        time, and ignores the others.
        """
        if controller.internal_api == "openblas":
            names = [("omp_get_max_threads", "omp_set_num_threads", True)]
            if controller.threading_layer != "openmp":
                names = [
                    (f"{a}openblas_get_num_threads{z}", f"{a}openblas_set_num_threads{z}", False)
                    for a in ("", "scipy_")
                    for z in ("", "64_", "_64")
                ]
            for get, put, per_thread in names:
                if hasattr(controller.dynlib, get) and hasattr(controller.dynlib, put):
                    return cls(
                        getattr(controller.dynlib, get), getattr(controller.dynlib, put), per_thread
                    )
        return cls(controller.get_num_threads, controller.set_num_threads, False)


class _Limits(local):
    """What one thread of the process has entered, and the limits it met that are its own."""

    def __init__(self) -> None:
        self.entries = 0
        self.before: list[tuple[_Library, int]] = []


class _OneBlasThread:
    """While any thread is inside, BLAS multiplies on the thread that calls it.

    Most libraries have one limit for the process, so entries are counted: the first one lowers it
    and the last one to leave puts back what was there, unless another was set meanwhile.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries = 0
        self._mine = _Limits()
        self._libraries: dict[str, _Library] = {}
        self._per_thread: list[_Library] = []
        self._searched_with_scipy: bool | None = None
        self._before: dict[str, tuple[_Library, int]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._after_fork,
            )

    def __enter__(self) -> None:
        if self._mine.entries and ("scipy.linalg" in sys.modules) is self._searched_with_scipy:
            self._mine.entries += 1  # this thread is inside already, and no library has been added
            return
        with self._lock:
            self._search()
            for path, library in self._libraries.items():
                if not library.per_thread and path not in self._before:
                    self._before[path] = library, library.get()
                    library.set(1)
            if self._mine.entries == 0:
                self._entries += 1
        if self._mine.entries == 0:
            self._mine.before = [(one, one.get()) for one in self._per_thread]
            self.limit_this_thread()
        self._mine.entries += 1

    def __exit__(self, *_: object) -> None:
        self._mine.entries -= 1
        if self._mine.entries:
            return
        _restore(self._mine.before)
        with self._lock:
            self._entries -= 1
            if self._entries == 0:
                self._restore_shared()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that runs inside.

        No `ContextDecorator`: its frame is not ours, and warnings would name it as the caller.
        """

        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside

    def limit_this_thread(self) -> None:
        """Lower the limits that this thread has of its own; a new thread is not inside yet."""
        for library in self._per_thread:
            library.set(1)

    def _search(self) -> None:
        """Look for the libraries that numpy and scipy have loaded, which takes milliseconds."""
        with_scipy = "scipy.linalg" in sys.modules
        if with_scipy is self._searched_with_scipy:
            return
        for one in ThreadpoolController().select(user_api="blas").lib_controllers:
            if one.filepath not in self._libraries and one.get_num_threads() is not None:
                self._libraries[one.filepath] = _Library.of(one)
        self._per_thread = [one for one in self._libraries.values() if one.per_thread]
        if self._per_thread:
            _core.limit_libraries([_address(one.set) for one in self._per_thread])
        self._searched_with_scipy = with_scipy

    def _restore_shared(self) -> None:
        _restore(list(self._before.values()))
        self._before.clear()

    def _after_fork(self) -> None:
        """Forget entries of threads that the new process does not have."""
        self._entries = min(self._mine.entries, 1)
        if self._entries == 0:
            self._restore_shared()
        self._lock.release()


def _address(function: Any) -> int:
    """Return where a function of a library is in memory."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _restore(before: list[tuple[_Library, int]]) -> None:
    """Set the limits that were there, where no others were set since."""
    for library, threads in before:
        if threads != 1 and library.get() == 1:
            library.set(threads)


one_blas_thread = _OneBlasThread()


def on_all_cores(work: Callable[..., R], tasks: list[tuple[int, int]]) -> list[R]:
    """Do `work(start, stop)` for every task and return the answers in the order of the tasks.

    Inside a thread of ours BLAS has one.
    """
    with one_blas_thread:
        return _core.call_in_parallel(lambda task: work(*tasks[task]), len(tasks))


def enters_by_itself(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a method that enters `one_blas_thread` itself, where it has more to do than that."""
    function.enters_by_itself = True  # type: ignore[attr-defined]
    return function


def with_one_blas_thread(cls: C) -> C:
    """Let every public method and property of a class run inside `one_blas_thread`.

    Methods that it inherits from other classes of ours are covered, those of other libraries not.
    """
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        if name.startswith("_") or hasattr(member, "enters_by_itself"):
            continue
        if isinstance(member, property) and member.fget is not None and _is_ours(member.fget):
            setattr(cls, name, member.getter(one_blas_thread(member.fget)))
        elif isinstance(member, classmethod) and _is_ours(member.__func__):
            setattr(cls, name, classmethod(one_blas_thread(member.__func__)))
        elif _is_ours(member):
            setattr(cls, name, one_blas_thread(member))
    return cls


def _is_ours(member: Any) -> bool:
    return isinstance(member, FunctionType) and member.__module__.startswith("suffice.")
