"""suffice: generative learning from sufficient statistics. A model is a tally plus a prior."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# Where each public name lives; a package is loaded when its first name is asked for.
_PACKAGES = {
    "tally": ("Blocks", "Counts", "Events", "Groups", "Moments", "Patterns", "Quartics"),
    "prior": (
        "Beta",
        "Dirichlet",
        "Gamma",
        "NormalInverseGamma",
        "NormalInverseWishart",
        "PointMasses",
    ),
    "naive_bayes": (
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianNB",
        "MultinomialNB",
        "PoissonNB",
    ),
    "discriminant_analysis": (
        "GaussianDiscriminant",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ),
    "gaussian": (
        "InverseWishart",
        "KnownCovariance",
        "LinearGaussian",
        "MultivariateNormal",
        "Wishart",
    ),
    "linear_model": ("BayesianLinearRegression", "LinearRegression", "LogisticRegression"),
    "basis": (
        "Fourier",
        "Hinge",
        "LearnedHinge",
        "Levels",
        "Polynomial",
        "Quadratic",
        "Radial",
        "RandomHinge",
    ),
    "lab": (
        "SelectFeatures",
        "compare",
        "evidence_table",
        "plot_regions",
        "rank_features",
        "sample_complexity",
        "searchlight",
        "select_features",
    ),
    "scoring": ("log_odds", "sigmoid", "softmax"),
    "text": ("CountVectorizer", "HashingVectorizer", "TextClassifier"),
    "table": ("GenerativeClassifier",),
    "report": ("write_report",),
    "persist": ("load",),
    "testing": (),
    "threads": ("get_threads", "set_threads"),
    "engines": ("CountingPlan",),
    "sources": (),
    "validation": (),
    "errors": (
        "CovarianceError",
        "DebtError",
        "InputError",
        "MergeError",
        "MissingPackageError",
        "ModelFileError",
        "PriorError",
        "SaveError",
        "ShapeError",
        "SourceError",
        "SufficeError",
    ),
}
_HOME = {name: package for package, names in _PACKAGES.items() for name in names}

__all__ = ["__version__", *_PACKAGES, *_HOME]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import suffice` costs nothing."""
    from suffice._lazy import load

    if name in _PACKAGES:
        return load(f"suffice.{name}")
    if name in _HOME:
        return load(f"suffice.{_HOME[name]}", name)
    raise AttributeError(f"module 'suffice' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
