"""Multivariate normal algebra: marginals, conditionals, products, linear measurements."""

from suffice.gaussian.known_covariance import KnownCovariance
from suffice.gaussian.linear_gaussian import LinearGaussian
from suffice.gaussian.normal import Information, MultivariateNormal, Product
from suffice.gaussian.wishart import InverseWishart, Wishart

__all__ = [
    "Information",
    "InverseWishart",
    "KnownCovariance",
    "LinearGaussian",
    "MultivariateNormal",
    "Product",
    "Wishart",
]
