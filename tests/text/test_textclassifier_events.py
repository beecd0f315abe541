"""What documents are scored by: the event models, beside scikit-learn's and beside ours."""

import numpy as np
import pytest
import sklearn.feature_extraction.text as theirs
import sklearn.naive_bayes
from sklearn.pipeline import make_pipeline

import suffice
from suffice import TextClassifier
from suffice.errors import InputError
from textclassifier_cases import LABELS, MAILS, corpus

PEERS = {
    "multinomial": (sklearn.naive_bayes.MultinomialNB, False),
    "bernoulli": (sklearn.naive_bayes.BernoulliNB, True),
    "complement": (sklearn.naive_bayes.ComplementNB, False),
}
NEW = ["cheap lunch at noon", "report of the watches", "never seen before", ""]


@pytest.mark.parametrize("ngrams", [1, 2, (2, 2), [1, 3]])
@pytest.mark.parametrize("event", PEERS)
@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_an_event_is_scikit_learns_naive_bayes_on_its_counts(event, ngrams, alpha):
    naive_bayes, binary = PEERS[event]
    cut = tuple(ngrams) if isinstance(ngrams, tuple | list) else (1, ngrams)
    peer = make_pipeline(
        theirs.CountVectorizer(binary=binary, ngram_range=cut), naive_bayes(alpha=alpha)
    )
    documents, y = corpus()
    peer.fit(documents, y)
    mine = TextClassifier(event=event, ngrams=ngrams, alpha=alpha, calibrate=None)
    mine.fit(documents, y)
    new = [*documents, *NEW]
    np.testing.assert_allclose(mine.predict_proba(new), peer.predict_proba(new), rtol=1e-9)
    assert mine.predict(new).tolist() == peer.predict(new).tolist()
    assert sorted(mine.terms_) == peer[0].get_feature_names_out().tolist()


def test_polya_is_the_multinomial_integrated_out_over_the_document():
    documents, y = corpus()
    counter = theirs.CountVectorizer()
    shares = np.unique(y, return_counts=True)[1] / len(y)
    peer = suffice.MultinomialNB(alpha=0.3, estimate="predictive", class_prior=shares)
    peer.fit(counter.fit_transform(documents), y)
    mine = TextClassifier(event="polya", alpha=0.3, calibrate=None).fit(documents, y)
    new = [*documents, *NEW]
    expected = peer.predict_proba(counter.transform(new))
    np.testing.assert_allclose(mine.predict_proba(new), expected, rtol=1e-9)


def test_polya_is_the_product_of_its_words_each_learned_before_the_next():
    model = TextClassifier(event="polya", alpha=0.5, calibrate=None).fit(MAILS, LABELS)
    counts = dict(zip(model.terms_, model.tally_.parts.counts.T + 0.5, strict=True))
    totals = sum(counts.values())
    joint = np.log(model.tally_.weights / model.tally_.weights.sum())
    for word in ["cheap", "lunch", "cheap", "cheap", "report"]:
        joint += np.log(counts[word] / totals)
        counts[word], totals = counts[word] + 1, totals + 1
    expected = joint - np.logaddexp.reduce(joint)
    found = model.predict_log_proba(["cheap lunch cheap cheap report"])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "polya"])
def test_evidence_finds_the_pseudocount_that_our_naive_bayes_finds(event):
    documents, y = corpus(seed=3)
    counts = theirs.CountVectorizer().fit_transform(documents)
    mine = TextClassifier(event=event, calibrate=None).fit(documents, y)
    assert mine.alpha_ == pytest.approx(
        suffice.MultinomialNB(alpha="evidence").fit(counts, y).alpha_
    )


def test_calibration_keeps_or_multiplies_the_pseudocount_of_evidence():
    documents, y = corpus(seed=3)
    plain = TextClassifier(calibrate=None).fit(documents, y).alpha_
    factor = TextClassifier().fit(documents, y).alpha_ / plain
    assert min(abs(factor - power) for power in (1, 2, 4, 8, 16)) < 1e-12


def test_smooth_gives_unknown_words_one_pseudocount_together():
    model = TextClassifier(unknown="smooth", alpha=1.0, calibrate=None).fit(MAILS, LABELS)
    counts = model.tally_.parts.counts
    totals = counts.sum(axis=1) + counts.shape[1] + 1
    joint = np.log(model.tally_.weights) - 2 * np.log(totals)
    expected = joint - np.logaddexp.reduce(joint)
    np.testing.assert_allclose(model.predict_log_proba(["zzz yyy"])[0], expected, rtol=1e-12)
    ignored = TextClassifier(alpha=1.0, calibrate=None).fit(MAILS, LABELS)
    shares = model.tally_.weights / model.tally_.weights.sum()
    np.testing.assert_allclose(ignored.predict_proba(["zzz yyy"])[0], shares, rtol=1e-12)


