"""Files at the bounds of what is read: each refusal by the smallest file that meets it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import suffice
from saved_cases import framed, put_together
from suffice import (
    Counts,
    Gamma,
    GaussianNB,
    LinearRegression,
    ModelFileError,
    PoissonNB,
    TextClassifier,
)
from suffice.persist import file_format, loading, values
from suffice.persist.checks import check_calibration, check_gross_scale
from suffice.persist.file_format import DEEPEST, strict_json
from suffice.tally import Blocks, Groups, Moments

RECORD = {"version": "1", "when": "2024-01-01T00:00:00+00:00", "rows": None, "source": None}
METADATA = {"suffice": "{}"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def refusal(path, raw):
    path.write_bytes(raw)
    with pytest.raises(ModelFileError) as caught:
        suffice.load(path)
    return str(caught.value)


def file_of(table, data=b""):
    return framed(json.dumps(table).encode(), data)


def document(**parts):
    whole = {"format": 1, "provenance": RECORD, "model": "GaussianNB", "settings": {}, "state": {}}
    return {**whole, **parts}


def slot(dtype="F64", shape=(1,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize("raw", [b"", b"1234567", (100).to_bytes(8, "little") + b"{}", bytes(20)])
def test_a_header_that_the_file_cannot_hold_is_refused(path, raw):
    assert "It is cut off, or no safetensors file" in refusal(path, raw)


@pytest.mark.parametrize("table", [[], {}, {"__metadata__": 1}])
def test_a_file_without_metadata_is_no_model(path, table):
    assert "It has no metadata" in refusal(path, file_of(table))


@pytest.mark.parametrize("metadata", [{}, {"format": "pt"}, {"suffice": 1}])
def test_metadata_of_something_else_are_refused(path, metadata):
    message = refusal(path, file_of({"__metadata__": metadata}))
    assert "Its metadata are those of something else" in message


def test_more_tensors_than_there_may_be_are_refused(path, monkeypatch):
    monkeypatch.setattr(file_format, "MAX_TENSORS", 1)
    table = {"__metadata__": METADATA, "a": slot(), "b": slot(offsets=(8, 16))}
    assert "It has 2 tensors, where 1 are the most" in refusal(path, file_of(table, bytes(16)))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (slot(dtype="F8"), "has the type 'F8', which is none of"),
        (slot(dtype=None), "has the type None, which is none of"),
        (slot(shape=[-1]), "has a shape or place that is no list of whole numbers"),
        (slot(offsets="08"), "has a shape or place that is no list of whole numbers"),
        (slot(offsets=[0, 8, 8]), "does not fill"),
        (slot(shape=[2]), "does not fill"),
        (slot(offsets=[8, 16]), "begins at byte"),
    ],
)
def test_a_tensor_that_cannot_be_there_is_refused(path, entry, message):
    raw = file_of({"__metadata__": METADATA, "a": entry}, bytes(16))
    assert message in refusal(path, raw)


def test_bytes_beyond_the_tensors_are_refused(path):
    raw = file_of({"__metadata__": METADATA, "a": slot()}, bytes(9))
    assert "where its tensors end at byte" in refusal(path, raw)


def test_a_file_without_a_checksum_is_refused(path):
    text = {"suffice": json.dumps(document())}
    assert "It has no checksum" in refusal(path, file_of({"__metadata__": text}))


def test_a_truth_value_is_0_or_1(path):
    sealed = put_together(document(), {"seen": ("BOOL", [2], b"\x01\x02")})
    assert "a truth value that is neither 0 nor 1" in refusal(path, sealed)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), f"nested {DEEPEST + 1} deep"),
        (b'{"a": 1e999}', "the number 1e999, which is no finite one"),
        (b"[NaN]", "the number NaN, which is no finite one"),
        (b"{", "is no JSON"),
        (b"\xff", "is no JSON"),
    ],
)
def test_json_is_plain(raw, message):
    with pytest.raises(ModelFileError, match=message):
        strict_json(raw, "It")


def test_json_as_deep_as_it_may_be_is_read():
    assert str(strict_json(b"[" * DEEPEST + b"]" * DEEPEST, "It")) == "[" * DEEPEST + "]" * DEEPEST


def test_a_newer_format_asks_for_a_newer_suffice(path):
    message = refusal(path, put_together(document(format=2), {}))
    assert "It is of format 2" in message
    assert "Upgrade suffice to load it" in message


def test_a_dict_of_keys_of_one_hash_is_refused(path, monkeypatch):
    monkeypatch.setattr(loading, "MAX_CLASHES", 0)
    items = [[-1, 0], [-2, 0]]  # Python's hash of -1 is -2
    assert hash(-1) == hash(-2)
    priors = {"is": "dict", "items": items}
    message = refusal(path, put_together(document(settings={"priors": priors}), {}))
    assert "keys that are there twice, or have one hash" in message


def test_more_values_or_models_than_there_may_be_are_refused(path, monkeypatch):
    GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    raw = path.read_bytes()
    monkeypatch.setattr(values, "MAX_VALUES", 0)
    assert "It holds more than 0 tallies and priors" in refusal(path, raw)
    monkeypatch.setattr(values, "MAX_MODELS", 0)
    assert "It holds more than 0 models" in refusal(path, raw)


def test_a_list_of_tallies_has_no_more_axes_than_an_array(monkeypatch):
    tensors = {}
    node = values.many_node([Counts([1.0, 2.0]), Counts([3.0])], "parts", tensors)
    monkeypatch.setattr(values, "MAX_AXES", 0)
    with pytest.raises(ModelFileError, match="A list of tallies of 1 axes, where 0 are the most"):
        values.many_of(node, tensors.pop)


def test_a_pattern_is_refused_until_somebody_vouches_for_it(path):
    words = suffice.CountVectorizer(token_pattern=r"[a-f]+")
    TextClassifier(words=words, calibrate=None).fit(["abc", "def"], ["x", "y"]).save(path)
    with pytest.raises(ModelFileError, match="such a one may take years"):
        suffice.load(path)
    loaded = suffice.load(path, trust_patterns=True)
    assert loaded.predict(["abc"]).tolist() == ["x"]


def test_a_prior_beyond_all_data_is_not_written(path):
    model = PoissonNB().fit([[1.0], [2.0]], ["a", "b"]).set_params(alpha=Gamma(1e200, 1.0))
    with pytest.raises(ModelFileError, match=r"1e\+200 in its shape of a Gamma"):
        model.save(path)
    assert not path.exists()


def test_a_key_that_is_there_twice_is_named():
    with pytest.raises(ModelFileError, match="The header has the key 'b' twice in one object"):
        strict_json(b'{"a": {"b": 1, "c": 2, "b": 3}}', "The header")


def test_a_byte_that_has_changed_is_found_by_the_checksum(path):
    GaussianNB().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"]).save(path)
    raw = bytearray(path.read_bytes())
    at = raw.index(np.float64(5.0).tobytes())
    raw[at] ^= 1
    assert "Its checksum is not that of what it holds" in refusal(path, bytes(raw))


def test_a_regression_is_restored_with_all_that_it_learned(path):
    X = np.arange(12.0).reshape(6, 2) ** 1.5
    model = LinearRegression().fit(X, [1.0, 4.0, 2.0, 8.0, 5.0, 7.0])
    model.save(path)
    np.testing.assert_array_equal(suffice.load(path).predict(X), model.predict(X))


CALIBRATION = {"offsets": np.zeros(2), "weights": np.ones(1), "noise_rate": 0.1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(2)}, "2 inverse temperatures"),
        ({"inverse_temperature": -1.0}, "inverse temperature -1.0, noise rate 0.1"),
        ({"noise_rate": 1.0}, "inverse temperature 2.0, noise rate 1.0"),
        ({"offsets": np.zeros(3)}, "no array of shape"),
    ],
)
def test_a_calibration_of_no_held_out_rows_is_refused(change, message):
    found = SimpleNamespace(**{**CALIBRATION, "inverse_temperature": 2.0, **change})
    with pytest.raises(ModelFileError, match=message):
        check_calibration(found, 2)


TALLY = Groups(["a", "b"], [3.0, 5.0], Blocks((Counts([[3, 0], [1, 4]]), Counts([[3], [5]]))))
MEANS = Moments([3.0], [1.0], [2.0], [4.0])


@pytest.mark.parametrize(
    ("gross", "tally", "message"),
    [
        (Counts([1.0]), TALLY, "is of type Counts"),
        (Groups(["c"], [8.0], Blocks(())), TALLY, "is of other classes, or endless"),
        (Groups(["a"], [np.inf], Blocks(())), TALLY, "is of other classes, or endless"),
        (Groups(["a"], [8.0], Blocks((Counts([[4, 0]]),))), TALLY, "has 1 blocks"),
        (MEANS, MEANS, "is not about 0"),
        (Counts([[4.0]]), Counts([4.0]), r"counts of shape \(1, 1\), or below 0"),
        (Counts([np.inf]), Counts([4.0]), "or endless"),
    ],
)
def test_a_gross_scale_of_other_sums_is_refused(gross, tally, message):
    with pytest.raises(ModelFileError, match=f"Its gross scale .*{message}"):
        check_gross_scale(gross, tally)


@pytest.mark.parametrize("tally", [TALLY, MEANS])
def test_the_gross_scale_of_a_tally_and_of_some_of_its_classes_pass(tally):
    check_gross_scale(tally.magnitude(), tally)
    if tally is TALLY:
        check_gross_scale(tally.magnitude().take([1]), tally)
