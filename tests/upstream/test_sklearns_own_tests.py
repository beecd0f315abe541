"""scikit-learn's own tests of naive Bayes, discriminants and least squares, run on our classes.

The installed scikit-learn's test modules are read when this module is collected, their imports of
the classes under test are pointed at ours, and every test function they define is collected here
with its parametrisation. Nothing of their text is kept in this repository.
"""

import ast
import functools
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sklearn

import suffice.naive_bayes
from suffice.errors import InputError

# Tests that call a private method of scikit-learn's.
PRIVATE = ("test_alpha_vector", "test_check_alpha")
# Modules of scikit-learn, and those of their tests that do not apply to our classes: a
# test's name, or a name with the parameters of one case of it, and the reason.
DO_NOT_APPLY = {
    "naive_bayes": {
        "test_gnb_check_update_with_no_data": "calls a private method of scikit-learn's class",
        "test_NB_partial_fit_no_first_classes": "a first call without `classes` is allowed here: "
        "labels never seen become new classes; the other half is tested below",
        "test_discretenb_provide_prior": "its last lines rely on a failed fit having changed the "
        "classes; here a failed fit changes nothing; the other lines are tested below",
        "test_gnb_partial_fit[float32]": "attributes are float64 whatever the rows are",
        "test_gnb_array_api_compliance": "asks for attributes in the type and on the device of "
        "the input; a tally is float64, and numpy's",
    },
    "discriminant_analysis": {},
    "linear_model": {
        "test_raises_value_error_if_positive_and_sparse": "positive=True takes sparse rows here",
        "test_inplace_data_preprocessing[42-True-None]": "wants X changed by copy_X=False; here X "
        "is never changed",
        "test_inplace_data_preprocessing[42-False-None]": "wants X changed by copy_X=False; here "
        "X is never changed",
    },
}
# Tests with cases that scikit-learn expects its own class to fail; ours has to pass them.
FAIL_THERE = ["test_linear_regression_sample_weight_consistency"]
# Where scikit-learn keeps the tests of a module, if not beside all others.
PLACES = {"linear_model": "linear_model/tests/test_base.py"}
# Warnings that a test of theirs causes and ignores.
PROVOKED = {
    "test_alpha_vector": "ignore:alpha too small will result in numeric errors:UserWarning",
}


class OursForTheirs(ast.NodeTransformer):
    """Points `from sklearn.<module> import Name` at `suffice.<module>`, where we have that name."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.ours = importlib.import_module(f"suffice.{room}").__all__
        self.substituted: set[str] = set()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        if node.module != f"sklearn.{self.room}":
            return [node]
        ours = [alias for alias in node.names if alias.name in self.ours]
        theirs = [alias for alias in node.names if alias.name not in self.ours]
        self.substituted.update(alias.name for alias in ours)
        pairs = [(f"suffice.{self.room}", ours), (node.module, theirs)]
        return [
            ast.copy_location(ast.ImportFrom(module=module, names=names, level=0), node)
            for module, names in pairs
            if names
        ]


def with_our_classes(room: str) -> tuple[ModuleType, set[str]]:
    """Return scikit-learn's tests of a module, run with our classes, and their names."""
    path = Path(sklearn.__file__).parent / PLACES.get(room, f"tests/test_{room}.py")
    source = path.read_text(encoding="utf-8")
    substitution = OursForTheirs(room)
    tree = ast.fix_missing_locations(substitution.visit(ast.parse(source)))
    module = ModuleType(f"sklearns_own_test_{room}")
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module, substitution.substituted


def their_tests(module: ModuleType) -> dict[str, object]:
    return {
        name: thing
        for name, thing in vars(module).items()
        if name.startswith("test_") and inspect.isfunction(thing)
    }


def without_expected_failures(function: object) -> object:
    """Take the marks of expected failure off the cases of a test."""
    for mark in function.pytestmark:
        if mark.name == "parametrize":
            cases = mark.args[1]
            cases[:] = [
                case._replace(marks=()) if hasattr(case, "marks") else case for case in cases
            ]
    return function


