"""How a Gaussian discriminant with a prior leaves rows out: its posterior, downdated."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from suffice.data.rows import Rows
from suffice.discriminant_analysis.gaussian_reading import DIAGONAL, GaussianReading
from suffice.discriminant_analysis.learner import row_weights
from suffice.families.gaussians import DiagonalGaussian
from suffice.families.leave_one_out_gaussian import (
    LeaveOneOutGaussian,
    Mask,
    covariance_parts,
    posterior_parts,
    rows_by_class,
)
from suffice.families.leave_one_out_moments import LeaveOneOutMoments
from suffice.prior import NormalInverseGamma, NormalInverseWishart
from suffice.tally.tally import ROUNDING, Floats


class GaussianLeftOut(GaussianReading):
    """Leaves rows out of a GaussianDiscriminant; what the evidence chose stays."""

    def _without_closed_form(self) -> str:
        if self.covariance == "low_rank":
            return "factor analysis is iterative"
        if self.shrinkage not in (None, 0, "auto"):
            return "shrinkage keeps each feature's own variance, which every row changes"
        if self.prior_ is None and not np.all(self._moments.weight > 0):
            return "a class that shows nothing of a feature is taken to be like the others"
        return super()._without_closed_form()

    def _refitted_joint(self, rows: Rows) -> Floats:
        model = copy(self)
        if self.prior_ is not None and isinstance(self.prior, str):
            model.prior = _of_one_class(self.prior_)
        return super(GaussianLeftOut, model)._refitted_joint(rows)

    def _left_out_log_prior(self, rows: Rows) -> Floats:
        if self._class_prior_is_given() or self.estimate != "predictive":
            return super()._left_out_log_prior(rows)
        held = self.tally_.weights
        counts = np.repeat(held[None], rows.shape[0], axis=0)
        counts[np.arange(rows.shape[0]), rows.codes] -= row_weights(rows)
        gone = counts <= ROUNDING * held
        counts[gone] = 0.0
        # The mean of Dir(1 + counts) over the classes that there are.
        counts += 1.0 if self.classes_closed_ else ~gone
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))

    def _fill_left_out(self, rows: Rows, out: Floats) -> Mask:
        last = self._is_last(rows)
        if self.covariance in DIAGONAL:
            assert isinstance(self._law, DiagonalGaussian)
            terms = self._moments, self._law, DIAGONAL[self.covariance], self.prior_
            out[:], doubtful = LeaveOneOutMoments(*terms).scores(rows)
        else:
            doubtful = self._fill_rows(rows, last, out)
        # Maximum likelihood may have an answer without a class that had none.
        refuses = self.estimate == "mle" and (self.prior_ is not None or self.classes_closed_)
        return np.asarray(doubtful | last) if refuses else doubtful

    def _sharers(self, last: Mask) -> Floats:
        """Return how many classes there are without each row, (n,)."""
        if self.classes_closed_:
            return np.full(len(last), float(len(self.classes_)))
        return np.asarray(np.count_nonzero(self.tally_.weights) - last.astype(np.float64))

    def _fill_rows(self, rows: Rows, last: Mask, out: Floats) -> Mask:
        tied, weights, moments = self.covariance == "tied", row_weights(rows), self._moments
        groups = rows_by_class(rows.codes, out.shape[1])
        if not tied:
            self._fill_densities(rows, out)
        if self.prior_ is None:
            parts = covariance_parts(moments, groups, weights, tied=tied, axes=False)
            return LeaveOneOutGaussian(self.means_, moments.weight, tied).fill(rows, parts, out)
        believed = self.prior_.posterior(moments)
        sharers = self._sharers(last) if tied else np.ones(len(last))
        predictive = self.estimate == "predictive"
        parts = posterior_parts(believed, groups, weights, sharers, predictive=predictive)
        form = LeaveOneOutGaussian(self.means_, believed.pseudo_rows, tied)
        return form.fill(rows, parts, out)


def _of_one_class(prior: Any) -> Any:
    """Return the prior that evidence gave all classes alike, for any number of them."""
    if isinstance(prior, NormalInverseWishart):
        terms = prior.location[0], prior.pseudo_rows[0], prior.degrees, prior.scale_matrix
        return NormalInverseWishart(*terms)
    return NormalInverseGamma(
        prior.location[:1], prior.pseudo_rows[:1], prior.shape[:1], prior.scale[:1]
    )
