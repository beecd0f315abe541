"""Conjugate priors: a prior and a tally make a posterior, a predictive and an evidence."""

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
