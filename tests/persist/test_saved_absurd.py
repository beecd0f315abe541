"""Files that are well formed and absurd: refused when they are loaded, not at their first use."""

import copy

import numpy as np
import pytest

import suffice
from saved_cases import COUNTS, NAMES, NUMBERS, TARGET, WITH_MISSING, parts_of_files, put_together
from suffice import CountVectorizer, ModelFileError, TextClassifier
from test_saved_refusals import data, first, node, numbers, settings, state
from textclassifier_cases import LABELS, MAILS


def models():
    return {
        "counts": suffice.MultinomialNB().fit(COUNTS, NAMES),
        "events": suffice.PoissonNB().fit(COUNTS, NAMES),
        "normals": suffice.GaussianNB(calibrate="loo").fit(NUMBERS, NAMES),
        "quartics": suffice.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(
            NUMBERS, NAMES
        ),
        "missing": suffice.LinearDiscriminantAnalysis().fit(WITH_MISSING, NAMES),
        "line": suffice.LinearRegression().fit(NUMBERS, TARGET),
        "softmax": suffice.LogisticRegression().fit(COUNTS, NAMES),
        "given softmax": suffice.LogisticRegression.from_weights(
            [[1.0], [2.0]], [0.0, 0.0], [0, 1]
        ),
        "Fourier": suffice.Fourier(frequencies=[1, 2]).fit(NUMBERS),
        "Hinge": suffice.Hinge(knots=2).fit(NUMBERS),
        "Levels": suffice.Levels().fit(COUNTS),
        "Polynomial": suffice.Polynomial().fit(NUMBERS),
        "Quadratic": suffice.Quadratic().fit(NUMBERS),
        "Squares": suffice.Quadratic(products=False).fit(NUMBERS),
        "Radial": suffice.Radial(centres=3).fit(NUMBERS),
        "Radial given": suffice.Radial(centres=NUMBERS[:3].tolist()).fit(NUMBERS),
        "RandomHinge": suffice.RandomHinge(n_features=5, random_state=0).fit(NUMBERS),
        "words": CountVectorizer(stop_words=["noon"]).fit(MAILS),
        "given words": CountVectorizer(vocabulary=["noon", "lunch"]).fit(MAILS),
        "mails": TextClassifier(calibrate=None).fit(MAILS, LABELS),
        "cut mails": TextClassifier(calibrate=None, words=CountVectorizer()).fit(MAILS, LABELS),
        "refined mails": TextClassifier(refine="logistic").fit(MAILS, LABELS),
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return parts_of_files(models(), tmp_path_factory.mktemp("whole"))


def all_of(value):
    return lambda array: np.full_like(array, value)


def last(value):
    def act(array):
        array.reshape(-1)[-1] = value
        return array

    return act


def pair(*items):
    return {"is": "tuple", "items": list(items)}


def within_words(**changes):
    """Return a change of the settings of the vectorizer that cuts documents."""

    def change(document, tensors):
        document["settings"]["words"]["holds"]["settings"].update(changes)

    return change


PART = "tally_.parts"
MOST = "where .* is the most"
CASES = {
    # Numbers beyond all that rows can be.
    "counts of 1e200": (
        "counts",
        data(f"{PART}.counts", first(1e200)),
        f"in its counts, {MOST}",
    ),
    "weights of 1e308": (
        "counts",
        data("tally_.weights", all_of(1e308)),
        f"in its weights, {MOST}",
    ),
    "a cell of 1e200": ("normals", data(f"{PART}.origin", first(1e200)), f"in its origin, {MOST}"),
    "a sum of 1e308": ("normals", data(f"{PART}.sum_x", first(1e308)), f"in its sum_x, {MOST}"),
    "a mean of 1e199": ("normals", data(f"{PART}.sum_x", first(1e200)), f"in its mean, {MOST}"),
    "a mean beyond all floats": (
        "normals",
        data(f"{PART}.weight", first(1e-320)),
        "in its mean, where",
    ),
    "squares of 1e308": ("normals", data(f"{PART}.sum_xx", first(1e308)), f"in its sum_xx, {MOST}"),
    "events of 1e101 a row": (
        "events",
        data(f"{PART}.sum_x", first(1e105)),
        f"in its mean, {MOST}",
    ),
    "cells whose fourth powers are none": (
        "quartics",
        data(f"{PART}.origin", first(1e100)),
        f"1e.100 in its origin, {MOST}",
    ),
    "patterns of no rows": (
        "missing",
        data(f"{PART}.parts.weight", all_of(0.0)),
        "Its tally has no rows",
    ),
    "offsets of 1e308": (
        "normals",
        data("calibration_.offsets", first(1e308)),
        f"in its offsets, {MOST}",
    ),
    "an inverse temperature of 1e308": (
        "normals",
        node("state", "calibration_", "fields", "inverse_temperature", value=1e308),
        f"in its inverse temperature, {MOST}",
    ),
    # What stands beside a tally.
    "nothing learned": ("counts", node("state", value={}), "belongs to nothing|learned nothing"),
    "a basis that learned nothing": (
        "Polynomial",
        node("state", value={}),
        "Its model has learned nothing",
    ),
    "targets without names": (
        "line",
        lambda document, tensors: document["state"].pop("_target_names"),
        "'_target_names' is of type int",
    ),
    "a word for a loss": ("softmax", node("state", "loss_curve_", 1, value="low"), "'loss_curve_'"),
    "no losses": ("softmax", state(loss_curve_=[]), "'loss_curve_' is no array of shape"),
    "a number for losses": ("softmax", state(loss_curve_=1.0), "'loss_curve_' is of type float"),
    "a word for rows": ("softmax", state(_total="x"), "'_total' is of type str"),
    "no rows": ("softmax", state(_total=0.0), "It was fitted to 0.0 rows"),
    "no word on the solver": ("softmax", state(solver_=None), "does not say its 'solver_'"),
    "steps of several fits": ("softmax", numbers("n_iter_", [1, 2]), "'n_iter_' is no array of sh"),
    "convergence that is a word": ("softmax", state(converged_="yes"), "'converged_' is of type"),
    "deviations of given weights": (
        "given softmax",
        lambda document, tensors: (
            numbers("coef_sd", np.zeros((2, 1)))(document, tensors),
            numbers("bias_sd", np.zeros(2))(document, tensors),
            document["state"].update(
                _sds=pair(document["state"].pop("coef_sd"), document["state"].pop("bias_sd"))
            ),
        ),
        "standard deviations of weights that were given",
    ),
    # Basis functions that do not fit their columns.
    "a frequency of 0": ("Fourier", data("frequencies_", first(0.0)), "numbers above 0"),
    "no frequency": ("Fourier", data("frequencies_", lambda a: a[:0]), "numbers above 0"),
    "frequencies that fall": ("Fourier", data("frequencies_", lambda a: a[::-1]), "do not ascend"),
    "a period less": ("Fourier", data("period_", lambda a: a[1:]), "each of 4 columns"),
    "a period of 0": ("Fourier", data("period_", first(0.0)), "each of 4 columns"),
    "knots of other columns": ("Hinge", state(n_features_in_=5), "'knots_' are not 5 lists"),
    "a table of knots": (
        "Hinge",
        lambda document, tensors: (
            data("knots_.0", lambda a: a[None])(document, tensors),
            node("state", "knots_", 0, "axes", value=[0, 1])(document, tensors),
        ),
        "do not ascend",
    ),
    "knots that fall": ("Hinge", data("knots_.0", lambda a: a[::-1]), "do not ascend"),
    "an endless knot": ("Hinge", data("knots_.0", last(np.inf)), "do not ascend, or are not fin"),
    "a column of no levels": ("Levels", data("levels_", first(0)), "not 1 or more for each of 6"),
    "levels below 0": ("Levels", data("levels_", first(-(2**62))), "not 1 or more for each"),
    "more levels than memory": (
        "Levels",
        data("levels_", first(10**12)),
        "It makes 10000000000.. columns of a row",
    ),
    "levels that overflow": ("Levels", data("levels_", all_of(2**62)), "columns of a row"),
    "levels of others": ("Levels", data("levels_", lambda a: a[1:]), "for each of 6 columns"),
    "levels in fractions": ("Levels", data("levels_", lambda a: a * 1.0), "no array of whole"),
    "power 0": ("Polynomial", state(_highest=0), "Its highest power is 0"),
    "a power of 1.5": ("Polynomial", state(_highest=1.5), "Its highest power is 1.5"),
    "a power beyond memory": ("Polynomial", state(_highest=10**12), "4000000000000 columns of a"),
    "a pair of no column": ("Quadratic", data("_pairs.1", last(9)), "not those of 4 columns"),
    "a pair less": ("Quadratic", data("_pairs.0", lambda a: a[1:]), "not those of 4 columns"),
    "pairs of fractions": ("Quadratic", data("_pairs.0", lambda a: a * 1.0), "not those of 4"),
    "squares of others": ("Squares", data("_pairs.0", lambda a: a[::-1]), "not those of 4"),
    "centres of fewer columns": (
        "Radial",
        lambda document, tensors: (document["state"]["centres_"].pop(), tensors.pop("centres_.3")),
        "'centres_' are not 4 lists",
    ),
    "a width of 0": ("Radial", data("width_", first(0.0)), "'width_' is not a number above 0"),
    "centres turned round": (
        "Radial given",
        data("centres_", lambda a: a.T),
        r"'centres_' is no array of shape \(4, 4\)",
    ),
    "an endless centre": ("Radial given", data("centres_", first(np.inf)), "of finite numbers"),
    "weights turned round": ("RandomHinge", data("weights_", lambda a: a.T), "'weights_' is no ar"),
    "an offset less": ("RandomHinge", data("offsets_", lambda a: a[1:]), "'offsets_' is no array"),
    "no function": ("RandomHinge", data("weights_", lambda a: a[:0]), "'weights_' is no array"),
    "a mean less": ("RandomHinge", data("mean_", lambda a: a[1:]), "'mean_' is no array"),
    "a scale of 0": ("RandomHinge", data("scale_", first(0.0)), "'scale_' is not a number above"),
    # Words.
    "runs of a million words": ("words", settings(ngram_range=pair(1, 10**6)), "100 words a run"),
    "runs of no words": ("words", settings(ngram_range=pair(0, 1)), "100 words a run are the mo"),
    "runs of fractions": ("words", settings(ngram_range=pair(1.0, 2.0)), "Its ngram_range is"),
    "runs of one number": ("words", settings(ngram_range=pair(1)), "Its ngram_range is"),
    "no way to cut": ("words", settings(token_pattern=None), "token_pattern None is no regular"),
    "stop words of numbers": ("words", settings(stop_words=[1]), "stop_words are not all texts"),
    "a vocabulary of numbers": ("given words", settings(vocabulary=[1, 2]), "that are no texts"),
    "an encoding of nothing": ("words", settings(encoding="egyptian"), "encoding is 'egyptian'"),
    "an encoding that is no text": ("words", settings(encoding="zlib"), "encoding is 'zlib'"),
    "counts of times": ("words", settings(dtype="datetime64[s]"), "dtype is 'datetime64.s.'"),
    "counts of nothing": ("words", settings(dtype="numbers"), "not understood"),
    "a million words a term": ("mails", settings(ngrams=10**6), "100 words a run are the most"),
    "cut by a million words": (
        "cut mails",
        within_words(ngram_range=pair(1, 10**6)),
        "100 words a run are the most",
    ),
    "cut by no pattern": ("cut mails", within_words(token_pattern=None), "is no regular express"),
    "an alpha of 1e308": ("mails", settings(alpha=1e308), r"Its alpha is 1e\+308"),
    "an alpha of 1e-320": ("mails", settings(alpha=1e-320), r"Its alpha is 9.99989e-321"),
    "documents of 1e15 words": (
        "mails",
        data(f"{PART}.counts", first(1e15)),
        f"in its mean lengths of documents, {MOST}",
    ),
    "a factor of 1e308": ("mails", state(_alpha_factor=1e308), "factor or its length discount is"),
    "a refined bias of 1e308": (
        "refined mails",
        data("refined_bias", first(1e308)),
        f"in its refined_bias, {MOST}",
    ),
}


@pytest.mark.parametrize(("which", "change", "message"), CASES.values(), ids=CASES.keys())
def test_a_file_that_is_absurd_is_refused_when_it_is_loaded(
    which, change, message, files, tmp_path
):
    document, tensors = copy.deepcopy(files[which])
    change(document, tensors)
    path = tmp_path / "model"
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(
        ModelFileError, match=f"^Cannot load '.*': .*({message}).*save the model again"
    ):
        suffice.load(path)


def test_the_files_are_loaded_as_they_are(files, tmp_path):
    path = tmp_path / "model"
    for document, tensors in files.values():
        path.write_bytes(put_together(document, tensors))
        suffice.load(path)
