"""All cases of frozen behaviour by group and name, and the functions that compute them."""

from __future__ import annotations

import golden_algebra
import golden_discriminants
import golden_histories
import golden_lab
import golden_naive_bayes
import golden_regression
import golden_tables
import golden_text
from golden_values import with_warnings

GROUPS = {
    "naive_bayes": golden_naive_bayes.cases(),
    "discriminants": golden_discriminants.cases(),
    "regression": golden_regression.cases(),
    "tables": golden_tables.cases(),
    "text": golden_text.cases(),
    "histories": golden_histories.cases(),
    "lab": golden_lab.cases(),
    "algebra": golden_algebra.cases(),
}
CASES = [(group, name) for group, cases in GROUPS.items() for name in cases]


def values(group, name):
    """Return the results of a case today: {key: array, number or text}."""
    return with_warnings(GROUPS[group][name])
