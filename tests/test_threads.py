"""How many threads we use: one place to say it, one thread of BLAS inside our calls."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from joblib.externals import loky
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import suffice
from suffice import errors
from suffice.threads import _Library, _OneBlasThread, on_all_cores, one_blas_thread

PATIENCE = 60  # seconds until a test that waits for another thread fails


def blas_threads():
    """Return the largest number of threads that any library for matrices may use now."""
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


class Watched:
    """Numbers that note the threads of BLAS at the moment when somebody reads them."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.seen = self.values.shape, []

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        self.seen.append(blas_threads())
        return self.values.astype(dtype or self.values.dtype)


def rows(n, columns, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, columns)) + 0.3 * y[:, None], y


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


# ---- the number of our own threads


def test_as_many_threads_as_were_asked_for_work_at_once(threads):
    threads(3)
    assert suffice.get_threads() == 3
    together = threading.Barrier(3)
    on_all_cores(lambda start, stop: together.wait(PATIENCE), [(i, i + 1) for i in range(3)])


def test_one_thread_is_the_calling_thread(threads):
    threads(1)
    found = on_all_cores(lambda start, stop: threading.get_ident(), [(0, 1), (1, 2), (2, 3)])
    assert set(found) == {threading.get_ident()}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system tells no cores apart")
def test_none_is_as_many_as_the_cores_that_the_process_may_use(threads):
    threads(None)
    cores = os.sched_getaffinity(0)
    assert suffice.get_threads() == len(cores)
    try:
        os.sched_setaffinity(0, {min(cores)})
        assert suffice.get_threads() == 1
    finally:
        os.sched_setaffinity(0, cores)


def test_numpys_whole_numbers_are_numbers_of_threads(threads):
    threads(np.int64(2))
    assert suffice.get_threads() == 2


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2", float("nan")], ids=repr)
def test_what_is_no_number_of_threads_is_refused_and_changes_nothing(threads, wrong):
    threads(2)
    with pytest.raises(errors.InputError, match=r"whole number of at least 1, .* given .*None for"):
        suffice.set_threads(wrong)
    assert suffice.get_threads() == 2


def test_a_number_set_on_one_thread_holds_on_all(threads):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(threads, 5).result()
    assert suffice.get_threads() == 5


# ---- the environment


def run(script, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "SUFFICE_THREADS"}
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**kept, **environment},
    )


def test_the_environment_says_how_many_threads():
    done = run("import suffice; print(suffice.get_threads())", SUFFICE_THREADS=" 3 ")
    assert done.stdout == "3\n", done.stderr


def test_the_environment_is_read_once():
    script = """
import os, suffice
os.environ["SUFFICE_THREADS"] = "3"
first = suffice.get_threads()
os.environ["SUFFICE_THREADS"] = "4"
print(first, suffice.get_threads())
"""
    done = run(script)
    assert done.stdout == "3 3\n", done.stderr


@pytest.mark.parametrize("wrong", ["0", "-2", "two", "1.5", "²"])
def test_a_wrong_number_in_the_environment_is_an_error_until_a_right_one_is_set(wrong):
    script = """
import suffice
try:
    suffice.get_threads()
except suffice.InputError as error:
    print(ascii(str(error)))
suffice.set_threads(2)
print(suffice.get_threads())
"""
    message, after = run(script, SUFFICE_THREADS=wrong).stdout.splitlines()
    assert f"SUFFICE_THREADS is {wrong!r}" in message.encode().decode("unicode_escape")
    assert "Set it to a number of threads, or unset it" in message
    assert after == "2"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spawn", "loky"])
def test_processes_started_afterwards_inherit_the_number(threads, kind):
    threads(3)
    if kind == "loky":
        pool = loky.ProcessPoolExecutor(1)
    else:
        pool = ProcessPoolExecutor(1, mp_context=get_context(kind))
    with pool:
        assert pool.submit(suffice.get_threads).result(PATIENCE) == 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system knows no fork")
