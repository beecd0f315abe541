"""Damaged and hostile files: a ModelFileError each, and little memory."""

import copy
import json
import random
import tracemalloc
import warnings

import numpy as np
import pytest

import suffice
from saved_cases import (
    NAMES,
    NUMBERS,
    WITH_MISSING,
    damage_tensor,
    framed,
    holder,
    places,
    put_together,
    taken_apart,
    tensor,
)
from suffice import ModelFileError
from suffice.persist import describe
from suffice.persist.file_format import MAX_BYTES, MAX_ENTRIES, MAX_TENSORS

pytestmark = pytest.mark.hostile

ROWS, LABELS = WITH_MISSING[:12] / [1.0, 1e-3, 1e4, 1.0], NAMES[:12]
FEW_GAPS = np.where(np.arange(48).reshape(12, 4) == 5, np.nan, NUMBERS[:12])
SMALL = np.abs(np.nan_to_num(ROWS)).astype(int)


def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            suffice.GaussianNB(calibrate="loo", priors=[0.2, 0.3, 0.5]).fit(ROWS, LABELS),
            suffice.BernoulliNB(alpha=suffice.Beta(1.0, 2.0)).fit(SMALL, LABELS.astype(object)),
            suffice.CategoricalNB().fit(SMALL, LABELS),
            suffice.PoissonNB().fit(SMALL, np.arange(12) % 2 == 0),
            suffice.LinearDiscriminantAnalysis().fit(FEW_GAPS, LABELS),
            suffice.LinearRegression().fit(ROWS, ROWS[:, 0]),
            suffice.LogisticRegression().fit(NUMBERS[:12], LABELS),
            suffice.Hinge(knots=2).fit(ROWS),
            suffice.SelectFeatures(k=2).fit(ROWS, LABELS),
        ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model"
    found = []
    for model in fitted():
        model.save(path, source="here")
        found.append(path.read_bytes())
    return found


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Return what comes of loading bytes: the error, or the model; anything else is raised."""
    path = tmp_path_factory.mktemp("damaged") / "model"

    def tried(raw):
        path.write_bytes(raw)
        try:
            return suffice.load(path)
        except ModelFileError as error:
            return error

    return tried


def refused(outcome, raw):
    found = outcome(raw)
    assert not isinstance(found, Exception) or str(found).startswith("Cannot load '")
    return isinstance(found, ModelFileError)


# 5,000 files and more. Damage without a new seal is always noticed.


def test_a_file_cut_off_anywhere_is_refused(files, outcome):
    raw = files[1]
    assert len(raw) > 1500
    assert all(refused(outcome, raw[:size]) for size in range(len(raw)))


def test_a_file_with_a_bit_turned_round_is_refused(files, outcome):
    dice = random.Random(1)
    for _ in range(1500):
        raw = bytearray(dice.choice(files))
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
        assert refused(outcome, raw)


def test_a_file_with_bytes_put_in_taken_out_or_exchanged_is_refused(files, outcome):
    dice = random.Random(2)
    for _ in range(800):
        raw = bytearray(dice.choice(files))
        at, to = sorted(dice.sample(range(len(raw)), 2))
        match dice.randrange(4):
            case 0:
                raw[at:at] = dice.randbytes(dice.randint(1, 9))
            case 1:
                del raw[at:to]
            case 2:
                raw += dice.randbytes(dice.randint(1, 9))
            case 3:
                part = raw[at : at + 8]
                raw[at : at + 8] = bytes(255 - byte for byte in part)
        assert refused(outcome, raw)


def test_random_bytes_are_refused(outcome):
    dice = random.Random(3)
    for size in range(200):
        assert refused(outcome, dice.randbytes(size))
        assert refused(outcome, framed(dice.randbytes(size), dice.randbytes(9)))


# With a new seal, what loads must be a model, and nothing but a ModelFileError may be raised.

ODD = [None, True, -1, 0, 3, 10**30, 1.5, -1e308, "", "x", "evidence", [], [1], {}, {"is": "tuple"}]


def test_documents_with_one_odd_entry_are_refused_or_are_models(files, outcome):
    dice, refusals, models = random.Random(4), 0, 0
    for _ in range(1500):
        document, tensors = taken_apart(dice.choice(files))
        way = dice.choice(list(places(document)))
        within = holder(document, way)
        match dice.randrange(4):
            case 0 | 1:
                within[way[-1]] = copy.deepcopy(dice.choice(ODD))
            case 2:
                del within[way[-1]]
            case 3:
                other = dice.choice(list(places(document)))
                within[way[-1]] = copy.deepcopy(holder(document, other)[other[-1]])
        refusals += refused(outcome, put_together(document, tensors))
        models += 1
    assert refusals > 0.7 * models


def test_tensors_that_were_spoiled_exchanged_or_left_out_are_refused_or_make_models(files, outcome):
    dice, refusals = random.Random(5), 0
    for _ in range(1200):
        document, tensors = taken_apart(dice.choice(files))
        name, other = dice.choice(list(tensors)), dice.choice(list(tensors))
        match dice.randrange(6):
            case 0:
                del tensors[name]
            case 1:
                tensors[name], tensors[other] = tensors[other], tensors[name]
            case 2:
                tensors["further"] = tensors[name]
            case _:
                tensors[name] = damage_tensor(dice, *tensors[name])
        found = outcome(put_together(document, tensors))
        refusals += isinstance(found, ModelFileError)
        if hasattr(found, "predict"):
            answered(found)
    assert refusals > 800


def answered(model):
    """Ask a model that came of a spoiled file: it may complain, but not crash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.predict(np.zeros((2, model.n_features_in_)))
        except (ValueError, ArithmeticError, TypeError):
            return


