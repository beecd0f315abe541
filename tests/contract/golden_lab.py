"""Basis expansions, and the experiments of the lab."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import make_pipeline

import golden_data as data
from golden_tables import documents, only, table
from golden_values import fields_of, fitted, flat, value_or_refusal
from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Fourier,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    Hinge,
    Levels,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    NormalInverseGamma,
    PoissonNB,
    Polynomial,
    Quadratic,
    QuadraticDiscriminantAnalysis,
    Radial,
    RandomHinge,
    SelectFeatures,
    TextClassifier,
    compare,
    evidence_table,
    rank_features,
    searchlight,
    select_features,
)

CENTRES = [[5.0, 100.0, 0.0], [6.0, 110.0, 0.1]]
EXPANSIONS = {
    "Polynomial degree=3": lambda: Polynomial(),
    "Polynomial degree=2": lambda: Polynomial(2),
    "Fourier range": lambda: Fourier(),
    "Fourier period=24": lambda: Fourier(2, period=24.0),
    "Fourier frequencies and periods given": lambda: Fourier([0.5, 2], period=[1.0, 50.0, 0.3]),
    "Radial quantiles": lambda: Radial(4),
    "Radial one quantile": lambda: Radial(1),
    "Radial width": lambda: Radial(3, width=[1.0, 10.0, 0.1]),
    "Radial centres": lambda: Radial(CENTRES),
    "Radial centres width": lambda: Radial(CENTRES, width=2.0),
    "Hinge quantiles": lambda: Hinge(3),
    "Hinge knots": lambda: Hinge([0.0, 5.0]),
    "Hinge knots a column": lambda: Hinge([[5.0], [90.0, 110.0], [0.0]]),
    "Quadratic": lambda: Quadratic(),
    "Quadratic squares": lambda: Quadratic(products=False),
    "RandomHinge": lambda: RandomHinge(7, random_state=0),
    "RandomHinge 20": lambda: RandomHinge(20, random_state=3),
}
BY_LEVEL = {
    "Levels": lambda: Levels(),
    "Levels 2": lambda: Levels(2),
    "Levels a column": lambda: Levels([4, 3, 5]),
}


def expanded(make, rows, new):
    """Fit an expansion to rows with missing values, transform new rows, and regress on them."""
    expansion = make().fit(rows)
    found = flat("transform", expansion.transform(new)) | fitted(expansion)
    found |= value_or_refusal("names", expansion.get_feature_names_out)
    whole = rows[~np.isnan(rows).any(axis=1)]
    target = whole[:, 0] + np.sin(whole[:, -1])
    regression = make_pipeline(make(), BayesianLinearRegression(0.5, standardize=False))
    regression.fit(whole, target)
    return found | value_or_refusal("regression", lambda: regression.predict(new[:4]))


RANKED = {
    "GaussianNB": lambda: GaussianNB().fit(data.MISSING, data.LABELS),
    "GaussianNB tied": lambda: GaussianNB(tie="class").fit(data.NUMBERS, data.LABELS),
    "GaussianNB prior": lambda: GaussianNB(
        prior=NormalInverseGamma([5.0, 100.0, 0.0], 1.0, 2.0, [1.0, 100.0, 0.01])
    ).fit(data.NUMBERS, data.LABELS),
    "BernoulliNB": lambda: BernoulliNB().fit(data.COUNTS, data.LABELS),
    "BernoulliNB evidence": lambda: BernoulliNB(alpha="evidence").fit(data.COUNTS, data.LABELS),
    "MultinomialNB": lambda: MultinomialNB(alpha=0.5).fit(data.COUNTS, data.LABELS),
    "ComplementNB": lambda: ComplementNB().fit(data.COUNTS, data.LABELS),
    "CategoricalNB": lambda: CategoricalNB().fit(data.MISSING_LEVELS, data.LABELS),
    "PoissonNB": lambda: PoissonNB().fit(data.MISSING_COUNTS, data.LABELS),
    "LinearDiscriminantAnalysis": lambda: LinearDiscriminantAnalysis().fit(
        data.NUMBERS, data.LABELS
    ),
    "QuadraticDiscriminantAnalysis": lambda: QuadraticDiscriminantAnalysis().fit(
        data.NUMBERS, data.LABELS
    ),
    "GaussianDiscriminant": lambda: GaussianDiscriminant("full").fit(data.NUMBERS, data.LABELS),
    "TextClassifier": lambda: TextClassifier(calibrate=None).fit(*documents(size=60)),
    "TextClassifier bernoulli": lambda: TextClassifier(event="bernoulli", calibrate=None).fit(
        *documents(size=60)
    ),
    "GenerativeClassifier": lambda: _mixed(),
}


def _mixed():
    columns, y = table()
    rows = only(columns, "weight", "income", "children", "city", "member")
    return GenerativeClassifier(combine="naive").fit(rows, y)


def ranked(make):
    """Rank the features of a fitted model."""
    return flat("ranking", rank_features(make()))


def selected(**settings):
    """Keep the best features, forget rows and learn others."""
    best = SelectFeatures(**settings).fit(data.COUNTS, data.LABELS)
    found = flat("transform", best.transform(data.NEW_COUNTS_WHOLE)) | fitted(best)
    found |= flat("support", best.get_support())
    best.forget(data.COUNTS[:20], data.LABELS[:20]).partial_fit(data.COUNTS[:5], data.LABELS[:5])
    return found | flat("history", best.ranking_) | flat("history support", best.get_support())


def selected_before():
    """Classify by the best two columns, in a pipeline."""
    model = make_pipeline(select_features(k=2), GaussianNB()).fit(data.NUMBERS, data.LABELS)
    return flat("predict_proba", model.predict_proba(data.NEW_WHOLE))


def evidence(weights=None):
    """Compare models by evidence and by leave-one-out."""
    models = {
        "full": GaussianDiscriminant("full"),
        "tied": GaussianDiscriminant("tied"),
        "naive": GaussianNB(estimate="predictive"),
        "tied naive": GaussianNB(tie="class"),
    }
    names = ("names", "evidence_of", "log_evidence", "probability", "loss", "accuracy")
    found = evidence_table(models, data.NUMBERS, data.LABELS, sample_weight=weights)
    return {key: value for name in names for key, value in flat(name, getattr(found, name)).items()}


def lit(shape=(5, 4), **settings):
    """Return the accuracy of classification at each position of a grid."""
    rng = np.random.default_rng(40)
    y = np.arange(36) % 2
    images = rng.normal(size=(36, *shape))
    images[(slice(None), *([slice(1, 3)] * len(shape)))] += 0.9 * y.reshape(-1, *[1] * len(shape))
    if "mask" in settings:
        images = images[:, settings["mask"]]
    found = searchlight(images.reshape(36, -1), y, shape, **settings)
    return flat("light", fields_of(found, "accuracy", "chance", "class_means", "cube", "best"))


PRIOR = NormalInverseGamma(0.0, 1.0, 2.0, 1.0)
LIGHTS = {
    "defaults": {},
    "cube=1": {"cube": 1},
    "cube=5": {"cube": 5},
    "predictive": {"estimate": "predictive"},
    "predictive prior": {"estimate": "predictive", "prior": PRIOR},
    "tied_diagonal": {"covariance": "tied_diagonal"},
    "tied_diagonal predictive": {"covariance": "tied_diagonal", "estimate": "predictive"},
    "runs": {"runs": np.arange(36) // 6},
    "mask": {"mask": np.arange(20).reshape(5, 4) % 7 > 0},
    "volume": {"shape": (3, 4, 3)},
}


def compared(*models, rows=data.NUMBERS, labels=data.TWO, **settings):
    """Draw learning curves of two classifiers."""
    found = compare(
        *models, rows, labels, [8, 16, 30], 4, random_state=0, progress=False, **settings
    )
    values = flat("curves", fields_of(found, "names", "sizes", "errors", "log_losses"))
    for score in ("error", "log_loss"):
        values |= flat(f"mean {score}", found.mean(score))
        values |= flat(f"standard_error {score}", found.standard_error(score))
        names = ("crosses", "size", "certainty", "generative_first", "discriminative_last")
        values |= flat(f"crossing {score}", fields_of(found.crossing(score), *names))
    return values


TIGHT = LogisticRegression(C=10.0, tol=1e-11, max_iter=1000)
COMPARISONS = {
    "defaults": lambda: compared(None, None),
    "naive_bayes levels": lambda: compared(
        "naive_bayes", None, rows=data.LEVELS.astype(int), labels=data.LABELS
    ),
    "discriminant": lambda: compared("discriminant", None, test_size=0.4),
    "models given": lambda: compared(GaussianNB(estimate="predictive"), TIGHT, labels=data.LABELS),
}


def whole(make):
    """Return the results of a pipeline with an expansion and a logistic regression."""
    model = make_pipeline(make(), TIGHT).fit(data.NUMBERS / [5, 100, 1], data.LABELS)
    return {
        "predict_proba": model.predict_proba(data.NEW_WHOLE / [5, 100, 1]),
        "coef": model[-1].coef_,
    }


def cases():
    """Return all cases of expansions and of the lab by name."""
    found = {}
    for name, make in EXPANSIONS.items():
        found[name] = lambda make=make: expanded(make, data.MISSING, data.NEW)
    for name, make in BY_LEVEL.items():
        found[name] = lambda make=make: expanded(make, data.MISSING_LEVELS, data.NEW_LEVELS)
    found["Quadratic before LogisticRegression"] = lambda: whole(Quadratic)
    for name, make in RANKED.items():
        found[f"rank_features {name}"] = lambda make=make: ranked(make)
    selections = {
        "k=2": {"k": 2},
        "mutual information": {"k": 2, "by": "mutual_information"},
        "MultinomialNB": {"k": 3, "model": MultinomialNB(alpha="evidence")},
    }
    for name, given in selections.items():
        found[f"SelectFeatures {name}"] = lambda given=given: selected(**given)
    found["select_features pipeline"] = selected_before
    found["evidence_table"] = evidence
    found["evidence_table weights"] = lambda: evidence(data.WEIGHTS)
    for name, given in LIGHTS.items():
        found[f"searchlight {name}"] = lambda given=given: lit(**given)
    for name, act in COMPARISONS.items():
        found[f"compare {name}"] = act
    return found
