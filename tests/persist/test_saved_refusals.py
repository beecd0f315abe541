"""States that do not go together, in files that are whole: refused by what is wrong with them."""

import copy
import sys

import numpy as np
import pytest

import suffice
from saved_cases import (
    COUNTS,
    NAMES,
    NUMBERS,
    TARGET,
    WITH_MISSING,
    parts_of_files,
    put_together,
    taken_apart,
    tensor,
)
from suffice import ModelFileError

PART = "tally_.parts"
FULL = "Its tally is of type Moments, where full Moments of all rows are due"


def models():
    from sklearn.covariance import LedoitWolf

    estimated = suffice.QuadraticDiscriminantAnalysis(
        solver="eigen", covariance_estimator=LedoitWolf(), tol=0.0
    )
    estimated.fit(NUMBERS, NAMES).set_params(covariance_estimator=None)
    return {
        "gaussian": suffice.GaussianNB(calibrate="loo").fit(NUMBERS, NAMES),
        "counts": suffice.MultinomialNB().fit(COUNTS, NAMES),
        "levels": suffice.CategoricalNB().fit(COUNTS, NAMES),
        "missing": suffice.LinearDiscriminantAnalysis().fit(WITH_MISSING, NAMES),
        "estimated": estimated,
        "line": suffice.LinearRegression().fit(NUMBERS, TARGET),
        "softmax": suffice.LogisticRegression().fit(COUNTS, NAMES),
        "hinge": suffice.Hinge(knots=2).fit(NUMBERS),
        "chosen": suffice.SelectFeatures(model=suffice.GaussianNB()).fit(NUMBERS, NAMES),
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return parts_of_files(models(), tmp_path_factory.mktemp("whole"))


def state(**changes):
    """Return a change of the state, in which None leaves an attribute out."""

    def change(document, tensors):
        for name, node in changes.items():
            document["state"].pop(name, None)
            if node is not None:
                document["state"][name] = node

    return change


def settings(**changes):
    def change(document, tensors):
        document["settings"].update(changes)

    return change


def data(name, act):
    """Return a change of one tensor's numbers."""

    def change(document, tensors):
        kind, shape, raw = tensors[name]
        dtype = {"F64": "<f8", "I64": "<i8", "BOOL": "?", "I32": "<i4", "U8": "u1"}[kind]
        tensors[name] = tensor(act(np.frombuffer(raw, dtype).reshape(shape).copy()))

    return change


def numbers(name, values):
    """Return a change that has an attribute be other numbers."""

    def change(document, tensors):
        array = np.asarray(values)
        tensors.pop(name, None)
        tensors[f"{name} new"] = tensor(array)
        axes = list(range(array.ndim))
        document["state"][name] = {"is": "array", "tensor": f"{name} new", "axes": axes}

    return change


def node(*way, value):
    def change(document, tensors):
        within = document
        for name in way[:-1]:
            within = within[name]
        within[way[-1]] = value

    return change


def first(value):
    def act(array):
        array.reshape(-1)[0] = value
        return array

    return act


CASES = {
    "counts that are NaN": ("counts", data(f"{PART}.counts", first(np.nan)), "Count .* is nan"),
    "counts below 0": ("counts", data(f"{PART}.counts", first(-1.0)), "Count .* is -1"),
    "endless counts": ("counts", data(f"{PART}.counts", first(np.inf)), "no finite numbers"),
    "NaN orderings": ("counts", data(f"{PART}.log_orderings", first(np.nan)), "no finite numbers"),
    "sums that are NaN": ("gaussian", data(f"{PART}.sum_x", first(np.nan)), "sum_x that are no"),
    "a column less": ("counts", data(f"{PART}.counts", lambda a: a[:, 1:]), "of shape .3, 5."),
    "a class less": ("counts", data(f"{PART}.counts", lambda a: a[1:]), "of shape .2, 6."),
    "orderings of others": ("counts", data(f"{PART}.log_orderings", lambda a: a[1:]), "shape .2,"),
    "weights of no rows": ("counts", data("tally_.weights", lambda a: 0 * a), "have no rows"),
    "endless weights": ("counts", data("tally_.weights", first(np.inf)), "or endless ones"),
    "classes not sorted": (
        "counts",
        data("tally_.classes.letters", first(ord("z"))),
        "not sorted",
    ),
    "no tally": ("counts", state(tally_=3), "tally is of type int, where Groups are due"),
    "nothing learned": ("counts", state(tally_=None), "A MultinomialNB without 'tally_'"),
    "a bare tally": (
        "counts",
        lambda document, tensors: document["state"].update(
            tally_=document["state"]["tally_"]["fields"]["parts"]
        ),
        "tally is of type Counts, where Groups are due",
    ),
    "parts that are none": (
        "counts",
        node("state", "tally_", "fields", "parts", value=3),
        "tally is of type Groups, where Groups are due",
    ),
    "parts of another kind": (
        "counts",
        node("model", value="BernoulliNB"),
        r"of shape \(3, 6\), where \(3, 6, 2\) is due",
    ),
    "no columns": ("counts", state(n_features_in_=None), "It has None columns"),
    "columns of truth": ("counts", state(n_features_in_=True), "It has True columns"),
    "more columns": ("counts", state(n_features_in_=7), r"shape \(3, 6\), where \(3, 7\) is due"),
    "columns beyond all": ("counts", state(n_features_in_=10**12), "tally of fewer numbers"),
    "names of columns": ("counts", state(feature_names_in_=["a"]), "names of columns are not 6"),
    "names of fewer": (
        "counts",
        numbers("feature_names_in_", np.zeros(6)),
        "names of columns are not 6 texts",
    ),
    "an unknown attribute": ("counts", state(__class__=1), "learns nothing named '__class__'"),
    "an unknown parameter": ("counts", settings(n=1), "MultinomialNB has no parameter 'n'"),
    "a parameter out of range": ("counts", settings(alpha=-1.0), "InvalidParameterError"),
    "closed by a number": ("counts", state(classes_closed_=1), "'classes_closed_' is of type int"),
    "not closed and not open": (
        "counts",
        state(classes_closed_=None),
        "'classes_closed_' is of type NoneType",
    ),
    "new classes of none": ("counts", state(new_classes_=1), "'new_classes_' is of type int"),
    "a reason of numbers": ("counts", state(_not_yet=1), "'_not_yet' is of type int"),
    "a column of levels less": (
        "levels",
        node("state", "n_features_in_", value=5),
        "6 blocks, where 5 are due",
    ),
    "levels that nobody saw": (
        "levels",
        settings(min_categories=10**8),
        "min_categories asks for 600000000 levels",
    ),
    "a class of levels less": (
        "levels",
        data(f"{PART}.parts.counts.shapes", lambda a: a[:, ::-1]),
        "Its tally has counts of shape",
    ),
    "levels without an axis": (
        "levels",
        lambda document, tensors: (
            data(f"{PART}.parts.counts.shapes", lambda a: np.zeros((6, 0), int))(document, tensors),
            data(f"{PART}.parts.counts", lambda a: a[:6])(document, tensors),
        ),
        "Its tally has counts of shape",
    ),
    "no whole rows": (
        "missing",
        lambda document, tensors: [
            data(f"{PART}.seen", lambda a: np.pad(a, ((0, 0), (0, 1))))(document, tensors),
            state(n_features_in_=5)(document, tensors),
        ],
        "tally has no place for complete rows",
    ),
    "a pattern less": ("missing", data(f"{PART}.seen", lambda a: a[1:]), "ValueError: zip"),
    "a wider table of missing values": (
        "missing",
        data(f"{PART}.seen", lambda a: np.pad(a, ((0, 0), (0, 1)))),
        "tally is of 5 columns, where 4 are due",
    ),
    "endless sums": ("missing", data(f"{PART}.parts.sum_x", first(np.inf)), "no finite numbers"),
    "patterns of fewer classes": (
        "missing",
        lambda document, tensors: [
            data("tally_.weights", lambda a: a[1:])(document, tensors),
            node("state", "tally_", "fields", "classes", "shape", value=[2])(document, tensors),
            data("tally_.classes.ends", lambda a: a[1:])(document, tensors),
            node("state", "tally_", "fields", "classes", "width", value=9)(document, tensors),
        ],
        r"tally is of \(3,\) classes, where 2 are due",
    ),
    "another type of rows": ("missing", state(_float_type=3), "Its rows were of 3"),
    "covariances of others": (
        "estimated",
        data("_row_covariances", lambda a: a[1:]),
        r"'_row_covariances' is no array of shape \(3, 4, 4\)",
    ),
    "a total of none": ("estimated", state(_row_total=1), "'_row_total' is no array of numbers"),
    "a calibration of none": ("gaussian", state(calibration_=1), "'calibration_' is of type int"),
    "a calibration of fewer classes": (
        "gaussian",
        data("calibration_.offsets", lambda a: a[1:]),
        r"'offsets' is no array of shape \(3,\)",
    ),
    "a calibration of NaN": (
        "gaussian",
        node(
            "state",
            "calibration_",
            "fields",
            "inverse_temperature",
            value={"is": "float", "text": "nan"},
        ),
        "inverse temperature nan, noise rate",
    ),
    "a calibration of noise alone": (
        "gaussian",
        node("state", "calibration_", "fields", "noise_rate", value=1.0),
        "noise rate 1.0",
    ),
    "stale by a number": (
        "gaussian",
        state(calibration_stale_=1),
        "'calibration_stale_' is of type int",
    ),
    "a line of no moments": (
        "line",
        state(tally_=1),
        "Its tally is of type int, where full Moments",
    ),
    "a line of diagonal moments": (
        "line",
        lambda document, tensors: [
            data("tally_.weight", lambda a: np.full(5, float(a)))(document, tensors),
            data("tally_.sum_xx", np.diagonal)(document, tensors),
            node("state", "tally_", "fields", "weight", "axes", value=[0])(document, tensors),
            node("state", "tally_", "fields", "sum_xx", "axes", value=[0])(document, tensors),
        ],
        FULL,
    ),
    "a line of columns only": ("line", state(n_features_in_=5), "of 5 columns and targets"),
    "a line of no rows": ("line", data("tally_.weight", lambda a: 0 * a), "or of no rows"),
    "a line of NaN": ("line", data("tally_.sum_xx", first(np.nan)), "sum_xx that are no finite"),
    "no word on targets": ("line", state(_single_target=None), "_single_target None"),
    "one target that is two": ("line", state(n_features_in_=3), "2 targets have _single_target"),
    "names of targets": (
        "line",
        state(_target_names={"is": "tuple", "items": ["a", "b"]}),
        "1 targets have the names",
    ),
    "rows left out by a word": (
        "line",
        state(n_rows_left_out_="1"),
        "'n_rows_left_out_' is of type str",
    ),
    "fewer than no rows": ("line", state(n_rows_left_out_=-1), "left out fewer than no rows"),
    "weights of fewer columns": ("softmax", data("coef_", lambda a: a[:, 1:]), "has 5 columns"),
    "weights of fewer classes": ("softmax", data("coef_", lambda a: a[1:]), "for other classes"),
    "weights of NaN": ("softmax", data("coef_", first(np.nan)), "coef holds nan"),
    "weights of none": ("softmax", state(coef_=1), "'coef_' is of type int"),
    "no intercept": ("softmax", state(intercept_=None), "KeyError: 'intercept_'"),
    "deviations of others": ("softmax", data("_sds.0", lambda a: a[1:]), "'coef_sd_' is no array"),
    "knots of NaN": ("hinge", data("knots_.0", first(np.nan)), "'knots_' is missing, or holds"),
    "no knots": ("hinge", state(knots_=None), "'knots_' is missing"),
    "no model": ("chosen", state(model_=1), "'model_' is of type int"),
    "an unfitted model": (
        "chosen",
        node("state", "model_", "holds", "state", value={}),
        "NotFittedError|AttributeError",
    ),
    "tensors of nothing": (
        "counts",
        lambda document, tensors: tensors.update(more=tensor(np.zeros(1))),
        "tensor 'more' belongs to nothing",
    ),
    "settings that are no names": (
        "counts",
        node("settings", value=[]),
        "of type list where names and",
    ),
    "a class that is none": (
        "counts",
        node("model", value="Counts"),
        "names 'Counts', which is no",
    ),
    "a record of other types": (
        "counts",
        node("provenance", "rows", value="many"),
        "provenance has entries of other types",
    ),
    "a record of no time": ("counts", node("provenance", "when", value="soon"), "isoformat"),
}


@pytest.mark.parametrize(("which", "change", "message"), CASES.values(), ids=CASES.keys())
def test_a_state_that_does_not_go_together_is_refused(which, change, message, files, tmp_path):
    document, tensors = copy.deepcopy(files[which])
    change(document, tensors)
    path = tmp_path / "model"
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(
        ModelFileError, match=f"^Cannot load '.*': .*({message}).*save the model again"
    ):
        suffice.load(path)


def test_weights_of_quartics_below_0_are_refused(tmp_path):
    path = tmp_path / "model"
    model = suffice.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model.fit(NUMBERS, NAMES).save(path)
    document, tensors = taken_apart(path.read_bytes())
    data(f"{PART}.weight", first(-1.0))(document, tensors)
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError, match="weight that are no finite numbers, or below 0"):
        suffice.load(path)


def test_a_library_that_cannot_be_imported_is_no_fault_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    suffice.Polynomial().fit(NUMBERS).save(path)

    monkeypatch.setitem(sys.modules, "suffice.basis", None)  # an import of it fails
    with pytest.raises(ImportError, match=r"import of suffice\.basis halted"):
        suffice.load(path)
