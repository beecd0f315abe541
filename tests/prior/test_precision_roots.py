"""A precision without a root is refused, and so is one whose numbers have overflowed."""

import numpy as np
import pytest

from suffice import PriorError
from suffice.prior.coefficients import precision_root


def test_the_root_of_a_precision_multiplies_to_it():
    precision = np.array([[4.0, 2.0], [2.0, 5.0]])
    root = precision_root(precision)
    np.testing.assert_allclose(root @ root.T, precision)
    assert root[0, 1] == 0


def test_a_column_that_others_make_up_is_named():
    columns = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    with pytest.raises(PriorError, match="Column 2 is a combination of the columns before it"):
        precision_root(columns.T @ columns)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_precision_that_has_overflowed_has_no_root():
    with pytest.raises(PriorError, match="the prior is too weak to separate them"):
        precision_root(np.array([[1.0, 1.0], [1.0, np.inf]]))