def test_a_fork_inherits_the_number_and_no_limit_of_threads_that_it_has_not():
    script = """
import os, threading
from threadpoolctl import threadpool_info, threadpool_limits
import numpy as np
import suffice
from suffice.threads import one_blas_thread

def blas():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
suffice.GaussianDiscriminant().fit(X, y)
suffice.set_threads(3)
inside, leave = threading.Event(), threading.Event()

def stay():
    with one_blas_thread:
        inside.set()
        leave.wait()

with threadpool_limits(2, user_api="blas"):
    other = threading.Thread(target=stay)
    other.start()
    inside.wait()
    child = os.fork()
    if not child:
        right = blas() == 2 and suffice.get_threads() == 3
        suffice.GaussianDiscriminant().fit(X, y)
        os._exit(0 if right and blas() == 2 else 1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), blas())
    leave.set()
    other.join()
    print(blas())
"""
    done = run(script, PYTHONWARNINGS="ignore")
    assert done.stdout == "0 1\n2\n", done.stderr


# ---- BLAS


def test_inside_threads_of_ours_blas_has_one(two_blas_threads, threads):
    threads(2)
    found = on_all_cores(lambda start, stop: blas_threads(), [(0, 1), (1, 2)])
    assert found == [1, 1]
    assert blas_threads() == 2


CLASSIFIERS = [
    suffice.BernoulliNB,
    suffice.CategoricalNB,
    suffice.ComplementNB,
    suffice.GaussianNB,
    suffice.MultinomialNB,
    suffice.PoissonNB,
    suffice.GaussianDiscriminant,
    suffice.LinearDiscriminantAnalysis,
    suffice.QuadraticDiscriminantAnalysis,
    suffice.LogisticRegression,
    suffice.LinearRegression,
    suffice.BayesianLinearRegression,
]


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda learner: learner.__name__)
def test_learning_and_predicting_multiply_on_one_thread_and_restore_the_limit(
    two_blas_threads, learner
):
    X = np.random.default_rng(1).integers(0, 3, (60, 4)).astype(float)
    y = Watched(np.arange(60) % 2)
    model = learner().fit(X, y)
    assert set(y.seen) == {1}
    asked = Watched(X)
    model.predict(asked)
    assert set(asked.seen) == {1}
    assert blas_threads() == 2


@pytest.mark.parametrize("table", ["numbers", "documents"])
def test_tables_and_documents_are_learned_on_one_blas_thread(two_blas_threads, table):
    y = Watched(np.arange(40) % 2)
    if table == "numbers":
        suffice.GenerativeClassifier().fit(rows(40, 2)[0], y)
    else:
        suffice.TextClassifier().fit([f"word{i % 2} and{i % 3}" for i in range(40)], y)
    assert set(y.seen) == {1}
    assert blas_threads() == 2


def test_gaussian_algebra_runs_on_one_blas_thread(two_blas_threads):
    normal = suffice.MultivariateNormal(np.zeros(2), np.eye(2))
    asked = Watched(np.zeros((3, 2)))
    normal.log_density(asked)
    assert set(asked.seen) == {1}
    assert blas_threads() == 2


def limits_blas(method):
    """Say whether a method runs inside `one_blas_thread`, or enters it itself."""
    return hasattr(method, "__wrapped__") or "one_blas_thread" in method.__code__.co_names


def test_every_public_estimator_limits_blas_in_every_method_of_ours():
    missing = []
    for name in suffice.__all__:
        owner = getattr(suffice, name)
        if isinstance(owner, type) and hasattr(owner, "fit"):
            missing += [
                f"{name}.{method}"
                for method in dir(owner)
                if not method.startswith("_")
                and getattr(getattr(owner, method), "__module__", "").startswith("suffice.")
                and not limits_blas(getattr(owner, method))
            ]
    assert not missing


