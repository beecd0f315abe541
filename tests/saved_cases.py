"""Models of every class, what makes two of them the same, and files made by hand."""

import hashlib
import json
import math
import struct
import warnings

import numpy as np
from sklearn.base import BaseEstimator

import suffice
from suffice import basis, discriminant_analysis, lab, linear_model, naive_bayes

RNG = np.random.default_rng(20)
ROWS = 60
NUMBERS = RNG.normal(size=(ROWS, 4)) * [1.0, 1e-3, 1e4, 3.0] + [5.0, 0.0, 1e6, -2.0]
WITH_MISSING = np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
COUNTS = RNG.poisson(1.5, size=(ROWS, 6))
NAMES = np.array(["eggs", "ham", "späm"])[np.arange(ROWS) % 3]
TARGET = NUMBERS @ [1.0, 200.0, 1e-4, -1.0] + RNG.normal(size=ROWS)
TWO_TARGETS = np.column_stack([TARGET, RNG.normal(size=ROWS)])
NORMAL = suffice.MultivariateNormal

CLASSIFIERS = {
    "GaussianNB": (naive_bayes.GaussianNB(), WITH_MISSING),
    "GaussianNB calibrated": (naive_bayes.GaussianNB(calibrate="loo"), NUMBERS),
    "GaussianNB predictive": (
        naive_bayes.GaussianNB(estimate="predictive", tie="class"),
        WITH_MISSING,
    ),
    "GaussianNB prior": (
        naive_bayes.GaussianNB(
            estimate="map", prior=suffice.NormalInverseGamma(0.0, 1.0, 2.0, [1.0, 2.0, 1e4, 1.0])
        ),
        NUMBERS,
    ),
    "GaussianNB priors": (naive_bayes.GaussianNB(priors=[0.1, 0.2, 0.7]), NUMBERS),
    "BernoulliNB": (naive_bayes.BernoulliNB(alpha=suffice.Beta(1.0, 2.0)), COUNTS),
    "BernoulliNB evidence": (naive_bayes.BernoulliNB(alpha="evidence", binarize=1.0), COUNTS),
    "MultinomialNB": (naive_bayes.MultinomialNB(alpha=np.arange(1.0, 7.0)), COUNTS),
    "MultinomialNB Polya": (
        naive_bayes.MultinomialNB(
            alpha=suffice.Dirichlet(np.ones(6)), estimate="predictive", calibrate="loo"
        ),
        COUNTS,
    ),
    "ComplementNB": (naive_bayes.ComplementNB(norm=True, alpha=np.float64(0.5)), COUNTS),
    "CategoricalNB": (naive_bayes.CategoricalNB(min_categories=9), COUNTS),
    "PoissonNB": (naive_bayes.PoissonNB(alpha=suffice.Gamma(1.0, 2.0)), COUNTS),
    "PoissonNB evidence": (naive_bayes.PoissonNB(alpha="evidence"), COUNTS),
    "LinearDiscriminantAnalysis": (
        discriminant_analysis.LinearDiscriminantAnalysis(),
        WITH_MISSING,
    ),
    "LinearDiscriminantAnalysis float32": (
        discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
        NUMBERS.astype(np.float32),
    ),
    "LinearDiscriminantAnalysis auto": (
        discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        NUMBERS,
    ),
    "QuadraticDiscriminantAnalysis": (
        discriminant_analysis.QuadraticDiscriminantAnalysis(store_covariance=True, tol=0.0),
        NUMBERS,
    ),
    "GaussianDiscriminant": (discriminant_analysis.GaussianDiscriminant(), WITH_MISSING),
    "GaussianDiscriminant full": (
        discriminant_analysis.GaussianDiscriminant(
            "full", prior=suffice.NormalInverseWishart(np.zeros(4), 1.0, 6.0, np.eye(4))
        ),
        NUMBERS,
    ),
    "GaussianDiscriminant spherical": (
        discriminant_analysis.GaussianDiscriminant("spherical", calibrate="loo"),
        NUMBERS,
    ),
    "GaussianDiscriminant low rank": (
        discriminant_analysis.GaussianDiscriminant("low_rank", estimate="mle", rank=1),
        NUMBERS,
    ),
}
REGRESSIONS = {
    "LinearRegression": (linear_model.LinearRegression(), TARGET),
    "LinearRegression positive": (linear_model.LinearRegression(positive=True), TWO_TARGETS),
    "BayesianLinearRegression": (linear_model.BayesianLinearRegression(), TWO_TARGETS),
    "BayesianLinearRegression full": (
        linear_model.BayesianLinearRegression(prior=NORMAL(np.zeros(4), np.eye(4) + 0.1)),
        TARGET,
    ),
    "BayesianLinearRegression lower": (
        linear_model.BayesianLinearRegression(
            prior=NORMAL.from_cholesky(np.zeros(4), np.tril(RNG.random((4, 4)) + 0.1), list("abcd"))
        ),
        TARGET,
    ),
    "BayesianLinearRegression diagonal": (
        linear_model.BayesianLinearRegression(
            np.inf, prior=NORMAL.from_diagonal(np.zeros(4), np.ones(4)), noise_variance=2.0
        ),
        TARGET,
    ),
    "BayesianLinearRegression low rank": (
        linear_model.BayesianLinearRegression(
            prior=NORMAL.from_low_rank(np.zeros(4), RNG.random((4, 1)), np.ones(4))
        ),
        TARGET,
    ),
}
LOGISTIC = {
    "LogisticRegression": linear_model.LogisticRegression(),
    "LogisticRegression weighted": linear_model.LogisticRegression(
        C=np.inf, class_weight={"eggs": 1.0, "ham": 2, "späm": np.float32(1.5)}, max_iter=500
    ),
    "LogisticRegression without intercept": linear_model.LogisticRegression(
        fit_intercept=False, solver="lbfgs", max_iter=5000
    ),
}
EXPANSIONS = {
    "Fourier": basis.Fourier(frequencies=[1, 2.5]),
    "Hinge": basis.Hinge(knots=3),
    "Hinge given": basis.Hinge(knots=[0, 1]),
    "Hinge directions": basis.Hinge(weights=[[1.0, 0.0, -2.0, 0.5], [0.0, 1e-3, 0.0, 1.0]]),
    "LearnedHinge": basis.LearnedHinge(n_features=1, restarts=1, random_state=0),
    "Levels": basis.Levels(),
    "Polynomial": basis.Polynomial(degree=2),
    "Quadratic": basis.Quadratic(),
    "Radial": basis.Radial(centres=3),
    "Radial given": basis.Radial(centres=NUMBERS[:3].tolist()),
    "RandomHinge": basis.RandomHinge(n_features=5, random_state=0),
}
SELECTIONS = {
    "SelectFeatures": lab.SelectFeatures(k=2),
    "SelectFeatures of": lab.SelectFeatures(k=1, model=naive_bayes.GaussianNB(var_smoothing=0.1)),
}


