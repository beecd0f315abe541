"""Hostile headers and documents as large as they may be: judged in time that is linear in them."""

import json
import resource
import subprocess
import sys

import pytest

import suffice
from saved_cases import framed, put_together
from suffice import GaussianNB, ModelFileError
from suffice.persist.file_format import MAX_AXES, MAX_BYTES, MAX_LONG, strict_json
from suffice.persist.loading import MAX_CLASHES
from suffice.persist.values import MAX_MODELS, MAX_VALUES

ALMOST = MAX_BYTES - 100
# Python's hash of a whole number is what is left of it by this one.
MODULUS = sys.hash_info.modulus
RECORD = {"version": "1", "when": "2024-01-01T00:00:00+00:00", "rows": None, "source": None}


def keys(first, last):
    return ",".join(f'"{at:x}":0' for at in range(first, last))


def header(text):
    return framed(text if isinstance(text, bytes) else text.encode(), b"")


def shape(lengths):
    entry = {"dtype": "F64", "shape": lengths, "data_offsets": [0, 8]}
    return header(json.dumps({"__metadata__": {"suffice": "{}"}, "a": entry}))


def document(**settings):
    parts = {"format": 1, "provenance": RECORD, "model": "GaussianNB", "settings": settings}
    return put_together(json.dumps({**parts, "state": {}}, separators=(",", ":")), {})


def dictionary(keys):
    return {"is": "dict", "items": [[key, 0] for key in keys]}


def tuples_of_one_hash(count):
    """Return pairs of numbers of 64 bits with one hash: each first number has a second for it."""
    one, two, five, mask = (
        11400714785074694791,
        14029467366897019727,
        2870177450012600261,
        2**64 - 1,
    )
    found, first, inverse = [], 0, pow(two, -1, 2**64)
    while len(found) < count:
        first += 1
        lane = (five + first * two) & mask
        lane = ((lane << 31) | (lane >> 33)) * one & mask
        second = (0 - lane) * inverse & mask  # what is added up to 0
        if second < MODULUS:
            found.append((first, second))
    return found


def value(name, **fields):
    return {"is": name, "fields": fields}