# Bombs.


def peak(act):
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def entry(shape, begin, end, dtype="F64"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def header(**tensors):
    return json.dumps({"__metadata__": {"suffice": "{}"}, **tensors}).encode()


def document_of(text):
    return put_together(text, {})


BOMBS = {
    "a header as long as numbers go": (b"\xff" * 8 + b"{}", "a header of 18446744073709551615"),
    "a header longer than the most": (
        framed(b" " * (MAX_BYTES + 1), b""),
        f"header has {MAX_BYTES + 1} bytes",
    ),
    "a million tensors": (
        framed(b'{"a":1,%s"b":2}' % (b'"c":3,' * 1_000_000), b""),
        f"header has 100000[0-9] entries, where {MAX_ENTRIES}",
    ),
    "many tensors": (
        framed(header(**{f"t{at}": entry([0], 0, 0) for at in range(MAX_TENSORS + 1)}), b""),
        f"{MAX_TENSORS + 1} tensors",
    ),
    "as many empty objects as may be": (
        framed(b'{"a":[%s{}]}' % (b"{}," * 66_000), b""),
        "no metadata",
    ),
    "deep lists": (framed(b"[" * 1_000_000, b""), "entries"),
    "rather deep lists": (framed(b"[" * 100_000, b""), "nested 100000 deep"),
    "deep objects in the document": (document_of('{"a":' * 10_000), "nested 10000 deep"),
    "a key twice": (framed(b'{"a":1,"a":2}', b""), "key 'a' twice"),
    "a key twice in the document": (document_of('{"a":1,"b":2,"a":2}'), "key 'a' twice"),
    "NaN in the header": (framed(b'{"a":NaN}', b""), "number NaN, which is no finite one"),
    "a number beyond all": (framed(b'{"a":1e999}', b""), "number 1e999"),
    "a number of many digits": (framed(b'{"a":%s}' % (b"9" * 5000), b""), "of 5000 digits"),
    "no text": (framed(b'{"\xff":1}', b""), "is no JSON"),
    "a list for a header": (framed(b"[]", b""), "has no metadata"),
    "other metadata": (framed(b'{"__metadata__":{"format":"pt"}}', b""), "of something else"),
    "metadata of another type": (framed(b'{"__metadata__":{"suffice":1}}', b""), "something else"),
    "shapes that overflow": (
        framed(header(a=entry([2**32, 2**32], 0, 8)), b"\0" * 8),
        r"shape \[4294967296, 4294967296\] and type F64 does not fill \[0, 8\]",
    ),
    "an empty shape beyond all": (
        put_together({"format": 1}, {"a": ("F64", [0, 2**62, 2**62], b"")}),
        "Its document should have",
    ),
    "a negative shape": (framed(header(a=entry([-1], 0, 8)), b"\0" * 8), "no list of whole"),
    "a shape of fractions": (framed(header(a=entry([1.0], 0, 8)), b"\0" * 8), "no list of whole"),
    "a shape of truth": (framed(header(a=entry([True], 0, 8)), b"\0" * 8), "no list of whole"),
    "a shape of none": (framed(header(a=entry(None, 0, 8)), b"\0" * 8), "no list of whole"),
    "an unknown type": (framed(header(a=entry([1], 0, 8, "F9")), b"\0" * 8), "type 'F9', which"),
    "a type of none": (framed(header(a=entry([1], 0, 8, None)), b"\0" * 8), "type None, which"),
    "three places": (
        framed(header(a={"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2]}), b"\0"),
        "does not fill",
    ),
    "a tensor of other entries": (framed(header(a={"dtype": "U8"}), b""), "should have"),
    "a tensor of a number": (framed(header(a=1), b""), "but has int"),
    "an overlap": (
        framed(header(a=entry([1], 0, 8), b=entry([1], 4, 12)), b"\0" * 12),
        "'b' begins at byte .*, where",
    ),
    "a hole": (framed(header(a=entry([1], 8, 16)), b"\0" * 16), "'a' begins at"),
    "data beyond the tensors": (framed(header(a=entry([1], 0, 8)), b"\0" * 9), "its tensors end"),
    "tensors beyond the data": (framed(header(a=entry([2], 0, 16)), b"\0" * 8), "its tensors end"),
    "no checksum": (framed(header(), b""), "has the format None"),
    "no checksum in a document": (
        framed(
            json.dumps(
                {
                    "__metadata__": {
                        "suffice": json.dumps(
                            dict.fromkeys(["provenance", "model", "settings", "state"])
                            | {"format": 1}
                        )
                    }
                }
            ).encode(),
            b"",
        ),
        "has no checksum",
    ),
    "a surrogate for a document": (
        framed(b'{"__metadata__":{"suffice":"\\ud800"}}', b""),
        "UnicodeEncodeError",
    ),
    "a document that is no object": (document_of("[1]"), "format None"),
    "format 0": (document_of('{"format":0}'), "format 0, which never was one"),
    "format true": (document_of('{"format":true}'), "format True"),
    "a document of other entries": (document_of('{"format":1}'), "Its document should have"),
}


@pytest.mark.parametrize(("raw", "message"), BOMBS.values(), ids=BOMBS.keys())
def test_a_hostile_header_is_refused_with_its_reason_and_in_little_memory(raw, message, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(raw)

    def act():
        for read in (suffice.load, describe):
            with pytest.raises(ModelFileError, match=message):
                read(path)

    assert peak(act) < 64 << 20


def test_a_document_at_the_bounds_is_parsed_in_little_memory(tmp_path, files):
    document, tensors = taken_apart(files[0])
    document["settings"]["priors"] = [{"is": []}] * ((MAX_ENTRIES - 200) // 5)
    path = tmp_path / "bomb"
    path.write_bytes(put_together(document, tensors))

    def act():
        with pytest.raises(ModelFileError, match="nothing that is known"):
            suffice.load(path)

    assert peak(act) < 64 << 20


def test_a_newer_format_is_told_from_a_damaged_file(tmp_path):
    path = tmp_path / "newer"
    path.write_bytes(document_of('{"format":2,"everything":"else"}'))
    with pytest.raises(
        ModelFileError,
        match=rf"It is of format 2, and suffice {suffice.__version__} reads format 1. Upgrade "
        "suffice to load it.$",
    ):
        suffice.load(path)


def test_a_truth_value_that_is_none_is_refused(files, tmp_path):
    document, tensors = taken_apart(files[4])
    name = next(name for name, (kind, _, _) in tensors.items() if kind == "BOOL")
    kind, shape, data = tensors[name]
    tensors[name] = kind, shape, b"\2" + data[1:]
    path = tmp_path / "model"
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError, match="truth value that is neither 0 nor 1"):
        suffice.load(path)


def test_few_bytes_do_not_ask_for_many(tmp_path, files):
    """Widths, numbers of columns and lists of shapes that would take gigabytes."""
    document, tensors = taken_apart(files[0])
    wide = copy.deepcopy(document)
    wide["state"]["tally_"]["fields"]["classes"]["width"] = 2**40
    many = copy.deepcopy(document)
    many["state"]["n_features_in_"] = 10**10
    listed, further = taken_apart(files[2])
    at = listed["state"]["tally_"]["fields"]["parts"]["parts"]["at"]
    further[f"{at}.counts.shapes"] = tensor(np.zeros((1_000_000, 2), np.int64))
    path = tmp_path / "model"
    for raw in (
        put_together(wide, tensors),
        put_together(many, tensors),
        put_together(listed, further),
    ):
        path.write_bytes(raw)

        def act():
            with pytest.raises(ModelFileError):
                suffice.load(path)

        assert peak(act) < 64 << 20
