"""Files of a classifier whose settings were tampered with are refused when they are loaded."""

import copy
import random
import warnings

import numpy as np
import pytest

import suffice
from classifier_cases import mixed
from saved_cases import damage_tensor, holder, places, put_together, taken_apart, tensor
from suffice.errors import ModelFileError
from suffice.families import FAMILIES
from suffice.table import GenerativeClassifier

pytestmark = pytest.mark.hostile

FRAME, LABELS = mixed()
FRAME["note"] = np.where(LABELS == "a", "late and rude", "kind and quick")
FAMILY = {
    "weight": "binned",
    "noise": "student",
    "children": "categorical",
    "income": "lognormal",
    ("city", "member"): "joint",
    "note": "text",
}
NAN, INF = ({"is": "float", "text": text} for text in ("nan", "inf"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GenerativeClassifier(FAMILY, budget=0).fit(FRAME, LABELS).save(path)
    return path.read_bytes()


def tuple_of(*items):
    return {"is": "tuple", "items": list(items)}


class File:
    """A saved model in pieces that can be changed."""

    def __init__(self, raw):
        document, self.tensors = taken_apart(raw)
        self.document = copy.deepcopy(document)
        self.state = self.document["state"]

    def block(self, family):
        return next(one for one in self.state["blocks"] if one[0] == family)

    def setting(self, family, name):
        """Return the pair of a setting's name and its value."""
        return next(pair for pair in self.block(family)[2]["items"] if pair[0] == name)

    def put(self, family, name, value):
        """Set a setting: numbers, given as an array, in its tensor."""
        pair = self.setting(family, name)
        if not isinstance(value, np.ndarray):
            if isinstance(pair[1], dict) and pair[1].get("is") == "array":
                del self.tensors[pair[1]["tensor"]]
            pair[1] = value
            return
        at = pair[1]["tensor"]
        pair[1] = {"is": "array", "tensor": at, "axes": list(range(value.ndim))}
        self.tensors[at] = tensor(value)

    def array(self, family, name):
        """Return the numbers of a setting."""
        kind, shape, data = self.tensors[self.setting(family, name)[1]["tensor"]]
        return np.frombuffer(data, {"F64": "f8", "I32": "i4", "I64": "i8"}[kind]).reshape(shape)

    def field(self, name):
        return next(one for one in self.state["schema"][1] if one[0] == name)

    def combined(self, name, value):
        """Set an entry of the combination."""
        pair = next(p for p in self.state["combination"]["items"] if p[0] == name)
        if isinstance(value, np.ndarray):
            self.tensors[pair[1]["tensor"]] = tensor(value)
        else:
            pair[1] = value

    def loaded(self, folder):
        path = folder / "model"
        path.write_bytes(put_together(self.document, self.tensors))
        return suffice.load(path)


def changed(numbers, at, value):
    """Return numbers with one of them changed."""
    out = numbers.copy()
    out[at] = value
    return out


def test_a_whole_file_loads_and_answers(whole, tmp_path):
    model = File(whole).loaded(tmp_path)
    assert {family.name for family in model.blocks_} >= set(FAMILY.values())
    assert np.isfinite(model.predict_log_proba(FRAME)).all()


def test_the_file_has_every_setting_of_every_family(whole, tmp_path):
    model = File(whole).loaded(tmp_path)
    met = {name for b in model.blocks_ if not b.name.startswith("text") for name in b.settings}
    assert met == {name for make in FAMILIES.values() for name in make(("a", "b")).settings}


EDGES = {
    "unsorted": lambda e: e[::-1].copy(),
    "with a NaN": lambda e: changed(e, 1, np.nan),
    "endless above": lambda e: changed(e, -1, np.inf),
    "endless below": lambda e: changed(e, 0, -np.inf),
    "with one twice": lambda e: changed(e, 1, e[0]),
    "too wide to measure": lambda e: changed(changed(e, 0, -1.7e308), -1, 1.7e308),
    "one fewer": lambda e: e[:-1].copy(),
    "one more": lambda e: np.append(e, e[-1] + 1),
    "none": lambda e: e[:0].copy(),
    "a table of them": lambda e: e[None].copy(),
    "a million": lambda e: np.arange(1e6),
    "truth values": lambda e: e > e[1],
    "a string": lambda e: "abc",
    "nothing": lambda e: None,
    "a number": lambda e: 1.5,
    "words": lambda e: ["1.0"] * len(e),
    "a mapping": lambda e: {"is": "dict", "items": []},
}


@pytest.mark.parametrize("family", ["binned", "student"])
@pytest.mark.parametrize("spoil", EDGES.values(), ids=EDGES.keys())
def test_edges_that_are_none_are_refused(whole, tmp_path, spoil, family):
    file = File(whole)
    file.put(family, "edges", spoil(file.array(family, "edges")))
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


TAILS = [[0.0, 1.0], [1.0, -1.0], [np.nan, 1.0], [1.0, np.inf], [1.0], [1.0] * 3, [[1.0, 1.0]]]


@pytest.mark.parametrize("tails", [*map(np.array, TAILS), "ab", None, 1.0, ["a", "b"]])
def test_tails_that_are_no_lengths_are_refused(whole, tmp_path, tails):
    file = File(whole)
    file.put("binned", "tails", tails)
    with pytest.raises(ModelFileError, match="tails of 'binned' of weight are not two lengths"):
        file.loaded(tmp_path)


@pytest.mark.parametrize("spread", [0.0, -1.0, NAN, INF, "a", None, [1.0], True])
def test_a_scale_that_is_none_is_refused(whole, tmp_path, spread):
    file = File(whole)
    file.put("student", "spread", spread)
    with pytest.raises(ModelFileError, match="spread of 'student' of noise is"):
        file.loaded(tmp_path)


LEVELS = {
    "one twice": lambda items: [*items[:-1], items[0]],
    "a NaN": lambda items: [*items[:-1], NAN],
    "an endless one": lambda items: [*items[:-1], INF],
    "a word": lambda items: [*items[:-1], "many"],
    "a missing value": lambda items: [*items[:-1], None],
    "one fewer": lambda items: items[:-1],
    "one more": lambda items: [*items, 1e9],
    "a tuple among them": lambda items: [*items[:-1], tuple_of(1.0)],
}


@pytest.mark.parametrize("spoil", LEVELS.values(), ids=LEVELS.keys())
def test_levels_that_are_not_numbers_each_once_are_refused(whole, tmp_path, spoil):
    for family in ("categorical", "joint"):
        file = File(whole)
        value = file.setting(family, "levels")[1]
        if family == "joint":
            value = next(one for one in value["items"] if one is not None)
        value["items"] = spoil(value["items"])
        with pytest.raises(ModelFileError):
            file.loaded(tmp_path)


@pytest.mark.parametrize("levels", [None, "0123", 3.0, [0.0, 1.0], {"is": "dict", "items": []}])
def test_levels_that_are_none_where_numbers_have_some_are_refused(whole, tmp_path, levels):
    file = File(whole)
    file.put("categorical", "levels", levels)
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


def test_levels_of_its_own_are_refused_where_the_column_is_a_category(whole, tmp_path):
    file = File(whole)
    items = file.setting("joint", "levels")[1]["items"]
    at = items.index(None)
    items[at] = tuple_of(*(float(level) for level in range(4)))
    with pytest.raises(ModelFileError, match="levels of 'joint' of city, member do not suit"):
        file.loaded(tmp_path)
    items[at] = None
    items.append(None)
    with pytest.raises(ModelFileError, match="are not those of its columns"):
        file.loaded(tmp_path)


SEEN = {
    "beyond the levels": (lambda s: changed(s, (0, 0), 99), "out of range"),
    "just beyond the levels": (lambda s: changed(s, (0, 1), 2), "out of range"),
    "missing values": (lambda s: changed(s, (0, 0), -1), "out of range"),
    "one twice": (lambda s: changed(s, 1, s[0]), "there twice"),
    "one fewer": (lambda s: s[:-1].copy(), "counts of shape"),
    "of one column": (lambda s: s[:, :1].copy(), "no array of codes"),
    "of three": (lambda s: np.hstack([s, s[:, :1]]), "no array of codes"),
    "in one row": (lambda s: s[0].copy(), "no array of codes"),
    "of fractions": (lambda s: s.astype(float), "no array of codes"),
    "a string": (lambda s: "seen", "no array of codes"),
    "nothing": (lambda s: None, "no array of codes"),
}


@pytest.mark.parametrize(("spoil", "message"), SEEN.values(), ids=SEEN.keys())
def test_combinations_that_cannot_have_been_seen_are_refused(whole, tmp_path, spoil, message):
    file = File(whole)
    file.put("joint", "seen", spoil(file.array("joint", "seen")))
    with pytest.raises(ModelFileError, match=message):
        file.loaded(tmp_path)


@pytest.mark.parametrize(
    "sizes",
    [
        tuple_of(4),
        tuple_of(4, 2, 2),
        tuple_of(10**9, 2),
        tuple_of(4, 10**9),
        tuple_of(4, 1),
        tuple_of(-4, 2),
        tuple_of(True, 2),
        tuple_of(4.0, 2.0),
        tuple_of("4", 2),
        "42",
        None,
    ],
)
def test_sizes_that_are_not_those_of_the_levels_are_refused(whole, tmp_path, sizes):
    file = File(whole)
    file.put("joint", "sizes", sizes)
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


BLOCKS = {
    "another column": lambda block: block.__setitem__(1, tuple_of("wealth")),
    "a column of words": lambda block: block.__setitem__(1, tuple_of("city")),
    "no column": lambda block: block.__setitem__(1, tuple_of()),
    "two columns": lambda block: block.__setitem__(1, tuple_of("weight", "since")),
    "a string of columns": lambda block: block.__setitem__(1, "weight"),
    "a list of columns": lambda block: block.__setitem__(1, ["weight"]),
    "a numbered column": lambda block: block.__setitem__(1, tuple_of(0)),
    "an unknown family": lambda block: block.__setitem__(0, "beta"),
    "a family that is none": lambda block: block.__setitem__(0, None),
    "another family": lambda block: block.__setitem__(0, "normal"),
    "a further setting": lambda block: block[2]["items"].append(["tied", True]),
    "a column as a setting": lambda block: block[2]["items"].append(["columns", tuple_of("a")]),
    "no settings": lambda block: block.__setitem__(2, {"is": "dict", "items": []}),
    "settings without names": lambda block: block.__setitem__(2, [1.0]),
    "a fourth part": lambda block: block.append(None),
}


@pytest.mark.parametrize("spoil", BLOCKS.values(), ids=BLOCKS.keys())
def test_blocks_of_other_columns_families_or_settings_are_refused(whole, tmp_path, spoil):
    file = File(whole)
    spoil(file.block("binned"))
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


def test_a_name_that_its_settings_contradict_is_refused(whole, tmp_path):
    file = File(whole)
    file.block("lognormal")[2]["items"].append(["tied", True])
    with pytest.raises(ModelFileError, match="a block 'lognormal' with the settings"):
        file.loaded(tmp_path)


@pytest.mark.parametrize("fading", [-0.5, 1.5, NAN, INF, "x", None, True, [0.5]])
def test_a_length_discount_out_of_range_is_refused(whole, tmp_path, fading):
    file = File(whole)
    file.put("text", "fading", fading)
    with pytest.raises(ModelFileError, match="a length discount of"):
        file.loaded(tmp_path)


@pytest.mark.parametrize(
    "terms",
    ["late", None, 3, tuple_of("late", "late", "and"), tuple_of("late"), tuple_of(1, 2, 3), NAN],
)
def test_terms_that_are_not_words_each_once_are_refused(whole, tmp_path, terms):
    file = File(whole)
    node = file.setting("text", "terms")[1]
    for name in [name for name in file.tensors if name in str(node)]:
        del file.tensors[name]
    file.put("text", "terms", terms)
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


COMBINATIONS = {
    "a NaN weight": ("weights", lambda k, c: changed(np.ones(k), 0, np.nan)),
    "an endless weight": ("weights", lambda k, c: changed(np.ones(k), 0, np.inf)),
    "a weight beyond reason": ("weights", lambda k, c: changed(np.ones(k), 0, 1e300)),
    "weights of others": ("weights", lambda k, c: np.ones(k + 1)),
    "a table of weights": ("weights", lambda k, c: np.ones((k, 1))),
    "a NaN offset": ("offsets", lambda k, c: changed(np.zeros(c), 0, np.nan)),
    "an endless offset": ("offsets", lambda k, c: changed(np.zeros(c), 0, -np.inf)),
    "offsets of others": ("offsets", lambda k, c: np.zeros(c - 1)),
    "a NaN noise rate": ("noise_rate", lambda k, c: NAN),
    "a noise rate of words": ("noise_rate", lambda k, c: "a"),
    "all noise": ("noise_rate", lambda k, c: 1.0),
    "another way": ("method", lambda k, c: "loudest"),
    "a NaN prior scale": ("weight_scale", lambda k, c: NAN),
    "a prior scale below 0": ("weight_scale", lambda k, c: -1.0),
    "a loss of words": ("held_out_log_loss", lambda k, c: "little"),
}


@pytest.mark.parametrize(("name", "value"), COMBINATIONS.values(), ids=COMBINATIONS.keys())
def test_a_combination_that_is_none_is_refused(whole, tmp_path, name, value):
    file = File(whole)
    file.combined(name, value(len(file.state["blocks"]), 3))
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


FIELDS = {
    "levels of a number": lambda file: file.field("weight").__setitem__(2, tuple_of("a")),
    "levels in a string": lambda file: file.field("weight").__setitem__(2, "ab"),
    "a NaN level": lambda file: file.field("since:month").__setitem__(2, tuple_of(*[NAN] * 12)),
    "a level that is a list": lambda file: file.field("since:month").__setitem__(2, tuple_of([])),
    "a level that is 1 and True": lambda file: file.field("since:month")[2]["items"].__setitem__(
        1, True
    ),
    "another kind": lambda file: file.field("weight").__setitem__(1, "category"),
    "places as words": lambda file: file.state["schema"].__setitem__(0, "yes"),
    "no columns": lambda file: file.state["schema"].__setitem__(1, []),
}


@pytest.mark.parametrize("spoil", FIELDS.values(), ids=FIELDS.keys())
def test_columns_that_cannot_be_are_refused(whole, tmp_path, spoil):
    file = File(whole)
    spoil(file)
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


@pytest.mark.parametrize(("at", "value"), [(1, "complex"), (1, 3), (0, 7)])
def test_a_column_of_no_kind_or_name_is_named(whole, tmp_path, at, value):
    file = File(whole)
    file.field("weight")[at] = value
    with pytest.raises(ModelFileError, match=f"a column .* of kind .*{value if at else ''}"):
        file.loaded(tmp_path)


TOLD = {
    "a choice for no column": lambda s: s["choices"][0].__setitem__(0, "wealth"),
    "a family that is a number": lambda s: s["choices"][0].__setitem__(1, 3),
    "a block in a string": lambda s: s["choices"][0].__setitem__(2, "weight"),
    "evidence of words": lambda s: s["choices"][0].__setitem__(
        3, {"is": "dict", "items": [["normal", "much"]]}
    ),
    "a trial of numbers": lambda s: s["trials"].append([1, 2, 3, 4]),
}


@pytest.mark.parametrize("spoil", TOLD.values(), ids=TOLD.keys())
def test_choices_that_nobody_made_are_refused(whole, tmp_path, spoil):
    file = File(whole)
    spoil(file.state)
    with pytest.raises(ModelFileError):
        file.loaded(tmp_path)


def test_settings_within_the_parameter_families_are_checked_too(whole, tmp_path):
    path = tmp_path / "second"
    first = File(whole).loaded(tmp_path)
    given = {key if len(key) > 1 else key[0]: kept for key, kept in first.families_.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GenerativeClassifier(given, budget=0).fit(FRAME[:200], LABELS[:200]).save(path)
    assert np.isfinite(suffice.load(path).predict_log_proba(FRAME)).all()
    document, tensors = taken_apart(path.read_bytes())
    held = [name for name in tensors if name.startswith("settings.families")]
    edges = {len(family.edges) for family in first.blocks_ if hasattr(family, "edges")}
    turned = [name for name in held if tensors[name][0] == "F64" and tensors[name][1][0] in edges]
    assert len(turned) == 2
    for name in turned:
        numbers = np.frombuffer(tensors[name][2])
        path.write_bytes(put_together(document, {**tensors, name: tensor(numbers[::-1].copy())}))
        with pytest.raises(ModelFileError, match="do not increase"):
            suffice.load(path)


def test_edges_are_refused_with_their_block_and_a_cure(whole, tmp_path):
    file = File(whole)
    file.put("binned", "edges", np.arange(4097.0))
    with pytest.raises(
        ModelFileError,
        match=r"Cannot load '.*model': The edges of 'binned' of weight are no array of numbers\. "
        r"Give 1 to 4096\. Fetch the file again",
    ):
        file.loaded(tmp_path)


ODD = [None, True, -1, 0, 3, 1.5, -1e308, "", "x", [], [1], {}, tuple_of(), tuple_of("a"), NAN, INF]


def test_documents_with_one_odd_entry_are_refused_or_answer(whole, tmp_path):
    dice, refused = random.Random(1), 0
    for _ in range(300):
        file = File(whole)
        way = dice.choice(list(places(file.state)))
        within = holder(file.state, way)
        if dice.random() < 0.3:
            del within[way[-1]]
        else:
            within[way[-1]] = copy.deepcopy(dice.choice(ODD))
        refused += not answers(file, tmp_path)
    assert refused > 250


def test_tensors_that_were_spoiled_are_refused_or_answer(whole, tmp_path):
    dice, refused = random.Random(2), 0
    for _ in range(300):
        file = File(whole)
        name = dice.choice(list(file.tensors))
        file.tensors[name] = damage_tensor(dice, *file.tensors[name])
        refused += not answers(file, tmp_path)
    assert refused > 150


def answers(file, folder):
    """Say whether a file loads; if it does, its model must answer, and with numbers."""
    try:
        model = file.loaded(folder)
    except ModelFileError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(model.predict_proba(FRAME[:20])).all()
    return True