# What is said of each, and how it is made: 8 MB or 200,000 entries, of what takes longest.
HEADERS = {
    "many keys, the last twice": (
        "has the key 'z' twice",
        lambda: header("{" + keys(0, 190_000) + ',"z":0,"z":0}'),
    ),
    "every key twice": (
        "has the key '0' twice",
        lambda: header("{" + keys(0, 95_000) + "," + keys(0, 95_000) + "}"),
    ),
    "keys twice at every depth": (
        "has the key 'z' twice",
        lambda: header('{"a":' * 60 + "{" + keys(0, 190_000) + ',"z":0,"z":0}' + ',"a":0}' * 60),
    ),
    "one long key": ("no metadata", lambda: header('{"' + "k" * ALMOST + '":0}')),
    "long keys": (
        "no metadata",
        lambda: header("{" + ",".join(f'"{at:0100000}":0' for at in range(80)) + "}"),
    ),
    "escapes": ("no metadata", lambda: header('{"' + "\\u0041" * (ALMOST // 6) + '":0}')),
    "half surrogates": ("no metadata", lambda: header('{"' + "\\ud83d" * (ALMOST // 6) + '":0}')),
    "backslashes": ("no metadata", lambda: header('{"' + "\\\\" * (ALMOST // 2) + '":0}')),
    "an open text": ("is no JSON", lambda: header('{"' + "k" * ALMOST)),
    "nothing but quotes": ("is no JSON", lambda: header("{" + '""' * (ALMOST // 2) + "}")),
    "nothing but lines": ("is no JSON", lambda: header("{" + "\n" * ALMOST)),
    "nesting again and again": (
        "no metadata",
        lambda: header('{"a":[' + ",".join(["[" * 60 + "]" * 60] * 1600) + "]}"),
    ),
    "small lists": ("no metadata", lambda: header('{"a":[' + ",".join(["[]"] * 66_000) + "]}")),
    "a whole number": (
        "whole number of 8388508 digits",
        lambda: header('{"a":' + "9" * ALMOST + "}"),
    ),
    "whole numbers": (
        "whole number of 4000 digits",
        lambda: header('{"a":[' + ",".join(["9" * 4000] * 2000) + "]}"),
    ),
    "a fraction": ("no metadata", lambda: header('{"a":0.' + "1" * ALMOST + "}")),
    "an exponent": ("no metadata", lambda: header('{"a":1e' + "0" * ALMOST + "1}")),
    "fractions": (
        "no metadata",
        lambda: header(
            '{"a":[' + ",".join(["9007199254740993." + "0" * 40 + "1"] * 140_000) + "]}"
        ),
    ),
    "a shape of many lengths": ("no list of whole numbers", lambda: shape([9] * 190_000)),
    "a shape of long lengths": ("whole number of 4001 digits", lambda: shape([10**4000] * 2000)),
    "a dict of numbers of one hash": (
        "more than 100 whole numbers of more than 64 bits",
        lambda: document(priors=dictionary(at * MODULUS for at in range(39_000))),
    ),
    "a dict of pairs of one hash": (
        "keys that are there twice, or have one hash",
        lambda: document(
            priors=dictionary({"is": "tuple", "items": pair} for pair in tuples_of_one_hash(17_000))
        ),
    ),
    "models": (
        f"more than {MAX_MODELS} models",
        lambda: document(
            priors=[
                {"is": "model", "holds": {"model": "TextClassifier", "settings": {}, "state": {}}}
            ]
            * 14_000
        ),
    ),
    "priors": (
        f"more than {MAX_VALUES} tallies and priors",
        lambda: document(priors=[value("Beta", successes=1.0, failures=1.0)] * 27_000),
    ),
}


# A process of its own loads the file again for every line it reads, and tells what was said of it.
LOADER = """
import sys
import suffice
for _ in sys.stdin:
    try:
        print(suffice.load(sys.argv[1]), flush=True)
    except suffice.ModelFileError as error:
        print(str(error)[:400], flush=True)
"""
# All of them together take 6 seconds of a core, and one that takes quadratic time many minutes.
MOST_SECONDS = 60


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


@pytest.mark.slow
def test_a_hostile_header_at_the_bounds_is_judged_in_linear_time(tmp_path):
    path, pipe = tmp_path / "model", subprocess.PIPE
    command = [sys.executable, "-c", LOADER, path]
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, bufsize=1, preexec_fn=limited
    ) as loader:
        for name, (fact, made) in HEADERS.items():
            path.write_bytes(made())
            loader.stdin.write("load\n")
            assert fact in loader.stdout.readline(), name


def test_pairs_of_one_hash_are_of_one_hash():
    assert len({hash(pair) for pair in tuples_of_one_hash(20)}) == 1


def test_few_whole_numbers_of_many_digits_are_read_as_they_are(tmp_path):
    numbers = [2**64 - 1, -(2**63), 0, -1] * 100 + [10**299, -(2**128)] * (MAX_LONG // 2)
    assert strict_json(json.dumps(numbers).encode(), "It") == numbers
    with pytest.raises(ModelFileError, match="It has more than 100 whole numbers of more than 64"):
        strict_json(json.dumps([*numbers, 2**64]).encode(), "It")
    with pytest.raises(ModelFileError, match="It has a whole number of 301 digits: 1000"):
        strict_json(str(10**300).encode(), "It")


def test_a_model_with_a_number_of_too_many_digits_is_not_saved(tmp_path):
    model = GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    model.priors = [10**400, 1]
    with pytest.raises(
        ModelFileError, match=r"^Cannot save this GaussianNB: Its document has a whol"
    ):
        model.save(tmp_path / "model")


@pytest.mark.slow
def test_a_model_of_more_priors_than_a_file_may_hold_is_not_saved(tmp_path):
    model = GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    model.priors = [suffice.Beta(1.0, 1.0)] * (MAX_VALUES + 1)
    with pytest.raises(ModelFileError, match=f"It holds more than {MAX_VALUES} tallies and priors"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_dict_whose_keys_have_one_hash_by_chance_is_read(tmp_path):
    """As -1 and -2 have; a dict of class weights may have them both."""
    labels = [-1, -2] * 5
    model = suffice.LogisticRegression(class_weight={-1: 1.0, -2: 2.0}).fit(
        [[0.0], [1.0]] * 5, labels
    )
    model.save(tmp_path / "model")
    assert hash(-1) == hash(-2)
    assert suffice.load(tmp_path / "model").class_weight == {-1: 1.0, -2: 2.0}
    assert MAX_CLASHES >= 1


def test_a_dict_with_a_key_twice_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(document(priors=dictionary(["a", "b", "a"])))
    with pytest.raises(ModelFileError, match="A dict has a key twice"):
        suffice.load(path)


def test_an_array_of_as_many_axes_as_there_may_be_is_read(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(
        framed(
            json.dumps(
                {
                    "__metadata__": {"suffice": "{}"},
                    "a": {"dtype": "F64", "shape": [1] * MAX_AXES, "data_offsets": [0, 8]},
                }
            ).encode(),
            b"\0" * 8,
        )
    )
    with pytest.raises(ModelFileError, match="It has the format None"):  # only the document is odd
        suffice.load(path)