def test_smooth_counts_unknown_words_of_bernoulli_as_one_presence():
    model = TextClassifier(event="bernoulli", unknown="smooth", alpha=1.0, calibrate=None)
    model.fit(MAILS, LABELS)
    one, many = model.predict_proba(["zzz", "zzz yyy xxx"])
    np.testing.assert_array_equal(one, many)
    rare = np.log(1 / (model.tally_.weights + 2))
    absent = np.log1p(-np.exp(rare))
    none = model.predict_log_proba([""])[0] + rare - absent
    np.testing.assert_allclose(np.log(one), none - np.logaddexp.reduce(none), rtol=1e-12)


def test_tfidf_is_naive_bayes_on_logarithms_of_counts_of_length_one_times_rarity():
    documents, y = corpus()
    counts = theirs.CountVectorizer().fit_transform(documents).toarray()
    rows = np.log1p(counts)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    transformer = theirs.TfidfTransformer(norm=None).fit(counts)
    peer = sklearn.naive_bayes.ComplementNB(alpha=0.5).fit(rows * transformer.idf_, y)
    mine = TextClassifier(event="complement", weighting="tfidf", alpha=0.5, calibrate=None)
    expected = peer.predict_proba(rows * transformer.idf_)
    np.testing.assert_allclose(mine.fit(documents, y).predict_proba(documents), expected, rtol=1e-9)


def test_the_class_prior_may_be_given_or_uniform():
    given = TextClassifier(class_prior=[0.2, 0.3, 0.5], calibrate=None).fit(MAILS, LABELS)
    np.testing.assert_allclose(given.predict_proba(["zzz"])[0], [0.2, 0.3, 0.5])
    uniform = TextClassifier(fit_prior=False, calibrate=None).fit(MAILS, LABELS)
    np.testing.assert_allclose(uniform.predict_proba(["zzz"])[0], np.full(3, 1 / 3))


@pytest.mark.parametrize("ngrams", [(0, 1), (2, 1), (1, 2, 3), ("a", "b"), (1.5, 2)])
def test_runs_of_words_that_there_are_none_of_are_refused(ngrams):
    with pytest.raises(InputError, match="runs of so many words there are none"):
        TextClassifier(ngrams=ngrams).fit(MAILS, LABELS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("event", "gaussian"), ("unknown", "guess"), ("alpha", 0), ("refine", "svm"), ("words", "no")],
)
def test_a_setting_that_there_is_not_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TextClassifier"):
        TextClassifier(**{name: value}).fit(MAILS, LABELS)


def test_words_says_how_documents_are_cut():
    words = suffice.CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), min_df=5)
    model = TextClassifier(words=words, calibrate=None).fit(MAILS, LABELS)
    expected = theirs.CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit(MAILS)
    assert sorted(model.terms_) == expected.get_feature_names_out().tolist()
    model = TextClassifier(words=suffice.CountVectorizer(stop_words="english"), ngrams=2)
    expected = theirs.CountVectorizer(stop_words="english", ngram_range=(1, 2)).fit(MAILS)
    assert sorted(model.fit(MAILS, LABELS).terms_) == expected.get_feature_names_out().tolist()


def test_a_vocabulary_that_is_given_is_all_there_is():
    words = suffice.CountVectorizer(vocabulary=["lunch", "cheap", "unicorn"])
    model = TextClassifier(words=words, alpha=1.0, calibrate=None).fit(MAILS, LABELS)
    assert model.terms_.tolist() == ["lunch", "cheap", "unicorn"]
    peer = make_pipeline(
        theirs.CountVectorizer(vocabulary=["lunch", "cheap", "unicorn"]),
        sklearn.naive_bayes.MultinomialNB(),
    ).fit(MAILS, LABELS)
    np.testing.assert_allclose(model.predict_proba(NEW), peer.predict_proba(NEW), rtol=1e-9)
    model.partial_fit(["unicorn rainbow"], ["spam"]).forget(["unicorn rainbow"], ["spam"])
    np.testing.assert_allclose(model.predict_proba(NEW), peer.predict_proba(NEW), rtol=1e-9)
    with pytest.raises(InputError, match="The vocabulary was given"):
        model.prune(2)
