"""Multivariate normal algebra: marginals, conditionals, products, linear measurements."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.gaussian.axes import PrincipalAxes
    from suffice.gaussian.boxes import BoxProbability
    from suffice.gaussian.known_covariance import KnownCovariance
    from suffice.gaussian.linear_gaussian import LinearGaussian
    from suffice.gaussian.normal import Information, MultivariateNormal, Product
    from suffice.gaussian.wishart import InverseWishart, Wishart

__all__ = [
    "BoxProbability",
    "Information",
    "InverseWishart",
    "KnownCovariance",
    "LinearGaussian",
    "MultivariateNormal",
    "PrincipalAxes",
    "Product",
    "Wishart",
]

# Covariances alone need none of them.
_HOME = {
    "BoxProbability": "boxes",
    "Information": "normal",
    "InverseWishart": "wishart",
    "KnownCovariance": "known_covariance",
    "LinearGaussian": "linear_gaussian",
    "MultivariateNormal": "normal",
    "PrincipalAxes": "axes",
    "Product": "normal",
    "Wishart": "wishart",
}
__getattr__ = load_at_first_use(__name__, _HOME)