def public_estimators():
    """Return every estimator class that the library exports."""
    things = [getattr(suffice, name) for name in suffice.__all__]
    kinds = [thing for thing in things if isinstance(thing, type)]
    return {kind for kind in kinds if issubclass(kind, BaseEstimator)}


def save_and_load(model, folder):
    """Return the model from a file it was saved to."""
    path = folder / "again.safetensors"
    model.save(path)
    return suffice.load(path)


def assert_same(mine, theirs, where="model", leave_out=()):
    """Assert that two things are the same to the last bit, all the way down."""
    assert type(mine) is type(theirs), where
    if isinstance(mine, np.ndarray):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), where
        same = (
            mine.tolist() == theirs.tolist() if mine.dtype == object else bits(mine) == bits(theirs)
        )
        assert same, where
    elif isinstance(mine, float):
        assert struct.pack("d", mine) == struct.pack("d", theirs), where
    elif isinstance(mine, list | tuple):
        assert len(mine) == len(theirs), where
        for at, pair in enumerate(zip(mine, theirs, strict=True)):
            assert_same(*pair, f"{where}[{at}]")
    elif hasattr(mine, "items"):
        assert list(mine) == list(theirs), where
        for name in mine:
            assert_same(mine[name], theirs[name], f"{where}[{name!r}]")
    elif hasattr(mine, "__dict__") and not isinstance(mine, type):
        mine, theirs = (
            {name: value for name, value in vars(thing).items() if name not in leave_out}
            for thing in (mine, theirs)
        )
        assert mine.keys() == theirs.keys(), where
        for name in mine:
            assert_same(mine[name], theirs[name], f"{where}.{name}", leave_out)
    else:
        assert mine == theirs or mine is theirs, where


