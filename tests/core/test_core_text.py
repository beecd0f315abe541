"""Words, runs of words, their names and counts, against regular expressions and plain numpy."""

import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from suffice import _core

POINTS = 0x110000
BY_PLACE, AND_GAP = 1 << 31, 1 << 30
ASCII = _core.Letters(True)
WORD = re.compile(r"\w\w+")

strings = st.lists(st.text(st.characters(), max_size=12) | st.text("ab\x00é", max_size=9))


def utf8(names):
    """Return names one after the other, and where each begins."""
    encoded = [n if isinstance(n, bytes) else n.encode("utf-8", "surrogatepass") for n in names]
    begins = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), begins


def spelled(letters, begins):
    """Return names as Python's strings."""
    whole = letters.tobytes()
    return [whole[b:e].decode("utf-8", "surrogatepass") for b, e in pairwise(begins.tolist())]


def table(shortest=1, longest=1, stop_words=(), word_letters=2):
    return _core.TermTable(*utf8(stop_words), word_letters, shortest, longest)


@pytest.fixture(scope="module")
def letters():
    """Return how all code points are written as they are, without a lower case."""
    written = np.zeros(POINTS, np.uint32)
    for point in range(POINTS):
        if chr(point).isalnum() or chr(point) == "_":
            written[point] = point
    return _core.Letters(False, written, np.zeros(POINTS, np.uint8))


# Strings and names.


@given(strings)
def test_strings_are_encoded_as_python_does(some):
    text, begins = _core.utf8_strings(some)
    wanted, wanted_begins = utf8(some)
    np.testing.assert_array_equal(text, wanted)
    np.testing.assert_array_equal(begins, wanted_begins)


def test_many_strings_are_encoded_in_several_ranges(ranges):
    ranges(10)
    some = ["abc", "é", "\ud800", "中文", "😀x", "", "y" * 40] * 20
    assert spelled(*_core.utf8_strings(some)) == some


def test_what_is_no_string_is_refused():
    for some in ([b"a"], [None], ["a", 1]):
        with pytest.raises(TypeError):
            _core.utf8_strings(some)
    with pytest.raises(TypeError):
        _core.utf8_strings(("a",))


def test_ascii_is_told_from_other_text(ranges):
    ranges(4)
    for at in range(20):
        text = np.full(20, 0x7F, np.uint8)
        assert _core.is_ascii(text)
        text[at] = 0x80
        assert not _core.is_ascii(text)
    assert _core.is_ascii(np.empty(0, np.uint8))


@given(strings, st.randoms(use_true_random=False))
def test_names_are_taken_and_put_in_order(some, random):
    names = utf8(some)
    order = _core.order_names(*names)
    assert order.tolist() == sorted(range(len(some)), key=some.__getitem__)
    numbers = random.choices(range(len(some)), k=5) if some else []
    taken = _core.take_names(*names, np.array(numbers, np.int64))
    assert spelled(*taken) == [some[number] for number in numbers]


def test_names_that_there_are_not_are_refused():
    for number in (-1, 2):
        with pytest.raises(ValueError, match="names that there are not"):
            _core.take_names(*utf8(["a", "b"]), np.array([number]))
    with pytest.raises(ValueError, match="beyond their text"):
        _core.order_names(np.zeros(2, np.uint8), np.array([0, 3]))


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=20))
def test_names_are_hashed_as_scikit_learn_hashes_them(some):
    codes = _core.murmur_names(*utf8(some))
    assert codes.tolist() == [murmurhash3_32(name, seed=0) for name in some]


# Counts.


def random_cells(rng, rows, width, moved):
    """Return rows of cells of distinct columns, and the dense matrix that they are, moved."""
    columns = [rng.permutation(width)[: rng.integers(0, width + 1)] for _ in range(rows)]
    counts = [rng.integers(-3, 300, len(some)) for some in columns]
    dense = np.zeros((rows, max(moved.max(initial=0), width) + 1), np.int64)
    for row in range(rows):
        np.add.at(dense[row], moved[columns[row]], counts[row])
    begins = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.empty(0, int), *columns]), np.concatenate([[], *counts])
    return *(one.astype(np.int32) for one in flat), begins.astype(np.int64), dense


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int32])
@pytest.mark.parametrize("width", [1, 7, 30, 300, 70_000])
def test_cells_are_put_in_order(dtype, width, ranges):
    ranges(50)
    rng = np.random.default_rng(width)
    some = min(width, 300)
    moved = rng.permutation(width)[:some]
    columns, counts, begins, dense = random_cells(rng, 20, some, moved)
    like = np.empty(0, dtype)
    found = _core.order_cells(columns, counts, begins, moved.astype(np.int32), width, like)
    data, indices, indptr = found
    assert data.dtype == dtype
    matrix = sp.csr_array((data, indices, indptr), (20, dense.shape[1]))
    np.testing.assert_array_equal(matrix.toarray(), dense)
    for first, last in pairwise(indptr.tolist()):
        assert (np.diff(indices[first:last]) > 0).all()
    if width == some:
        plain = _core.order_cells(columns, counts, begins, np.empty(0, np.int32), width, like)
        again = _core.order_cells(
            columns, counts, begins, np.arange(width, dtype=np.int32), width, like
        )
        for one, other in zip(plain, again, strict=True):
            np.testing.assert_array_equal(one, other)


def test_columns_that_are_left_out_are_gone_and_columns_of_one_number_stand_together(ranges):
    ranges(3)
    rng = np.random.default_rng(0)
    moved = np.array([2, -1, 0, 2, -1, 1], np.int32)
    columns, counts, begins, _ = random_cells(rng, 30, 6, np.arange(6))
    like = np.empty(0, np.int64)
    data, indices, indptr = _core.order_cells(columns, counts, begins, moved, 3, like)
    for row, (first, last) in enumerate(pairwise(indptr.tolist())):
        mine = slice(begins[row], begins[row + 1])
        wanted = sorted(
            (moved[c], n) for c, n in zip(columns[mine], counts[mine], strict=True) if moved[c] >= 0
        )
        pairs = list(zip(indices[first:last], data[first:last], strict=True))
        assert sorted(pairs) == wanted
        assert [column for column, _ in pairs] == [column for column, _ in wanted]


def test_sums_of_cells_are_those_of_numpy():
    rng = np.random.default_rng(0)
    columns, counts = rng.integers(0, 9, 500).astype(np.int32), rng.integers(-2, 9, 500)
    sums = _core.sum_cells(columns, counts.astype(np.int32), 12)
    np.testing.assert_array_equal(sums[0], np.bincount(columns, counts, 12))
    np.testing.assert_array_equal(sums[1], np.bincount(columns, minlength=12))


def test_cells_of_columns_that_there_are_not_are_refused():
    one, begins, like = np.ones(1, np.int32), np.array([0, 1]), np.empty(0)
    for columns, moved, width in (([3], [], 3), ([-1], [], 3), ([1], [0], 3), ([0], [3], 3)):
        given_columns, places = np.array(columns, np.int32), np.array(moved, np.int32)
        with pytest.raises(ValueError, match="columns"):
            _core.order_cells(given_columns, one, begins, places, width, like)
    with pytest.raises(ValueError, match="columns that there are not"):
        _core.sum_cells(np.array([3], np.int32), one, 3)


# Tables of terms.


def count_by_hand(documents, shortest, longest, stop_words, cut=WORD):
    """Return the terms in the order of first sight, and the counts of each document."""
    columns, rows = {}, []
    for document in documents:
        words = [word for word in cut.findall(document) if word not in stop_words]
        terms = [
            " ".join(words[at : at + length])
            for length in range(shortest, longest + 1)
            for at in range(len(words) - length + 1)
        ]
        for term in terms:
            columns.setdefault(term, len(columns))
        rows.append(Counter(columns[term] for term in terms))
    return list(columns), rows


def rows_of(found):
    columns, counts, begins, _ = found
    cells = list(zip(columns.tolist(), counts.tolist(), strict=True))
    rows = [cells[b:e] for b, e in pairwise(begins.tolist())]
    assert all(len({column for column, _ in row}) == len(row) for row in rows)
    return [Counter(dict(row)) for row in rows]


PIECES = [
    "to",
    "be",
    "or",
    "é",
    "中文",
    "нет",
    "\x00",
    "",
    "a",
    "not",
    "😀",
    "longer_words_too",
    "x" * 40,
]
documents = st.lists(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map(" ".join), max_size=12
)
RUNS = [(1, 1), (1, 3), (2, 2), (2, 4)]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("stop_words", [(), ("be", "to", "не", "a b", "", "\x00")])
@pytest.mark.parametrize("number", [1, 3])
def test_terms_are_learned_and_counted_as_by_hand(
    runs, stop_words, number, letters, ranges, threads
):
    threads(number)

    @given(documents, documents)
    def check(learned, others):
        for size in (1, 60, 1 << 19):
            ranges(size)
            terms = table(*runs, stop_words)
            for batch in (learned, [], others):
                found = terms.learn(*utf8(batch), letters)
            names, rows = count_by_hand([*learned, *others], *runs, stop_words)
            assert spelled(*terms.names()) == names
            assert len(terms) == len(names)
            assert rows_of(found) == rows[len(learned) :]
            counted = terms.count(*utf8(learned), letters)
            assert rows_of(counted) == rows[: len(learned)]
            assert not counted[3].any()
            # The same names, given as such, are found again.
            given_names = table(*runs, stop_words)
            given_names.learn_names(*terms.names())
            assert spelled(*given_names.names()) == names
            assert rows_of(given_names.count(*utf8(learned), letters)) == rows[: len(learned)]

    check()


