"""Values in a document: every number, text and array comes back as it was, or is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from saved_cases import assert_same
from suffice import Blocks, Counts, Events, GaussianNB, Groups, ModelFileError, Moments, Patterns
from suffice.persist.file_format import plain_json, strict_json
from suffice.persist.loading import Decoder
from suffice.persist.saving import Encoder
from suffice.persist.values import MAX_PADDING, axes_of
from suffice.tally import Quartics


def there_and_back(value):
    encoder = Encoder()
    text = plain_json(encoder.node(value, "value"))
    tensors = {name: array.copy() for name, array in encoder.tensors.items()}
    decoder = Decoder(tensors)
    found = decoder.value(strict_json(text.encode(), "The document"))
    decoder.finish()
    return found


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None), max_size=5)
)
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(PLAIN.filter(lambda key: key == key), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(NESTED)
def test_nested_values_come_back(value):
    assert_same(value, there_and_back(value))


NUMERIC = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="<")
    | hnp.unsigned_integer_dtypes(endianness="<")
    | hnp.floating_dtypes(sizes=(16, 32, 64), endianness="<")
    | hnp.datetime64_dtypes(endianness="<")
    | hnp.timedelta64_dtypes(endianness="<")
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@given(hnp.arrays(NUMERIC, SHAPES), st.permutations([0, 1, 2]))
def test_arrays_of_numbers_come_back_and_lie_as_they_lay(array, order):
    turned = array.transpose([axis for axis in order if axis < array.ndim])
    found = there_and_back(turned)
    assert_same(turned, found)
    if array.size:
        assert axes_of(found) == axes_of(turned)


@given(hnp.arrays(hnp.unicode_string_dtypes(endianness="=", max_len=6), SHAPES))
def test_arrays_of_text_come_back(array):
    assert_same(array, there_and_back(array))
    assert_same(array.astype(object), there_and_back(array.astype(object)))


@pytest.mark.parametrize(
    "value",
    [
        np.float32(1.5),
        np.float64(-0.0),
        np.int64(2**62 + 1),
        np.bool_(True),
        np.str_("späm"),
        np.datetime64("2020-01-01T00:00", "m"),
        5e-324,
        -0.0,
        float("inf"),
        float("nan"),
        2**53 + 1,
        "\ud800",
        np.float32,
        np.array([np.nan, -np.nan, -0.0, 5e-324]),
    ],
    ids=repr,
)
def test_odd_values_come_back(value):
    assert_same(value, there_and_back(value))


def test_numbers_of_the_other_byte_order_come_back_in_this_one():
    found = there_and_back(np.array([1, 2], ">i4"))
    assert found.dtype == np.int32
    assert found.tolist() == [1, 2]
    times = there_and_back(np.array([1, 2], ">M8[s]"))
    assert times.dtype == np.dtype("M8[s]")
    assert times.astype(int).tolist() == [1, 2]


def test_one_long_text_among_many_short_ones_is_stored_as_wide_as_it_is():
    array = np.array(["x" * 10_000, *["y"] * 500])
    encoder = Encoder()
    node = encoder.node(array, "words")
    assert node["is"] == "wide text"
    assert_same(array, there_and_back(array))
    assert encoder.node(array[1:3].astype("U9"), "few")["is"] == "text"
    assert MAX_PADDING < 10_000 * 4


def test_a_strided_array_comes_back_dense():
    array = np.arange(24.0).reshape(4, 6)[::2, ::-1]
    assert_same(array, there_and_back(array))
    assert there_and_back(np.broadcast_to(1.0, (3, 2))).tolist() == [[1.0, 1.0]] * 3


MOMENTS = Moments([1.0], [[2.0]], [[0.0]], [[[3.0]]])


@pytest.mark.parametrize(
    "tally",
    [
        Counts([1.5, 2.0]),
        Events(1.0, 2.0, 3.0),
        MOMENTS,
        Quartics(1.0, [5.0], [0.0, 0.0], np.zeros((2, 2))),
        Groups(["a"], [1.0], Counts([[2, 0]])),
        Blocks((Counts([1, 2]), Counts([3.0]))),
        Blocks((Counts([1, 2]), Counts([[3.0]]))),
        Blocks((Counts([1, 2]), Events(1, 2, 3))),
        Blocks((Counts(np.ones((2, 3)).T), Counts(np.ones((3, 2))))),
        Blocks(()),
        Blocks((Groups(["a"], [1.0], Counts([[2, 0]])),)),
        Patterns(1, {(0,): MOMENTS}),
    ],
    ids=lambda tally: type(tally).__name__,
)
def test_tallies_come_back_read_only(tally):
    found = there_and_back(tally)
    assert_same(tally, found)
    assert found == tally
    assert not [a for a in vars(found).values() if getattr(a, "flags", a) and writeable(a)]


def writeable(thing):
    return isinstance(thing, np.ndarray) and thing.flags.writeable


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (print, "builtin_function_or_method"),
        (np.random.default_rng(0), "Generator"),
        (np.random.RandomState(0), "RandomState"),
        (np.array([1j]), "array of complex128"),
        (np.array([1], object), "array of object"),
        (np.array([b"x"]), r"array of \|S1"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        ({1, 2}, "set"),
        (int, "type"),
        (np.longdouble(1), "array of float128"),
        ([1, [{"a": b"x"}]], "bytes"),
        (type("GaussianNB", (GaussianNB,), {})(), "GaussianNB"),
        (type("Counts", (), {})(), "Counts"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_no_file_can_hold_is_refused_by_name(value, message):
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    model.priors = value
    with pytest.raises(
        ModelFileError,
        match=rf"^Cannot save this GaussianNB: the parameter 'priors' holds what no file can hold "
        rf"\({message}\). Use numbers, text, .* of this library; nothing was written",
    ):
        model.save("nowhere")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"is": "lambda"}, "holds 'lambda', which is nothing that is known"),
        ({}, "holds None, which is nothing"),
        ({"is": ["tuple"]}, "which is nothing that is known"),
        ({"is": "tuple"}, r"should have the entries \['is', 'items'\]"),
        ({"is": "tuple", "items": 3}, "items of type int"),
        ({"is": "float", "text": "1"}, "A number is '1'"),
        ({"is": "float", "text": []}, r"A number is \[\]"),
        ({"is": "number type", "name": "object"}, "A type of numbers is 'object'"),
        ({"is": "number type", "name": 1}, "A type of numbers is 1"),
        ({"is": "scalar", "array": 3}, "no array without axes"),
        ({"is": "scalar", "array": {"is": "array", "tensor": "a", "axes": [0]}}, "without axes"),
        ({"is": "array", "tensor": "b", "axes": [0]}, "tensor 'b' is missing, or used twice"),
        ({"is": "array", "tensor": 3, "axes": [0]}, "tensor 3 is missing"),
        ({"is": "array", "tensor": "a", "axes": [1]}, r"1 axes lies in the order \[1\]"),
        ({"is": "array", "tensor": "a", "axes": [0.0]}, "lies in the order"),
        ({"is": "array", "tensor": "a", "axes": None}, "lies in the order"),
        ({"is": "times", "dtype": "object", "numbers": 1}, "which is no type of times"),
        ({"is": "times", "dtype": 1, "numbers": 1}, "which is no type of times"),
        ({"is": "times", "dtype": "datetime64[s]", "numbers": 1}, "has no numbers"),
        (
            {
                "is": "times",
                "dtype": "datetime64[s]",
                "numbers": {"is": "array", "tensor": "a", "axes": [0]},
            },
            "numbers of type float64, not int64",
        ),
        ({"is": "Counts", "fields": {"counts": 1}}, "A Counts should have"),
        ({"is": "Counts", "fields": []}, "of type list where names and values are due"),
        ({"is": "MultivariateNormal", "fields": {"mean": 0}}, "MultivariateNormal has the fields"),
        ({"is": "MultivariateNormal", "fields": {"covariance": 0}}, "MultivariateNormal has"),
        ({"is": "many", "of": "Beta()", "at": "a"}, r"A list is of 'Beta\(\)'"),
        ({"is": "many", "of": [], "at": "a"}, "A list is of"),
        ({"is": "Patterns", "seen": 1, "parts": []}, "no table of truth values"),
        ({"is": "model", "holds": 1}, r"should have the entries \['model'"),
        (
            {"is": "model", "holds": {"model": "Counts", "settings": {}, "state": {}}},
            "names 'Counts', which is no model of suffice",
        ),
        (
            {"is": "model", "holds": {"model": "os", "settings": {}, "state": {}}},
            "names 'os', which",
        ),
        ({"is": "model", "holds": {"model": 3, "settings": {}, "state": {}}}, "names 3, which"),
    ],
    ids=str,
)
def test_nodes_that_are_none_are_refused(node, message):
    with pytest.raises(ModelFileError, match=message):
        Decoder({"a": np.array([1.0])}).value(json.loads(json.dumps(node)))


def text(letters, ends, width=1, shape=None):
    node = {"is": "text", "shape": shape, "width": width, "letters": "l", "ends": "e"}
    tensors = {"l": np.asarray(letters), "e": np.asarray(ends)}
    return node | {"shape": [len(ends)] if shape is None else shape}, tensors


UTF8 = np.frombuffer(b"ab", np.uint8)


@pytest.mark.parametrize(
    ("node", "tensors", "message"),
    [
        (*text(UTF8.astype(float), [1, 2]), "letters or ends of another type"),
        (*text(UTF8, np.array([[1, 2]])), "letters or ends of another type"),
        (*text(UTF8, [2, 1]), "do not follow each other"),
        (*text(UTF8, [-1, 2]), "do not follow each other"),
        (*text(UTF8, [1, 3]), "do not follow each other"),
        (*text(UTF8, [1, 2], shape=[3]), r"2 texts has the shape \[3\]"),
        (*text(UTF8, [1, 2], shape=2), "has the shape 2"),
        (*text(UTF8, [1, 2], shape=[-1, -2]), "has the shape"),
        (*text(UTF8, [1, 2], width=10**12), "1000000000000 letters wide"),
        (*text(UTF8, [1, 2], width="1"), "'1' letters wide"),
        (*text(UTF8, [1, 2], width=0), "0 letters wide"),
        (*text(UTF8, [2]), "wider than the 1 letters"),
        ({"is": "wide text", "tensor": "w"}, {"w": np.array([1.0])}, "of another type"),
        ({"is": "wide text", "tensor": "w"}, {"w": np.array(1, np.uint32)}, "of another type"),
        ({"is": "wide text", "tensor": "w"}, {"w": np.array([2**31], np.uint32)}, "is the last"),
        ({"is": "Patterns", "seen": 0, "parts": []}, {"s": np.array([[True], [True]])}, "twice"),
        (
            {"is": "Patterns", "seen": 0, "parts": []},
            {"s": np.array([[False]])},
            "no values",
        ),
        ({"is": "many", "of": "Dirichlet", "at": "m"}, {"m": [1.0], "m.shapes": [2]}, "numbers or"),
        ({"is": "many", "of": "Dirichlet", "at": "m"}, {"m": [1.0], "m.shapes": [[-1]]}, "numbers"),
        (
            {"is": "many", "of": "Dirichlet", "at": "m"},
            {"m": [1.0], "m.shapes": [[2]]},
            "2 are due",
        ),
        (
            {"is": "many", "of": "Dirichlet", "at": "m"},
            {"m": [1.0], "m.shapes": np.zeros((100_001, 1), np.int64)},
            "100001 tallies, where 100000 are the most",
        ),
    ],
)
def test_tensors_that_do_not_go_with_their_node_are_refused(node, tensors, message):
    if node["is"] == "Patterns":
        node = node | {"seen": {"is": "array", "tensor": "s", "axes": [0, 1]}}
    if node["is"] == "many":
        tensors = {name.replace("m", "m.concentration", 1): a for name, a in tensors.items()}
    with pytest.raises(ModelFileError, match=message):
        Decoder({name: np.asarray(array) for name, array in tensors.items()}).value(node)


def test_fields_of_different_lengths_are_no_list_of_tallies():
    tensors = {
        "m.shape": np.array([1.0]),
        "m.shape.shapes": np.array([[1]]),
        "m.rate": np.array([1.0, 2.0]),
        "m.rate.shapes": np.array([[1], [1]]),
    }
    with pytest.raises(ModelFileError, match="A list of Gamma has fields of different lengths"):
        Decoder(tensors).value({"is": "many", "of": "Gamma", "at": "m"})


def test_letters_that_are_no_text_are_refused():
    node, tensors = text(np.array([255], np.uint8), [1])
    with pytest.raises(UnicodeDecodeError):
        Decoder(tensors).value(node)
