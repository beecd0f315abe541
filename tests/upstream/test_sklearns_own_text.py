"""scikit-learn's own tests of text vectorizers, run on our CountVectorizer and HashingVectorizer.

As in `test_sklearns_own_tests`, nothing of their text is kept here. TfidfVectorizer stays theirs,
and tests that name neither of our classes are not taken.
"""

import ast
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sklearn

from suffice.text import CountVectorizer, HashingVectorizer
from test_sklearns_own_tests import skipped, their_tests

PLACE = "feature_extraction/tests/test_text.py"
OURS = {"CountVectorizer": CountVectorizer, "HashingVectorizer": HashingVectorizer}
# Tests, or single cases of them, that do not apply to our classes, and the reason.
DO_NOT_APPLY = {
    "test_hashingvectorizer_nan_in_docs": "a missing document has no words here; tested below",
    "test_n_features_in[HashingVectorizer-X0]": "hands dictionaries to `fit`, which here reads the "
    "documents, for their names",
}
# Warnings that a test of theirs causes and ignores.
PROVOKED = {
    "test_callable_analyzer_error": "ignore:matching against an empty string",
    "test_unused_parameters_warn": "ignore:The parameter 'token_pattern' will not be used",
}


class OurVectorizers(ast.NodeTransformer):
    """Points imports of the two vectorizers at ours."""

    def __init__(self) -> None:
        self.substituted: set[str] = set()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        if node.module != "sklearn.feature_extraction.text":
            return [node]
        taken = [alias for alias in node.names if alias.name in OURS]
        node.names = [alias for alias in node.names if alias.name not in OURS]
        self.substituted.update(alias.name for alias in taken)
        ours = [ast.ImportFrom(module="suffice.text", names=[alias], level=0) for alias in taken]
        return [node, *(ast.copy_location(one, node) for one in ours)]


def of_our_classes(tree: ast.Module) -> set[str]:
    """Return the names of the tests that name one of the classes, in their text or their cases."""
    return {
        part.name
        for part in tree.body
        if isinstance(part, ast.FunctionDef)
        and part.name.startswith("test_")
        and any(isinstance(n, ast.Name) and n.id in OURS for n in ast.walk(part))
    }


def with_our_classes() -> tuple[ModuleType, set[str], set[str]]:
    """Return their module, run with our classes; the replaced names; the tests of our classes."""
    path = Path(sklearn.__file__).parent / PLACE
    substitution = OurVectorizers()
    tree = substitution.visit(ast.parse(path.read_text(encoding="utf-8")))
    taken = of_our_classes(tree)
    tree.body = [
        part
        for part in tree.body
        if not getattr(part, "name", "").startswith("test_") or part.name in taken
    ]
    module = ModuleType("sklearns_own_test_text")
    module.__file__ = str(path)
    # Pickles of their functions look for their module by its name.
    sys.modules[module.__name__] = module
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), module.__dict__)
    return module, substitution.substituted, taken


THEIRS, SUBSTITUTED, TAKEN = with_our_classes()

for name, function in their_tests(THEIRS).items():
    reason = DO_NOT_APPLY.get(name)
    if name in PROVOKED:
        function = pytest.mark.filterwarnings(PROVOKED[name])(function)
    globals()[name] = function if reason is None else skipped(name, reason)


@pytest.fixture(autouse=True)
def _case_applies(request):
    """Skip a case that is listed as not applying."""
    if request.node.name in DO_NOT_APPLY:
        pytest.skip(DO_NOT_APPLY[request.node.name])


def test_their_tests_really_run_on_our_classes():
    assert set(OURS) == SUBSTITUTED
    for name, kind in OURS.items():
        assert getattr(THEIRS, name) is kind
    assert len(TAKEN) > 40


def test_every_listed_test_that_does_not_apply_exists():
    named = {name.partition("[")[0] for name in (*DO_NOT_APPLY, *PROVOKED)}
    assert not named - TAKEN


@pytest.mark.parametrize("kind", [CountVectorizer, HashingVectorizer])
def test_a_missing_document_has_no_words(kind):
    found = kind().fit_transform(["hello world", np.nan, None, "hello hello"])
    assert np.diff(found.indptr).tolist() == [2, 0, 0, 1]
