"""Models of every class that is saved, and of every option that changes what is in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import golden_data as data
from golden_tables import NEW as NEW_TABLE
from golden_tables import documents, only, rows_of, table
from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    CountVectorizer,
    Dirichlet,
    Fourier,
    Gamma,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    Hinge,
    Levels,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    MultivariateNormal,
    NormalInverseGamma,
    NormalInverseWishart,
    PoissonNB,
    Polynomial,
    Quadratic,
    QuadraticDiscriminantAnalysis,
    Radial,
    RandomHinge,
    SelectFeatures,
    TextClassifier,
)

CENTRE, SCALE = [5.0, 100.0, 0.0], np.diag([1.0, 100.0, 0.01])
NAMED = {"length": data.NUMBERS[:, 0], "mass": data.NUMBERS[:, 1], "bend": data.NUMBERS[:, 2]}
NEW_NAMED = {name: data.NEW[:, at] for at, name in enumerate(NAMED)}
TEXTS, TEXT_LABELS = documents(size=48)
NEW_TEXTS = ["cheap pills at noon", "the meeting report", "", "zzz unheard", "lunch lunch own3"]


@dataclass
class Saved:
    """How a model of one case is trained, asked, taught more, and saved."""

    model: Any
    rows: Any
    labels: Any
    new: Any
    weights: Any = None
    groups: Any = None
    history: str = "fit"
    save: dict = field(default_factory=dict)
    load: dict = field(default_factory=dict)

    def trained(self):
        """Return the model after its history."""
        model = self.model()
        given = {"sample_weight": self.weights} if self.weights is not None else {}
        given |= {"groups": self.groups} if self.groups is not None else {}
        if self.history == "fit":
            return model.fit(self.rows, *self._labelled(), **given)
        first, second = part(self.rows, slice(0, 30)), part(self.rows, slice(30, None))
        known, other = self.labels[:30], self.labels[30:]
        if self.history == "stream":
            return model.partial_fit(first, known)
        if self.history == "closed classes":
            return model.partial_fit(first, known, classes=["ant", "bee", "cow", "dog"])
        model.fit(first, known).partial_fit(second, other)
        if self.history == "forget":
            model.forget(first, known)
        if self.history == "refresh":
            model.refresh_calibration()
        return model

    def _labelled(self):
        return () if self.labels is None else (self.labels,)

    def learned_on(self, model):
        """Return a model that has learned a few of its rows once more."""
        few = slice(0, 6)
        if not hasattr(model, "partial_fit"):
            return model
        labels = () if self.labels is None else (self.labels[few],)
        return model.partial_fit(part(self.rows, few), *labels)


def part(rows, which):
    """Return some rows of an array, a list or a mapping of columns."""
    if isinstance(rows, dict):
        return {name: column[which] for name, column in rows.items()}
    return rows[which]


def numbers(model, **given):
    """Return a case of numbers."""
    return Saved(model, given.pop("rows", data.NUMBERS), data.LABELS, data.NEW, **given)


def counts(model, **given):
    """Return a case of counts with gaps."""
    return Saved(model, data.MISSING_COUNTS, data.LABELS, data.NEW_COUNTS, **given)


def texts(history="fit", save=None, load=None, groups=None, **settings):
    """Return a case of documents."""
    return Saved(
        lambda: TextClassifier(**settings),
        *(TEXTS, TEXT_LABELS, NEW_TEXTS),
        groups=groups,
        history=history,
        save=save or {},
        load=load or {},
    )


def mixed(*names, history="fit", save=None, groups=None, **settings):
    """Return a case of a mixed table."""
    columns, y = table(size=60)
    rows, new = only(columns, *names), only(NEW_TABLE, *names)
    return Saved(
        lambda: GenerativeClassifier(**settings),
        *(rows_of(rows, range(60)), y, new),
        history=history,
        save=save or {},
        groups=groups,
    )


def noted(family, **settings):
    """Return a case of a table with texts."""
    columns, _ = table(size=48)
    rows = {"note": TEXTS, "weight": columns["weight"]}
    new = {"note": [*NEW_TEXTS[:3], None], "weight": [9.0, None, 16.0, None]}
    families = {"note": family, "weight": "normal"}
    return Saved(lambda: GenerativeClassifier(families, **settings), rows, TEXT_LABELS, new)


def regression(model, targets=data.TARGET, **given):
    """Return a case of a regression."""
    return Saved(model, data.COLUMNS, targets, data.NEW_COLUMNS_MISSING, **given)


def logistic(labels=data.LABELS, **settings):
    """Return a case of a logistic regression."""
    centre, scale = data.NUMBERS.mean(axis=0), data.NUMBERS.std(axis=0)
    rows, new = (data.NUMBERS - centre) / scale, (data.NEW_WHOLE - centre) / scale
    tight = {"tol": 1e-11, "max_iter": 5000}
    return Saved(lambda: LogisticRegression(**tight | settings), rows, labels, new)


def expansion(model, rows=data.MISSING, new=data.NEW):
    """Return a case of a basis expansion."""
    return Saved(model, rows, None, new)


NIG = NormalInverseGamma(CENTRE, 1.0, 2.0, np.diag(SCALE))
NIW = NormalInverseWishart(CENTRE, 1.0, 5.0, SCALE)
ROWS = {"rows": True}
FOUR = np.zeros(4)
CALM = {"calibrate": "folds"}
CLASSIFIERS = {
    "gaussian_nb": numbers(lambda: GaussianNB()),
    "gaussian_nb_gaps_weights": numbers(
        lambda: GaussianNB(), rows=data.MISSING, weights=data.WEIGHTS
    ),
    "gaussian_nb_names": Saved(lambda: GaussianNB(), NAMED, data.LABELS, NEW_NAMED),
    "gaussian_nb_predictive_tied": numbers(lambda: GaussianNB(estimate="predictive", tie="class")),
    "gaussian_nb_prior": numbers(lambda: GaussianNB(estimate="map", prior=NIG)),
    "gaussian_nb_priors": numbers(lambda: GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=0.01)),
    "gaussian_nb_calibrated": numbers(lambda: GaussianNB(**CALM)),
    "gaussian_nb_calibrated_rows": numbers(lambda: GaussianNB(**CALM), save=ROWS),
    "gaussian_nb_calibrated_groups_rows": numbers(
        lambda: GaussianNB(**CALM), groups=data.GROUPS, save=ROWS
    ),
    "gaussian_nb_calibrated_stale": numbers(lambda: GaussianNB(**CALM), history="partial_fit"),
    "gaussian_nb_calibrated_refreshed": numbers(
        lambda: GaussianNB(**CALM), history="refresh", save=ROWS
    ),
    "gaussian_nb_forgotten": numbers(lambda: GaussianNB(), history="forget"),
    "gaussian_nb_closed_classes": numbers(lambda: GaussianNB(), history="closed classes"),
    "gaussian_nb_two_classes": Saved(lambda: GaussianNB(), data.NUMBERS, data.TWO, data.NEW),
    "bernoulli_nb": counts(lambda: BernoulliNB(binarize=1.0)),
    "bernoulli_nb_beta": counts(lambda: BernoulliNB(alpha=Beta(1.0, 2.0))),
    "bernoulli_nb_evidence_calibrated_rows": counts(
        lambda: BernoulliNB(alpha="evidence", **CALM), save=ROWS
    ),
    "multinomial_nb": counts(lambda: MultinomialNB(alpha=[0.5, 1.0, 2.0, 0.3, 0.8])),
    "multinomial_nb_polya": counts(
        lambda: MultinomialNB(alpha=Dirichlet(np.ones(5)), estimate="predictive", **CALM)
    ),
    "complement_nb": counts(lambda: ComplementNB(norm=True)),
    "poisson_nb": counts(lambda: PoissonNB(alpha=Gamma(1.0, 2.0), estimate="predictive")),
    "poisson_nb_evidence": counts(lambda: PoissonNB(alpha="evidence", prior_rows=2.0)),
    "categorical_nb": Saved(
        lambda: CategoricalNB(min_categories=6), data.MISSING_LEVELS, data.LABELS, data.NEW_LEVELS
    ),
    "linear_discriminant": numbers(lambda: LinearDiscriminantAnalysis()),
    "linear_discriminant_gaps": numbers(lambda: LinearDiscriminantAnalysis(), rows=data.MISSING),
    "linear_discriminant_float32": numbers(
        lambda: LinearDiscriminantAnalysis("eigen", shrinkage=0.2),
        rows=data.NUMBERS.astype(np.float32),
    ),
    "linear_discriminant_quartics": numbers(
        lambda: LinearDiscriminantAnalysis("lsqr", shrinkage="auto")
    ),
    "quadratic_discriminant": numbers(
        lambda: QuadraticDiscriminantAnalysis(store_covariance=True, reg_param=0.1)
    ),
    "gaussian_discriminant": numbers(lambda: GaussianDiscriminant()),
    "gaussian_discriminant_full_gaps": numbers(
        lambda: GaussianDiscriminant("full", prior=NIW, tol=1e-12, max_iter=1000), rows=data.MISSING
    ),
    "gaussian_discriminant_diagonal": numbers(lambda: GaussianDiscriminant("diagonal", prior=NIG)),
    "gaussian_discriminant_spherical_calibrated": numbers(
        lambda: GaussianDiscriminant("spherical", **CALM), save=ROWS
    ),
    "gaussian_discriminant_low_rank": numbers(
        lambda: GaussianDiscriminant("low_rank", estimate="mle", rank=1)
    ),
    "gaussian_discriminant_forgotten": numbers(lambda: GaussianDiscriminant(), history="forget"),
}
TABLES = {
    "table": mixed("weight", "income", "children", "city", "member"),
    "table_rows": mixed("weight", "income", "children", "city", "member", save=ROWS),
    "table_naive": mixed("weight", "city", combine="naive", budget=0),
    "table_corrected": mixed("weight", "city", "member", combine="residual", budget=0),
    "table_temperature_mean": mixed(
        "weight", "city", combine="temperature", estimate="mean", budget=0
    ),
    "table_blocks": mixed(
        *("left", "right", "city", "member"),
        families={("left", "right"): "mvn", ("city", "member"): "joint"},
    ),
    "table_families": mixed(
        *("weight", "income", "children", "left", "right"),
        families={
            "weight": "student",
            "income": "lognormal:tied",
            "children": "binned",
            ("left", "right"): "mvn:tied",
        },
    ),
    "table_informative": mixed("weight", "city", missing="informative"),
    "table_text": noted("text"),
    "table_text_bernoulli": noted("text:bernoulli", combine="blocks"),
    "table_text_complement": noted("text:complement", combine="naive"),
    "table_stream": mixed("weight", "children", "city", history="stream"),
    "table_stream_rows": mixed("weight", "children", "city", history="stream", save=ROWS),
    "table_stale": mixed("weight", "children", "city", history="partial_fit"),
    "table_forgotten": mixed("weight", "children", "city", history="forget", save=ROWS),
    "table_groups_rows": mixed("weight", "city", groups=np.arange(60) % 20, save=ROWS),
}
TEXT = {
    "text": texts(),
    "text_rows": texts(save=ROWS),
    "text_plain": texts(calibrate=None, alpha=0.5),
    "text_bernoulli_smooth": texts(event="bernoulli", unknown="smooth"),
    "text_complement_tfidf": texts(event="complement", weighting="tfidf"),
    "text_polya_pairs": texts(event="polya", ngrams=2),
    "text_refined": texts(refine="logistic"),
    "text_refined_rows": texts(refine="logistic", save=ROWS),
    "text_words": texts(words=CountVectorizer(stop_words=["the", "at"], lowercase=False)),
    "text_vocabulary": texts(
        words=CountVectorizer(vocabulary=["cheap", "lunch", "report"]), unknown="smooth"
    ),
    "text_pattern": texts(
        words=CountVectorizer(token_pattern=r"\b[a-m]\w+"), load={"trust_patterns": True}
    ),
    "text_class_prior": texts(class_prior=[0.2, 0.3, 0.5]),
    "text_stream": texts(history="stream"),
    "text_stale": texts(history="partial_fit"),
    "text_forgotten": texts(history="forget", save=ROWS),
    "text_tfidf_forgotten": texts(history="forget", weighting="tfidf", calibrate=None),
    "text_groups_rows": texts(groups=np.arange(48) % 16, save=ROWS),
    "counter": Saved(lambda: CountVectorizer(), TEXTS, None, NEW_TEXTS),
    "counter_settings": Saved(
        lambda: CountVectorizer(ngram_range=(1, 2), min_df=2, binary=True, dtype=np.float32),
        *(TEXTS, None, NEW_TEXTS),
    ),
    "counter_characters": Saved(
        lambda: CountVectorizer(analyzer="char_wb", ngram_range=(2, 2)), TEXTS, None, NEW_TEXTS
    ),
}
REGRESSIONS = {
    "linear_regression": regression(lambda: LinearRegression()),
    "linear_regression_positive": regression(
        lambda: LinearRegression(positive=True), targets=data.TARGETS
    ),
    "linear_regression_weights": regression(lambda: LinearRegression(), weights=data.REPEATS),
    "bayesian_regression": regression(lambda: BayesianLinearRegression(), targets=data.TARGETS),
    "bayesian_regression_full": regression(
        lambda: BayesianLinearRegression(prior=MultivariateNormal(FOUR, np.eye(4) + 0.1))
    ),
    "bayesian_regression_diagonal": regression(
        lambda: BayesianLinearRegression(
            2.0, prior=MultivariateNormal.from_diagonal(FOUR, np.ones(4)), noise_variance=0.5
        )
    ),
    "bayesian_regression_low_rank": regression(
        lambda: BayesianLinearRegression(
            prior=MultivariateNormal.from_low_rank(FOUR, np.ones((4, 1)), np.ones(4), list("abcd"))
        )
    ),
    "bayesian_regression_cholesky": regression(
        lambda: BayesianLinearRegression(
            prior=MultivariateNormal.from_cholesky(FOUR, np.tril(np.eye(4) + 0.2))
        )
    ),
    "bayesian_regression_forgotten": regression(
        lambda: BayesianLinearRegression(np.inf, fit_intercept=False), history="forget"
    ),
    "logistic": logistic(),
    "logistic_two_classes": logistic(data.TWO, C=np.inf, class_weight="balanced"),
    "logistic_reference": logistic(weights="reference", fit_intercept=False),
    "logistic_lbfgs": logistic(solver="lbfgs", class_weight={"ant": 1.0, "bee": 2, "cow": 0.5}),
}
EXPANSIONS = {
    "fourier": expansion(lambda: Fourier([1, 2.5])),
    "fourier_period": expansion(lambda: Fourier(2, period=[1.0, 50.0, 0.3])),
    "hinge": expansion(lambda: Hinge(3)),
    "hinge_knots": expansion(lambda: Hinge([[5.0], [90.0, 110.0], [0.0]])),
    "levels": expansion(lambda: Levels(), data.MISSING_LEVELS, data.NEW_LEVELS),
    "polynomial": expansion(lambda: Polynomial(2)),
    "quadratic": expansion(lambda: Quadratic(products=False)),
    "radial": expansion(lambda: Radial(3)),
    "radial_centres": expansion(lambda: Radial([[5.0, 100.0, 0.0], [6.0, 110.0, 0.1]])),
    "random_hinge": expansion(lambda: RandomHinge(5, random_state=0)),
    "select_features": Saved(
        lambda: SelectFeatures(k=2), data.COUNTS, data.LABELS, data.NEW_COUNTS_WHOLE
    ),
    "select_features_model": Saved(
        lambda: SelectFeatures(k=3, by="mutual_information", model=MultinomialNB(alpha=0.5)),
        *(data.COUNTS, data.LABELS, data.NEW_COUNTS_WHOLE),
    ),
}
CASES = CLASSIFIERS | TABLES | TEXT | REGRESSIONS | EXPANSIONS