def with_private_check(kind: type) -> type:
    """Return one of our classes with the private method, and the free attribute, of theirs."""

    class Checked(kind):
        n_features_in_ = None

        def _check_alpha(self, *sizes):
            fitted = vars(self).get("_fitted")
            columns = self.n_features_in_ if fitted is None else fitted.columns.count
            return super()._check_alpha(*(sizes or (2, columns)))

    Checked.__init__ = kind.__init__
    return Checked


def asking_in_private(function: object) -> object:
    """Return a test that calls `_check_alpha()`, run with classes that have it in that form."""

    @functools.wraps(function)
    def test() -> None:
        names = function.__globals__
        ours = {name: names[name] for name in ("BernoulliNB", "MultinomialNB")}
        names.update({name: with_private_check(kind) for name, kind in ours.items()})
        try:
            function()
        finally:
            names.update(ours)

    return test


def skipped(name: str, reason: str) -> object:
    """Return a test without parameters that is skipped with the reason."""

    def function() -> None:
        pytest.skip(reason)

    function.__name__ = function.__qualname__ = name
    return function


THEIRS = {room: with_our_classes(room) for room in DO_NOT_APPLY}

# Our own warnings are no failures of tests that do not know them.
our_warnings_are_fine = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")

for room, (module, _) in THEIRS.items():
    for name, function in their_tests(module).items():
        assert name not in globals(), f"Two of scikit-learn's tests are called {name}."
        reason = DO_NOT_APPLY[room].get(name)
        if reason is not None:
            globals()[name] = skipped(name, reason)
            continue
        if name in FAIL_THERE:
            function = without_expected_failures(function)
        if name in PRIVATE:
            function = asking_in_private(function)
        if name in PROVOKED:
            function = pytest.mark.filterwarnings(PROVOKED[name])(function)
        globals()[name] = our_warnings_are_fine(function)


@pytest.fixture(autouse=True)
def _case_applies(request):
    """Skip a case that is listed as not applying."""
    for reasons in DO_NOT_APPLY.values():
        if request.node.name in reasons:
            pytest.skip(reasons[request.node.name])


@pytest.fixture(params=[42])
def global_random_seed(request):
    """The default seed of scikit-learn's own configuration."""
    return request.param


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    """Both float types of scikit-learn's own configuration."""
    return request.param


@pytest.mark.parametrize("room", DO_NOT_APPLY)
def test_their_tests_really_run_on_our_classes(room):
    module, substituted = THEIRS[room]
    assert substituted
    for name in substituted:
        assert getattr(module, name).__module__.startswith("suffice.")
    assert len(their_tests(module)) > 20


@pytest.mark.parametrize("room", DO_NOT_APPLY)
def test_every_listed_test_that_does_not_apply_exists(room):
    named = {name.partition("[")[0] for name in DO_NOT_APPLY[room]}
    missing = named - set(their_tests(THEIRS[room][0]))
    assert not missing, f"scikit-learn has no {missing} any more: take them off the list."


def test_every_listed_test_with_warnings_or_failures_exists():
    everything = {name for module, _ in THEIRS.values() for name in their_tests(module)}
    assert {*PROVOKED, *FAIL_THERE} <= everything


@pytest.mark.parametrize("name", suffice.naive_bayes.__all__)
def test_partial_fit_refuses_classes_that_changed_since_the_first_call(name):
    rows, labels = np.array([[0, 1], [1, 0], [2, 1]]), np.array([1, 2, 3])
    model = getattr(suffice.naive_bayes, name)()
    model.partial_fit(rows, labels, classes=[1, 2, 3])
    before = model.predict_proba(rows)
    with pytest.raises(InputError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(rows, labels, classes=np.arange(42))
    np.testing.assert_array_equal(model.predict_proba(rows), before)


@pytest.mark.parametrize("name", [n for n in suffice.naive_bayes.__all__ if n != "GaussianNB"])
def test_a_fit_with_a_class_prior_of_the_wrong_length_changes_nothing(name):
    model = getattr(suffice.naive_bayes, name)(class_prior=[0.5, 0.5])
    model.fit([[0], [0], [1]], [0, 0, 1])
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.5, 0.5])
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        model.fit([[0], [1], [2]], [0, 1, 2])
    assert model.classes_.tolist() == [0, 1]
    model.partial_fit([[0], [1]], [0, 1], classes=[0, 1, 1])
    assert model.class_count_.tolist() == [3, 2]
