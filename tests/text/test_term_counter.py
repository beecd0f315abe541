"""What is counted of documents is a value: printable, comparable, grown and shrunk by copies."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from suffice import CountVectorizer, TextClassifier
from suffice.text.classify.term_counter import TermCounter
from suffice.text.classify.term_rows import row_sums
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.vocabulary import Vocabulary


def counter_of(documents, **settings):
    return TermCounter(WordAnalyzer(), Vocabulary.empty(), **settings).learn(documents)[0]


def test_counters_of_the_same_settings_and_terms_are_equal():
    one, other = counter_of(["to be"]), counter_of(["to be"])
    assert one == other
    assert hash(one) == hash(other)
    assert one != counter_of(["be to"])
    assert one != replace(other, event="bernoulli")
    assert pickle.loads(pickle.dumps(one)) == one
    assert "Vocabulary(['to', 'be'])" in repr(one)


def test_analyzers_are_equal_if_they_find_the_same_terms():
    plain, pairs = CountVectorizer(), CountVectorizer(ngram_range=(1, 2))
    assert analyzer_of(plain) == WordAnalyzer()
    assert analyzer_of(pairs) != WordAnalyzer()
    characters = [analyzer_of(CountVectorizer(analyzer="char")) for _ in range(2)]
    assert characters[0] == characters[1]
    assert hash(characters[0]) == hash(characters[1])


def test_a_counter_that_learns_or_drops_terms_leaves_the_first_as_it_was():
    counter = counter_of(["to be"])
    grown, matrix = counter.learn(["be or not"])
    assert counter.terms == ["to", "be"]
    assert grown.terms == ["to", "be", "or", "not"]
    np.testing.assert_array_equal(matrix.toarray(), [[0, 1, 1, 1]])
    assert grown.take(np.array([1, 3])).terms == ["be", "not"]
    np.testing.assert_array_equal(counter.read(["be or not"]).toarray(), [[0, 1]])
    both, columns = counter.union(counter_of(["or be"]))
    assert both.terms == ["to", "be", "or"]
    assert columns.tolist() == [2, 1]


def test_a_vocabulary_that_was_given_neither_grows_nor_shrinks():
    counter = TermCounter(WordAnalyzer(), counter_of(["to be"]).vocabulary, is_given=True)
    same, matrix = counter.learn(["be or not"])
    assert same is counter
    np.testing.assert_array_equal(matrix.toarray(), [[0, 1]])


def test_a_classifier_has_three_classes_of_ours_at_most():
    for kind in (TextClassifier, CountVectorizer):
        ours = [one for one in kind.__mro__ if one.__module__.startswith("suffice")]
        assert len(ours) <= 3


@pytest.mark.parametrize("name", ["classes_", "tally_", "terms_", "alpha_", "calibration_"])
def test_nothing_is_known_before_fit(name):
    with pytest.raises(AttributeError):
        getattr(TextClassifier(), name)


SCRIPT = """
import sys
sys.modules["sklearn"] = None  # an import of it fails
import numpy as np
from suffice.data import Rows
from suffice.tally import Groups
from suffice.text.family import Text
from suffice.text.classify.document_model import DocumentModel
from suffice.text.classify.explanation import explain_terms
from suffice.text.classify.length_discount import LengthDiscount
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.term_counter import TermCounter
from suffice.text.classify.explanation import TermProbabilities
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.vocabulary import Vocabulary

mails, codes = ["cheap pills", "lunch at noon", "cheap watches"], np.array([1, 0, 1], np.int32)
counter, matrix = TermCounter(WordAnalyzer(), Vocabulary.empty()).learn(mails)
tally = Groups(["ham", "spam"], *counter.count(Rows(matrix, codes, 2)))
model = DocumentModel.of(counter, tally, "evidence")
rows = model.prepare(counter.read(["cheap lunch pills"]))
refused, impossible, (best,) = model.scorer().answer(rows, np.log([0.5, 0.5]), "best")
print(best)
"""


def test_documents_are_cut_and_scored_without_scikit_learn():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_rows_are_those_of_their_cells(seed):
    rng = np.random.default_rng(seed)
    cells = rng.poisson(0.2, (rng.integers(0, 9), 5)) * rng.choice([1, 0.3])
    np.testing.assert_allclose(row_sums(csr_array(cells)), cells.sum(axis=1), rtol=1e-15)
