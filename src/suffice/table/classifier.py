"""GenerativeClassifier: a table in, calibrated probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from suffice.combine.select import COMBINE_METHODS
from suffice.table.saving import SavesTables
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class GenerativeClassifier(SavesTables):
    """One classifier for real tables: mixed columns and gaps in, probabilities and reasons out.

    Columns form blocks, which are independent given the class; each block is a family of
    distributions with its parameters integrated out (docs: classifier).

    Parameters
    ----------
    families : "auto" or mapping, default="auto"
        "auto" chooses for every column. A mapping gives the family of some columns, or tuples of
        columns: "normal", "normal:tied", "lognormal", "lognormal:tied", "student", "binned",
        "poisson", "bernoulli", "categorical", "joint", "mvn", "mvn:tied", "text",
        "text:bernoulli", "text:complement" or "ignore"; the others are chosen. "student", which
        far-off numbers hardly move, is never chosen: it takes its time, and is there by name.
        Strings that are numbers, dates or times are read as such, unless "categorical" or "text" is
        named. The `families_` of another model count exactly what that model counts, bins included,
        so that the two can be merged.
    combine : {"auto", "naive", "temperature", "blocks", "corrected"}, default="auto"
        How the blocks' log-likelihoods are put together: as they are, all times one number, each
        times a weight of its own, or with corrections for levels and numbers beside. "auto" takes
        what predicts held-out rows best.
    missing : {"ignore", "informative"}, default="ignore"
        Gaps are left out when learning and marginalised when scoring; "informative" makes a gap
        itself a feature where it depends on the class.
    budget : int, default=60
        How many arrangements of columns into blocks are tried.
    estimate : {"predictive", "mean"}, default="predictive"
        "predictive" integrates the parameters of every block out; "mean" plugs their posterior
        expectations in, which is surer of itself where rows are few. Families and blocks are
        chosen by predictives in either case.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    choices_ : Choices
        What was chosen for each column, what else was tried, and why.
    families_ : dict
        The blocks as `families` takes them: by columns, the family with its settings.
    blocks_ : tuple of Family
    weights_ : dict
        How much each block counts.
    corrections_ : dict
        What levels and numbers add beyond their blocks.
    combination_ : Combination
    weights_stale_ : bool
        Whether rows were learned or forgotten since weights and families were chosen.
    tally_ : Groups of Blocks
        All that was learned.
    new_classes_ : ndarray
        Classes that the last rows brought.

    Examples
    --------
    >>> rows = [{"colour": "red", "size": 1.0}, {"colour": "red", "size": 1.2}]
    >>> rows += [{"colour": "blue", "size": 1.1}, {"colour": "blue", "size": None}]
    >>> model = GenerativeClassifier().fit(rows, ["apple", "apple", "plum", "plum"])
    >>> model.predict([{"colour": "red", "size": None}, {"colour": "green", "size": 1.1}]).shape
    (2,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [StrOptions({"auto"}), Mapping],
        "combine": [StrOptions(set(COMBINE_METHODS))],
        "missing": [StrOptions({"ignore", "informative"})],
        "budget": [Interval(Integral, 0, None, closed="left")],
        "estimate": [StrOptions({"predictive", "mean"})],
    }

    def __init__(
        self,
        families: Any = "auto",
        *,
        combine: str = "auto",
        missing: str = "ignore",
        budget: int = 60,
        estimate: str = "predictive",
    ) -> None:
        self.families = families
        self.combine = combine
        self.missing = missing
        self.budget = budget
        self.estimate = estimate

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: gaps, categories and text may be given."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags
