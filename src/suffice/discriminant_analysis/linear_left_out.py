"""How a linear discriminant leaves rows out: its covariance changes for all classes at once."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy

import numpy as np

from suffice.data.rows import Rows
from suffice.discriminant_analysis.class_covariances import ClassCovariances
from suffice.discriminant_analysis.learner import row_weights
from suffice.families.leave_one_out_gaussian import (
    LeaveOneOutGaussian,
    Mask,
    covariance_parts,
    rows_by_class,
    weighted_parts,
)
from suffice.gaussian.covariance import is_singular, standardize
from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats


class LinearLeftOut(ClassCovariances):
    """Leaves rows out of a LinearDiscriminantAnalysis, whose attributes it reads."""

    solver: str
    tol: float
    priors_: Floats
    scalings_: Floats
    _means: Floats
    _within: Floats
    # Whether answers may lack a term of the row: then a singular covariance gives some too.
    _up_to_the_row = False

    @abstractmethod
    def _scorer(self) -> scoring.Scorer:
        """Return what adds log p(x | class) up to a term of x."""

    def _density(self) -> scoring.Scorer:
        return self._scorer() if self._up_to_the_row else super()._density()

    def _refitted_joint(self, rows: Rows) -> Floats:
        model = copy(self)
        model._up_to_the_row = True
        return super(LinearLeftOut, model)._refitted_joint(rows)

    def _without_closed_form(self) -> str:
        reason = super()._without_closed_form()
        if reason:
            return reason
        if self.solver != "svd":
            singular = is_singular(self._within)
            return "the covariance within classes is singular" if singular else ""
        least = np.linalg.eigvalsh(standardize(self._within)[1])[0]
        wanted = min(len(self.priors_) - 1, len(self._within))
        if least <= self.tol**2 or self.scalings_.shape[1] < wanted:
            return "directions without spread are left out"
        return ""

    def _fill_left_out(self, rows: Rows, out: Floats) -> Mask:
        weights, moments = row_weights(rows), self._moments
        groups = rows_by_class(rows.codes, out.shape[1])
        shrinkage = float(self.shrinkage or 0.0)
        if self.priors is not None and self.solver != "svd":
            parts = weighted_parts(moments, groups, weights, self.priors_)
        else:
            # "svd" leaves out directions whose spread is `tol` of the features' own.
            least = self.tol**2 if self.solver == "svd" else 0.0
            terms = moments, groups, weights
            parts = covariance_parts(*terms, tied=True, axes=shrinkage > 0, least=least)
        form = LeaveOneOutGaussian(self._means, moments.weight, tied=True, shrinkage=shrinkage)
        doubtful = form.fill(rows, parts, out)
        return np.asarray(doubtful | self._last_of_a_closed_class(rows))