def sums_by_hand(documents, codes, classes, stop_words, names):
    """Return the counts of names by class, (classes, names), one word at a time."""
    columns = {name: column for column, name in enumerate(names)}
    sums = np.zeros((classes, len(names)))
    for document, code in zip(documents, codes, strict=True):
        for word in WORD.findall(document):
            if word not in stop_words and word in columns:
                sums[code, columns[word]] += 1
    return sums


@pytest.mark.parametrize("stop_words", [(), ("be", "to", "не", "a b", "", "\x00")])
@pytest.mark.parametrize("number", [1, 3])
def test_words_are_summed_by_class_as_by_hand(stop_words, number, letters, ranges, threads):
    threads(number)

    @given(documents, documents, st.integers(1, 3), st.randoms(use_true_random=False))
    def check(first, second, classes, random):
        codes = [[random.randrange(classes) for _ in some] for some in (first, second)]
        given_codes = [np.array(some, np.int32) for some in codes]
        for size in (1, 60, 1 << 19):
            ranges(size)
            terms, rows = table(1, 1, stop_words), table(1, 1, stop_words)
            for batch, own, known in ((first, 0, []), ([], None, first), (second, 1, first)):
                mine = np.empty(0, np.int32) if own is None else given_codes[own]
                sums = terms.sum_words(*utf8(batch), letters, mine, classes, True)
                rows.learn(*utf8(batch), letters)
                names, _ = count_by_hand([*known, *batch], 1, 1, stop_words)
                assert spelled(*terms.names()) == spelled(*rows.names()) == names
                plain = sums_by_hand(batch, mine, classes, stop_words, names)
                np.testing.assert_array_equal(sums, plain)
            # By the columns there are, of which a name that is no word is one.
            fixed = table(1, 1, stop_words)
            fixed.learn_names(*utf8(["to be", *names[::2]]))
            sums = fixed.sum_words(*utf8(first), letters, given_codes[0], classes, False)
            kept = ["to be", *names[::2]]
            assert spelled(*fixed.names()) == kept
            plain = sums_by_hand(first, codes[0], classes, stop_words, kept)
            np.testing.assert_array_equal(sums, plain)

    check()


def test_sums_of_many_new_and_known_words_do_not_depend_on_threads(ranges, threads):
    rng = np.random.default_rng(0)
    words = np.array([f"w{at}" for at in range(3000)])
    batches = [
        [" ".join(row) for row in words[rng.integers(0, top, (300, 40))]] for top in (9, 3000)
    ]
    codes = rng.integers(0, 2, 300).astype(np.int32)
    ranges(1000)
    found = []
    for number in (1, 2, 5):
        threads(number)
        terms = table()
        sums = [terms.sum_words(*utf8(some), ASCII, codes, 2, True) for some in batches]
        found.append((*sums, spelled(*terms.names())))
        plain = sums_by_hand(batches[1], codes, 2, (), found[0][2])
        np.testing.assert_array_equal(sums[1], plain)
        assert all(np.array_equal(*pair) for pair in zip(found[0], found[-1], strict=True))


def test_words_that_cannot_be_summed_by_class_are_refused():
    text, codes = utf8(["to be", "or"]), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="terms that cannot be summed"):
        table(1, 2).sum_words(*text, ASCII, codes, 1, True)
    with pytest.raises(ValueError, match="documents and codes do not fit"):
        table().sum_words(*text, ASCII, codes[:1], 1, True)
    for wrong in (1, -1):
        with pytest.raises(ValueError, match="codes of classes that there are not"):
            table().sum_words(*text, ASCII, codes + np.int32(wrong), 1, True)


