"""Decisions, densities and samples of a text classifier, and its logistic regression."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from suffice import CountVectorizer, TextClassifier
from suffice.errors import InputError
from textclassifier_cases import EVENTS, LABELS, MAILS, corpus, event_cases

NEW = ["cheap lunch at noon", "quarterly pills", "never seen", ""]
DRAWS = 4000


@pytest.mark.parametrize("settings", [{}, {"refine": "logistic"}, {"calibrate": None}], ids=str)
def test_probabilities_are_probabilities_and_the_best_is_predicted(settings):
    documents, y = corpus(90, 3)
    model = TextClassifier(**settings).fit(documents, y)
    proba = model.predict_proba([*documents, *NEW])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        np.log(proba), model.predict_log_proba([*documents, *NEW]), rtol=1e-7, atol=1e-12
    )
    best = model.classes_[proba.argmax(axis=1)]
    assert model.predict([*documents, *NEW]).tolist() == best.tolist()
    assert model.score(documents, y) == np.mean(best[: len(y)] == y)


def test_a_decision_leaves_the_unsure_ones_open():
    documents, y = corpus(90, 2)
    model = TextClassifier().fit(documents, y)
    proba = model.predict_proba(documents)
    decided = model.decide(documents, reject=0.2)
    sure = 1 - proba.max(axis=1) < 0.2
    assert [one is not None for one in decided] == sure.tolist()
    assert sure.any()
    assert not sure.all()
    best = model.classes_[proba.argmax(axis=1)]
    assert decided[sure].tolist() == best[sure].tolist()


def test_a_loss_that_fears_lost_mail_moves_the_decision():
    documents, y = corpus(90, 2)
    model = TextClassifier().fit(documents, y)
    loss = {"keep": [1.0, 0.0], "delete": [0.0, 20.0]}
    decided = model.decide(documents, loss=loss)
    expected = np.where(model.predict_proba(documents) @ [-1.0, 20.0] > 0, "keep", "delete")
    assert decided.tolist() == expected.tolist()


@pytest.mark.parametrize("event", EVENTS)
def test_words_are_drawn_with_their_posterior_probabilities(event):
    documents, y = corpus(150, 2, seed=1)
    model = TextClassifier(event=event, alpha=0.5, calibrate=None).fit(documents, y)
    drawn, labels = model.sample(DRAWS, random_state=0)
    assert len(drawn) == len(labels) == DRAWS
    counts = CountVectorizer(vocabulary=model.terms_.tolist()).fit_transform(drawn).toarray()
    learned = model.tally_.parts.counts
    for code, label in enumerate(model.classes_):
        rows = counts[labels == label]
        share = model.tally_.weights[code] / model.tally_.weights.sum()
        assert abs(len(rows) / DRAWS - share) < 5 * np.sqrt(share * (1 - share) / DRAWS)
        if event == "bernoulli":
            probability = (learned[code] + 0.5) / (model.tally_.weights[code] + 1.0)
            error = np.sqrt(probability * (1 - probability) / len(rows))
            assert np.abs(rows.mean(axis=0) - probability).max() < 5 * error.max()
            continue
        posterior = learned[code] + 0.5
        shares = posterior / posterior.sum()
        mean = learned[code].sum() / model.tally_.weights[code]
        assert abs(rows.sum(axis=1).mean() - mean) < 5 * np.sqrt(mean / len(rows))
        if event == "polya":
            # Words of one document come together, so that their counts vary more.
            total, concentration = rows.sum(axis=1), posterior.sum()
            variance = (total * (total + concentration) / (1 + concentration)).mean()
            error = np.sqrt(variance * shares * (1 - shares) / len(rows))
            assert (np.abs((rows - total[:, None] * shares).mean(axis=0)) < 5 * error).all()
            continue
        seen, expected = rows.sum(axis=0), rows.sum() * shares
        found = ((seen - expected) ** 2 / expected).sum()
        assert found < stats.chi2.isf(1e-6, len(shares) - 1)


def test_the_same_seed_draws_the_same_documents():
    model = TextClassifier().fit(MAILS, LABELS)
    one, two = (model.sample(20, random_state=3) for _ in range(2))
    assert one[0] == two[0]
    assert one[1].tolist() == two[1].tolist()


@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_the_density_of_a_document_is_the_sum_over_classes(event, unknown):
    model = TextClassifier(event=event, unknown=unknown, alpha=1.0).fit(MAILS, LABELS)
    joint = model.predict_joint_log_proba(NEW)
    density = model.score_samples(NEW)
    assert np.isfinite(density).all()
    if event != "bernoulli":
        weights, counts = model.tally_.weights, model.tally_.parts.counts
        width = counts.shape[1] + (unknown == "smooth")
        prior = np.log(weights / weights.sum())
        totals = counts.sum(axis=1) + width
        cheap = counts[:, model.terms_ == "cheap"][:, 0] + 1
        np.testing.assert_allclose(
            model.score_samples(["cheap"])[0],
            np.logaddexp.reduce(prior + np.log(cheap / totals)),
        )
    if event != "complement":
        np.testing.assert_allclose(
            density, np.logaddexp.reduce(joint, axis=1), rtol=1e-9, atol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("calibrate", [None, "loo"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ngrams", [1, 2])
def test_the_logistic_regression_has_the_same_probabilities(event, calibrate, classes, ngrams):
    documents, y = corpus(100, classes, seed=6)
    model = TextClassifier(event=event, calibrate=calibrate, ngrams=ngrams).fit(documents, y)
    if calibrate is not None and model.calibration_.noise_rate > 0:
        with pytest.raises(InputError, match="calibrated with a noise rate"):
            model.to_logistic()
        return
    logistic = model.to_logistic()
    new = [*documents, *NEW]
    np.testing.assert_allclose(
        logistic.predict_proba(new), model.predict_proba(new), rtol=1e-9, atol=1e-12
    )
    assert logistic.classes_.tolist() == model.classes_.tolist()


def test_some_logistic_regression_discounts_long_documents():
    documents, y = corpus(100, 2, seed=6)
    model = TextClassifier().fit(documents, y)
    model._fitted = model._fitted.replace(length_discount=0.5)
    np.testing.assert_allclose(
        model.to_logistic().predict_proba(documents), model.predict_proba(documents), rtol=1e-9
    )
    assert "length_discount" in model.to_logistic().named_steps


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unknown": "smooth"}, "unknown='smooth'"),
        ({"weighting": "tfidf"}, "weighting='tfidf'"),
        ({"refine": "logistic"}, "refine='logistic'"),
        ({"event": "polya"}, "Polya"),
    ],
)
def test_what_is_no_linear_form_of_counts_is_no_logistic_regression(settings, message):
    documents, y = corpus(60, 2)
    with pytest.raises(InputError, match=message):
        TextClassifier(**settings).fit(documents, y).to_logistic()


def test_parameters_are_counted_and_evidence_is_that_of_the_words():
    model = TextClassifier(alpha=1.0, calibrate=None).fit(MAILS, LABELS)
    assert model.n_parameters_ == 2 + 3 * (len(model.terms_) - 1)
    # Evidence is the product of what was foretold of each word, one after the other.
    log_evidence, counts, totals = 0.0, {}, dict.fromkeys(model.classes_, len(model.terms_))
    analyze = CountVectorizer().build_analyzer()
    for text, label in zip(MAILS, LABELS, strict=True):
        for word in analyze(text):
            log_evidence += np.log((counts.get((label, word), 0) + 1) / totals[label])
            counts[label, word] = counts.get((label, word), 0) + 1
            totals[label] += 1
    seen, classes = {}, 0
    for label in LABELS:
        classes += np.log((seen.get(label, 0) + 1) / (sum(seen.values()) + 3))
        seen[label] = seen.get(label, 0) + 1
    assert model.log_evidence_ == pytest.approx(log_evidence + classes)


def test_a_clone_is_unfitted_and_asking_it_says_so():
    model = clone(TextClassifier(words=CountVectorizer(lowercase=False)).fit(MAILS, LABELS))
    for act in (model.predict, model.predict_proba, model.score_samples, model.explain):
        with pytest.raises(ValueError, match="not fitted yet"):
            act(NEW)
    with pytest.raises(ValueError, match="not fitted yet"):
        _ = model.terms_
    assert not model.words.lowercase


def test_asking_changes_nothing():
    model = TextClassifier().fit(MAILS, LABELS)
    before = dict(vars(model))
    model.predict(NEW)
    model.explain(NEW[0])
    model.leave_one_out(MAILS, LABELS)
    model.cross_validate(MAILS * 2, LABELS * 2, 2)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is thing for name, thing in before.items())