def bits(array):
    """Return an array's bytes in C order."""
    return np.ascontiguousarray(array).tobytes()


# Files made by hand, after docs/saved.md and nothing else.


def taken_apart(raw):
    """Return the document of a file as JSON, and its tensors as (type, shape, bytes)."""
    length = int.from_bytes(raw[:8], "little")
    table = json.loads(raw[8 : 8 + length])
    document = json.loads(table.pop("__metadata__")["suffice"])
    table.pop("sha256")
    data = raw[8 + length :]
    tensors = {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in table.items()
    }
    return document, tensors


def parts_of_files(models, folder):
    """Return the document and the tensors of the file of each model, by its name."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models.items():
            model.save(folder / "model")
            found[name] = taken_apart((folder / "model").read_bytes())
    return found


def put_together(document, tensors):
    """Return a file with this document (JSON, or its text) and these tensors, rightly sealed."""
    text = document if isinstance(document, str) else json.dumps(document)
    digest = hashlib.sha256(f"{len(text.encode())}\n{text}".encode())
    for name in sorted(tensors):
        dtype, shape, data = tensors[name]
        lengths = "x".join(map(str, shape))
        digest.update(f"{len(name.encode())} {dtype} {lengths}\n{name}".encode() + data)
    sealed = {**tensors, "sha256": ("U8", [32], digest.digest())}
    table, at = {"__metadata__": {"suffice": text}}, 0
    for name, (dtype, shape, data) in sealed.items():
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    return framed(json.dumps(table).encode(), b"".join(data for _, _, data in sealed.values()))


def framed(header, data):
    """Return a safetensors file of a header and its data."""
    return len(header).to_bytes(8, "little") + header + data


def tensor(values):
    """Return an array as (type, shape, bytes)."""
    array = np.asarray(values)
    kind = {"f": "F", "i": "I", "u": "U"}.get(array.dtype.kind, "BOOL")
    name = kind if kind == "BOOL" else f"{kind}{8 * array.dtype.itemsize}"
    assert math.prod(array.shape) * array.itemsize == array.nbytes
    return name, list(array.shape), bits(array)


def places(node, at=()):
    """Yield the way to every value in a document."""
    if isinstance(node, dict | list):
        for name in node if isinstance(node, dict) else range(len(node)):
            yield (*at, name)
            yield from places(node[name], (*at, name))


def holder(document, way):
    for name in way[:-1]:
        document = document[name]
    return document


def damage_tensor(dice, kind, shape, data):
    """Return a tensor with a few numbers, its shape or its type changed."""
    match dice.randrange(4):
        case 0 if kind == "F64" and data:
            cells = np.frombuffer(data).copy()
            cells[dice.randrange(len(cells))] = dice.choice([np.nan, np.inf, -np.inf, -1.0, 1e308])
            return kind, shape, cells.tobytes()
        case 1:
            return {"F64": "I64", "I64": "F64", "U8": "I8"}.get(kind, kind), shape, data
        case 2:
            return kind, dice.choice([shape[::-1], [*shape, 1], [1, *shape]]), data
    longer = data[: len(data) // 2] + data
    width = {"F64": 8, "I64": 8, "I32": 4}.get(kind, 1)
    return kind, [len(longer) // width], longer[: len(longer) // width * width]