@pytest.mark.parametrize("lowercase", [True, False])
def test_letters_are_written_alike_by_all_instruction_sets(lowercase, letters, instruction_sets):
    rng = np.random.default_rng(0)
    how = ASCII if lowercase else letters
    pools = [[*map(chr, range(128))], list("aB_9 "), list("aBé中 . 😀"), list("нет ")]
    some = [
        "".join(rng.choice(pools[rng.integers(2 if lowercase else 4)], size))
        for size in [*range(200), *rng.integers(0, 2000, 20)]
    ]
    wanted, rows = count_by_hand([one.lower() if lowercase else one for one in some], 1, 1, ())
    for use in instruction_sets:
        use()
        terms = table()
        assert rows_of(terms.learn(*utf8(some), how)) == rows
        assert spelled(*terms.names()) == wanted


def test_terms_without_a_column_are_numbered(letters):
    terms = table(1, 2)
    terms.learn(*utf8(["to be or not"]), letters)
    found = terms.count(*utf8(["to be to see", "", "not"]), letters)
    assert found[3].tolist() == [3, 0, 0]
    assert len(terms) == 7


def test_words_have_so_many_letters_not_bytes(letters):
    for least in range(5):
        terms = table(word_letters=least)
        terms.learn(*utf8(["a ab abc éé é 中 中文字 😀a"]), letters)
        words = ["a", "ab", "abc", "éé", "é", "中", "中文字"]
        assert spelled(*terms.names()) == [word for word in words if len(word) >= max(least, 1)]


def test_names_that_no_document_can_hold_are_columns_that_stay_empty(letters):
    names = ["", "to", "to be", " be", "be ", "a  b", "c++", "a\x00", "aa", "\x00", "or not be"]
    terms = table(1, 2)
    terms.learn_names(*utf8(names))
    assert spelled(*terms.names()) == names
    found = terms.count(*utf8(["to be a b c++ aa a\x00 or not be"]), letters)
    assert {names[column] for row in rows_of(found) for column in row} == {"to", "to be", "aa"}


def test_two_long_words_of_one_key_are_distinguished_by_their_letters():
    # Made so that what stands for them is the same number.
    twins = ["5xsjlbca7bbyaaaf", "5c2rkeyj_xc_zp6_"], ["g4y7sw90b0etv63r", "3431mmer___89__9"]
    for first, second in twins:
        text = utf8([f"{first} {second} {second}", f"{second} {first}"])
        terms = table()
        assert rows_of(terms.learn(*text, ASCII)) == [Counter({0: 1, 1: 2}), Counter({0: 1, 1: 1})]
        assert spelled(*terms.names()) == [first, second]
        terms.learn(*utf8([" ".join(f"more{n}" for n in range(5000))]), ASCII)
        known = table()
        known.learn_names(*utf8([second]))
        found = known.count(*text, ASCII)
        assert rows_of(found) == [Counter({0: 2}), Counter({0: 1})]
        assert found[3].tolist() == [1, 1]
        assert rows_of(terms.count(*text, ASCII))[0] == Counter({0: 1, 1: 2})


def test_words_of_all_lengths_are_told_apart():
    word = "abcdefgh" * 4
    some = [word[:n] for n in range(2, 33)] + [word[:n] + "_" for n in range(2, 33)]
    terms = table()
    terms.learn(*utf8([" ".join(some), ".".join(some[::-1])]), ASCII)
    assert spelled(*terms.names()) == some


def test_columns_are_described_by_their_words(letters):
    terms = table(1, 3)
    terms.learn(*utf8(["to be or"]), letters)
    words = spelled(*terms.words())
    by_column = terms.words_of_columns()
    assert by_column.shape == (3, 6)
    joined = [" ".join(words[at] for at in some if at >= 0) for some in by_column.T.tolist()]
    assert joined == spelled(*terms.names()) == ["to", "be", "or", "to be", "be or", "to be or"]


def test_letters_that_depend_on_their_place_and_letters_with_a_gap():
    written, cases = np.zeros(POINTS, np.uint32), np.zeros(POINTS, np.uint8)
    written[[0x3C2, 0x3C3]] = 0x3C2, 0x3C3
    written[0x3A3], written[0x130] = BY_PLACE, ord("i") | AND_GAP
    cases[[ord("a"), ord("A"), 0x3A3]], cases[[ord("'"), ord(".")]] = 1, 2
    letters = _core.Letters(True, written, cases)
    for text in (
        "aΣ",
        "aΣ'",
        "a'Σ",
        "'Σ",
        "Σ",
        "aΣa",
        "aΣ'a",
        "aΣ.a",
        "a-Σ",
        "aΣ-a",
        "AΣΣ",
        "aΣ😀",
        "Σ'a",
    ):
        terms = table(word_letters=1)
        terms.learn(*utf8([f"{text}\n"]), letters)
        lowered = re.findall(r"[a\u03c3\u03c2]+", text.lower())
        assert spelled(*terms.names()) == list(dict.fromkeys(lowered))
    terms = table(word_letters=1)
    terms.learn(*utf8(["aİb"]), letters)
    assert spelled(*terms.names()) == ["ai", "b"]