def test_an_error_restores_the_limit(two_blas_threads):
    y = Watched([0, 1, 0])
    with pytest.raises(ValueError, match="3"):
        suffice.GaussianNB().fit(np.zeros((4, 2)), y)
    assert blas_threads() == 2


def test_the_last_of_overlapping_calls_restores_the_limit(two_blas_threads):
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread:
            inside.set()
            leave.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool, one_blas_thread:
        other = pool.submit(stay)
        assert inside.wait(PATIENCE)
        with one_blas_thread:
            assert blas_threads() == 1
        assert blas_threads() == 1
        leave.set()
        other.result(PATIENCE)
        assert blas_threads() == 1
    assert blas_threads() == 2


def test_fits_on_many_threads_at_once_restore_the_limit_and_agree(two_blas_threads, threads):
    threads(2)
    X, y = rows(400, 5)
    alone = suffice.GaussianDiscriminant().fit(X, y).predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        done = [
            pool.submit(lambda: suffice.GaussianDiscriminant().fit(X, y).predict_proba(X))
            for _ in range(20)
        ]
        assert all(np.array_equal(one.result(PATIENCE), alone) for one in done)
    assert blas_threads() == 2


def test_limits_that_each_thread_has_of_its_own_are_restored_on_each():
    import sklearn.utils._openmp_helpers  # noqa: F401  # loads OpenMP, whose limits are such

    openmp = ThreadpoolController().select(user_api="openmp").lib_controllers[0]
    library = _Library(openmp.get_num_threads, openmp.set_num_threads, per_thread=True)
    limit = _OneBlasThread()
    limit._libraries, limit._per_thread = {"OpenMP": library}, [library]
    limit._searched_with_scipy = "scipy.linalg" in sys.modules
    inside, leave = threading.Event(), threading.Event()

    def stay():
        library.set(3)
        with limit:
            found = [library.get()]
            inside.set()
            leave.wait(PATIENCE)
            found.append(library.get())
        return [*found, library.get()]

    with threadpool_limits(2, user_api="openmp"), ThreadPoolExecutor(1) as pool:
        with limit:
            other = pool.submit(stay)
            assert inside.wait(PATIENCE)
            assert library.get() == 1
        assert library.get() == 2
        leave.set()
        assert other.result(PATIENCE) == [1, 1, 3]
        assert library.get() == 2


def test_a_limit_that_the_user_sets_meanwhile_stays(two_blas_threads):
    with one_blas_thread:
        limiter = threadpool_limits(3, user_api="blas")
    assert blas_threads() == 3
    limiter.restore_original_limits()


# ---- results


def answers(kind):
    """Return what a model of a kind says, as numbers."""
    if kind == "text":
        words = np.random.default_rng(3).integers(0, 50, (300, 12))
        documents = [" ".join(f"w{word}" for word in line) for line in words]
        model = suffice.TextClassifier().fit(documents, words[:, 0] % 3)
        return model.predict_proba(documents)
    if kind == "table":
        X, y = rows(700, 6)
        return suffice.GenerativeClassifier().fit(X, y).predict_proba(X)
    if kind == "regression":
        X, y = rows(700, 6)
        return suffice.BayesianLinearRegression().fit(X, y).predict(X)
    if kind == "logistic":
        X, y = rows(700, 6)
        return suffice.LogisticRegression().fit(X, y).predict_proba(X)
    X, y = rows(2500, 200)  # wide: products that BLAS would share out to its threads
    model = suffice.GaussianDiscriminant("full").fit(X, y)
    return np.hstack([model.predict_joint_log_proba(X), model.leave_one_out(X, y).log_proba])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "table", "regression", "logistic", "wide"])
def test_results_are_the_same_to_the_bit_for_any_number_of_threads(threads, ranges, kind):
    ranges(2000)
    found = []
    for ours, blas in ((1, 1), (2, 2), (3, 1)):
        threads(ours)
        with threadpool_limits(blas, user_api="blas"):
            found.append(answers(kind))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
