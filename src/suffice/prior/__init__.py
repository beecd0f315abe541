"""Conjugate priors: a prior and a tally make a posterior, a predictive and an evidence."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.prior.beta import Beta, BetaBinomial
    from suffice.prior.coefficients import (
        Coefficients,
        CoefficientsAndNoise,
        CoefficientsKnownNoise,
        Products,
    )
    from suffice.prior.dirichlet import Dirichlet, Polya
    from suffice.prior.gamma import Gamma
    from suffice.prior.normal_inverse_gamma import (
        MeanVariance,
        MeanVarianceInterval,
        NormalInverseGamma,
    )
    from suffice.prior.normal_inverse_wishart import MeanCovariance, NormalInverseWishart
    from suffice.prior.point_masses import PointMasses
    from suffice.prior.predictive import (
        Bernoulli,
        MultivariateStudentT,
        NegativeBinomial,
        Normal,
        Predictive,
        StudentT,
    )
    from suffice.prior.prior import Estimates, Interval, Prior
    from suffice.prior.univariate import Univariate

__all__ = [
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "Coefficients",
    "CoefficientsAndNoise",
    "CoefficientsKnownNoise",
    "Dirichlet",
    "Estimates",
    "Gamma",
    "Interval",
    "MeanCovariance",
    "MeanVariance",
    "MeanVarianceInterval",
    "MultivariateStudentT",
    "NegativeBinomial",
    "Normal",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "PointMasses",
    "Polya",
    "Predictive",
    "Prior",
    "Products",
    "StudentT",
    "Univariate",
]

# One prior does not need the others.
_HOME = {
    "Bernoulli": "predictive",
    "Beta": "beta",
    "BetaBinomial": "beta",
    "Coefficients": "coefficients",
    "CoefficientsAndNoise": "coefficients",
    "CoefficientsKnownNoise": "coefficients",
    "Dirichlet": "dirichlet",
    "Estimates": "prior",
    "Gamma": "gamma",
    "Interval": "prior",
    "MeanCovariance": "normal_inverse_wishart",
    "MeanVariance": "normal_inverse_gamma",
    "MeanVarianceInterval": "normal_inverse_gamma",
    "MultivariateStudentT": "predictive",
    "NegativeBinomial": "predictive",
    "Normal": "predictive",
    "NormalInverseGamma": "normal_inverse_gamma",
    "NormalInverseWishart": "normal_inverse_wishart",
    "PointMasses": "point_masses",
    "Polya": "dirichlet",
    "Predictive": "predictive",
    "Prior": "prior",
    "Products": "coefficients",
    "StudentT": "predictive",
    "Univariate": "univariate",
}
__getattr__ = load_at_first_use(__name__, _HOME)
