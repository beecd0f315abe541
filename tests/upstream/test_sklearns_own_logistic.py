"""scikit-learn's own tests of logistic regression, run on our class.

As in `test_sklearns_own_tests`, nothing of their text is kept here. Tests that do not name the
class itself (those of LogisticRegressionCV and of private functions) are not taken, and liblinear,
which penalises the intercept, is taken off their list of solvers.
"""

import ast
from pathlib import Path
from types import ModuleType

import pytest
import sklearn

from test_sklearns_own_tests import OursForTheirs, skipped, their_tests

PLACE = "linear_model/tests/test_logistic.py"
NO_L1 = "asks for L1 or elastic net, which is not here"
LIBLINEAR = "is about liblinear, which is not here"
CROSS_VALIDATED = "compares with LogisticRegressionCV, which is scikit-learn's"
ARRAY_API = "asks for attributes in the type and on the device of the input; ours are numpy's"
CALLBACKS = "is about callbacks, which are not here"
# Tests, or single cases of them, that do not apply to our class, and the reason.
DO_NOT_APPLY = {
    "test_logistic_regression_callback_support": CALLBACKS,
    "test_logistic_regression_callback_fitted_estimator": CALLBACKS,
    "test_logistic_regression_callback_support_warning": CALLBACKS,
    "test_logistic_regression_array_api_compliance": ARRAY_API,
    "test_logistic_regression_array_api_warm_start": ARRAY_API,
    "test_liblinear_dual_random_state": LIBLINEAR,
    "test_liblinear_decision_function_zero": LIBLINEAR,
    "test_liblinear_with_large_values": LIBLINEAR,
    "test_liblinear_not_stuck": LIBLINEAR,
    "test_liblinear_multiclass_raises": LIBLINEAR,
    "test_logisticregression_liblinear_sample_weight": LIBLINEAR,
    "test_sample_and_class_weight_equivalence_liblinear": LIBLINEAR,
    "test_logreg_intercept_scaling_zero": LIBLINEAR,
    "test_saga_vs_liblinear": LIBLINEAR,
    "test_check_solver_option": LIBLINEAR,
    "test_consistency_path": LIBLINEAR,
    "test_multinomial_cv_iris": CROSS_VALIDATED,
    "test_logistic_cv": CROSS_VALIDATED,
    "test_logistic_cv_multinomial_score": CROSS_VALIDATED,
    "test_logistic_regression_cv_refit": CROSS_VALIDATED,
    "test_LogisticRegressionCV_GridSearchCV_elastic_net": CROSS_VALIDATED,
    "test_LogisticRegressionCV_on_folds": CROSS_VALIDATED,
    "test_scores_attribute_layout_elasticnet": CROSS_VALIDATED,
    "test_logreg_predict_proba_multinomial": "calls a private method of scikit-learn's class",
    "test_max_iter": "wants the words of scikit-learn's warnings, one for each solver; ours are "
    "tested in test_logistic_hostile",
    "test_dtype_match": "attributes are float64 whatever the rows are",
    "test_large_sparse_matrix": "wants sag and saga to refuse indices of 64 bits; they are read",
    "test_newton_cholesky_fallback_to_lbfgs": "wants a solver to give up on a singular Hessian "
    "in favour of another; Newton's method here goes on without the singular directions",
    "test_c_inf_no_warning": "fits separated classes without a penalty, of which we warn",
    "test_lr_penalty_l1ratio_incompatible": NO_L1,
    **{
        f"test_warm_start_newton_solver[{C}-{intercept}-newton-cg]": "newton-cg is L-BFGS here, "
        "whose memory of past steps a warm start does not have"
        for C in (1, "inf")
        for intercept in (True, False)
    },
    "test_logreg_l1": NO_L1,
    "test_elastic_net_coeffs": NO_L1,
    "test_elastic_net_l1_l2_equivalence": NO_L1,
    "test_elastic_net_vs_l1_l2": NO_L1,
    "test_LogisticRegression_elastic_net_objective": NO_L1,
    "test_elastic_net_versus_sgd": NO_L1,
    "test_l1_ratio_non_elasticnet": NO_L1,
}


class OursWithoutLiblinear(OursForTheirs):
    """Points at our class and our warning too, and takes liblinear off the list of solvers."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        if node.module == "sklearn.exceptions":
            node.module = "suffice.errors"
        return super().visit_ImportFrom(node)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "SOLVERS":
            node.value.elts = [name for name in node.value.elts if name.value != "liblinear"]
        return node


def of_our_class(tree: ast.Module) -> set[str]:
    """Return the names of the tests that name the class."""
    return {
        part.name
        for part in tree.body
        if isinstance(part, ast.FunctionDef)
        and any(isinstance(n, ast.Name) and n.id == "LogisticRegression" for n in ast.walk(part))
    }


def with_our_class() -> tuple[ModuleType, set[str], set[str]]:
    """Return their module, run with our class; the replaced names; the tests of our class."""
    path = Path(sklearn.__file__).parent / PLACE
    substitution = OursWithoutLiblinear("linear_model")
    tree = substitution.visit(ast.parse(path.read_text(encoding="utf-8")))
    taken = of_our_class(tree)
    # Those that are left out may use marks that only scikit-learn's configuration knows.
    left_out = {part for part in tree.body if getattr(part, "name", "").startswith("test_")}
    left_out = {part for part in left_out if part.name not in taken or part.name in DO_NOT_APPLY}
    tree.body = [part for part in tree.body if part not in left_out]
    module = ModuleType("sklearns_own_test_logistic")
    module.__file__ = str(path)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), module.__dict__)
    return module, substitution.substituted, taken


THEIRS, SUBSTITUTED, TAKEN = with_our_class()
our_warnings_are_fine = pytest.mark.filterwarnings(
    "ignore::suffice.errors.SufficeWarning",
    # Their module sets this itself, for cases that compare with LogisticRegressionCV.
    "ignore:The default value for l1_ratios:FutureWarning",
    "ignore:The fitted attributes of LogisticRegressionCV:FutureWarning",
)

for name, function in their_tests(THEIRS).items():
    globals()[name] = our_warnings_are_fine(function)
for name, reason in DO_NOT_APPLY.items():
    if "[" not in name:
        globals()[name] = skipped(name, reason)


@pytest.fixture(autouse=True)
def _case_applies(request):
    """Skip a case that is listed as not applying."""
    if request.node.name in DO_NOT_APPLY:
        pytest.skip(DO_NOT_APPLY[request.node.name])


@pytest.fixture(params=[42])
def global_random_seed(request):
    """The default seed of scikit-learn's own configuration."""
    return request.param


def test_their_tests_really_run_on_our_class():
    assert {"LogisticRegression"} == SUBSTITUTED
    assert THEIRS.LogisticRegression.__module__.startswith("suffice.")
    assert "liblinear" not in THEIRS.SOLVERS
    assert len(TAKEN) > 30


def test_every_listed_test_that_does_not_apply_exists():
    named = {name.partition("[")[0] for name in DO_NOT_APPLY}
    assert named <= TAKEN, "Take them off the list."