def test_letters_that_take_more_room_than_their_code_points_are_refused():
    cases = np.zeros(POINTS, np.uint8)
    for point, letter in ((0, 5), (0xE9, POINTS), (0xE9, BY_PLACE - 1), (0x4E2D, BY_PLACE)):
        written = np.zeros(POINTS, np.uint32)
        written[point] = letter
        with pytest.raises(ValueError, match="letters that are no code points"):
            _core.Letters(True, written, cases)
    with pytest.raises(ValueError, match="not of all code points"):
        _core.Letters(True, written[1:], cases)


@pytest.mark.hostile
def test_bytes_that_are_no_text_are_counted_or_refused(letters, ranges):
    rng = np.random.default_rng(0)
    pools = [b"\x80\xbf\xc3\xed\xf0\xff a", b"ab ", bytes(range(256)), "Σ'a中😀".encode()]
    for _ in range(600):
        ranges(int(rng.choice([1, 20, 1 << 19])))
        pool = np.frombuffer(pools[rng.integers(len(pools))], np.uint8)
        text = rng.choice(pool, rng.integers(0, 200)).astype(np.uint8)
        begins = np.sort(rng.integers(-1 if rng.random() < 0.1 else 0, len(text) + 1, 9))
        if rng.random() < 0.1:
            rng.shuffle(begins)
        longest = int(rng.integers(1, 4))
        terms = table(int(rng.integers(1, longest + 1)), longest, ("ab",), int(rng.integers(0, 4)))
        how = ASCII if rng.random() < 0.3 else letters
        try:
            terms.learn_names(text, begins[:3])
            terms.learn(text, begins, how)
            terms.learn(text, begins[4:], how)
        except ValueError:
            continue
        if longest == 1:
            codes = rng.integers(-1 if rng.random() < 0.1 else 0, 3, 8).astype(np.int32)
            with suppress(ValueError):
                sums = terms.sum_words(text, begins, how, codes, 3, bool(rng.random() < 0.5))
                assert sums.sum() == terms.count(text, begins, how)[1].sum()
        first, second = terms.count(text, begins, how), terms.count(text, begins, how)
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)
        _core.order_names(*terms.names())
        assert terms.words_of_columns().shape == (longest, len(terms))


def test_tables_of_runs_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="runs of words that there are not"):
        table(0, 1)
    with pytest.raises(ValueError, match="strings without begins"):
        _core.TermTable(np.empty(0, np.uint8), np.empty(0, np.int64), 2, 1, 1)


SCRIPT = """
import signal
import numpy as np
from suffice import _core, set_threads
set_threads({number})
text = np.frombuffer(b" ".join(b"word%d" % (n % 5000) for n in range(2_000_000)), np.uint8)
begins = np.array({begins}, np.int64)
codes = np.zeros(len(begins) - 1, np.int32)
letters, none = _core.Letters(True), (np.empty(0, np.uint8), np.zeros(1, np.int64))
known = _core.TermTable(*none, 2, 1, 1)
wanted = known.learn(text, begins, letters)[1].sum()
terms = len(known)
class Rang(Exception): pass
def handler(*_): raise Rang
signal.signal(signal.SIGALRM, handler)
rang = 0
for wait in np.linspace(.001, .05, 20):
    try:
        signal.setitimer(signal.ITIMER_REAL, wait)
        while True:  # one call may be over before the signal comes
            _core.TermTable(*none, 2, 1, 2).learn(text, begins, letters)
            assert known.count(text, begins, letters)[1].sum() == wanted
            _core.TermTable(*none, 2, 1, 1).sum_words(text, begins, letters, codes, 2, True)
            assert known.sum_words(text, begins, letters, codes, 2, False).sum() == wanted
    except Rang:
        rang += 1
print(rang, len(known) == terms, known.count(text, begins, letters)[1].sum() == wanted)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("begins", ["[0, len(text)]", "np.linspace(0, len(text), 1000)"])
def test_a_signal_that_raises_ends_counting_and_nothing_else(number, begins):
    script = textwrap.dedent(SCRIPT.format(number=number, begins=begins))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "20 True True\n"
