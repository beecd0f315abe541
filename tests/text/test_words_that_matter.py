"""Which words and columns matter: p(word | class), top words, and rankings of text and tables."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer as TheirVectorizer
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import BernoulliNB as TheirBernoulliNB
from sklearn.naive_bayes import MultinomialNB as TheirMultinomialNB

from suffice import GenerativeClassifier, MultinomialNB, SelectFeatures, TextClassifier
from suffice.errors import InputError
from suffice.lab import rank_features

MAILS = [
    "cheap pills cheap",
    "cheap watches free free free",
    "free lunch",
    "lunch at noon",
    "see you at lunch today",
    "quarterly report today",
]
LABELS = ["spam", "spam", "spam", "ham", "ham", "work"]


def in_class(label):
    return " ".join(mail for mail, own in zip(MAILS, LABELS, strict=True) if own == label).split()


VOCABULARY = sorted(set(" ".join(MAILS).split()))


# ---- the table p(word | class)


def test_the_table_is_that_of_the_notes_counted_by_hand():
    """phi = (times of the word in class + 1) / (words in class + |V|), in exact fractions."""
    table = TextClassifier(alpha=1.0).fit(MAILS, LABELS).term_probabilities()
    assert sorted(table.terms) == VOCABULARY
    for word in VOCABULARY:
        for label in ("ham", "spam", "work"):
            words = in_class(label)
            wanted = Fraction(words.count(word) + 1, len(words) + len(VOCABULARY))
            assert table[word][label] == pytest.approx(float(wanted), rel=1e-14)
    np.testing.assert_allclose(table.probability.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "polya", "complement"])
def test_the_table_is_scikit_learns(event):
    vectorizer = TheirVectorizer()
    theirs = TheirMultinomialNB(alpha=0.5).fit(vectorizer.fit_transform(MAILS), LABELS)
    table = TextClassifier(alpha=0.5, event=event).fit(MAILS, LABELS).term_probabilities()
    names = vectorizer.get_feature_names_out()
    for c, label in enumerate(theirs.classes_):
        shares = dict(zip(names, np.exp(theirs.feature_log_prob_[c]), strict=True))
        for word in names:
            assert table[word][label] == pytest.approx(shares[word])


def test_presence_has_a_table_of_its_own():
    vectorizer = TheirVectorizer(binary=True)
    theirs = TheirBernoulliNB(alpha=2.0).fit(vectorizer.fit_transform(MAILS), LABELS)
    table = TextClassifier(alpha=2.0, event="bernoulli").fit(MAILS, LABELS).term_probabilities()
    for at, word in enumerate(vectorizer.get_feature_names_out()):
        for c, label in enumerate(theirs.classes_):
            assert table[word][label] == pytest.approx(np.exp(theirs.feature_log_prob_[c, at]))


def test_unknown_words_have_their_share_and_no_line():
    table = TextClassifier(alpha=1.0, unknown="smooth").fit(MAILS, LABELS).term_probabilities()
    words = in_class("ham")
    wanted = (words.count("lunch") + 1) / (len(words) + len(VOCABULARY) + 1)
    assert table["lunch"]["ham"] == pytest.approx(wanted)
    assert sorted(table.terms) == VOCABULARY


def test_the_table_prints_the_frequent_words_and_becomes_a_frame():
    model = TextClassifier().fit(MAILS, LABELS)
    table = model.term_probabilities()
    head, *lines = str(table).splitlines()
    assert head.split("  ")[0] == "word"
    assert "p(word | spam)" in head
    assert lines[0].split()[0] in ("free", "lunch")  # four times and three
    assert "p(word | spam)" in table._repr_html_()
    frame = table.to_frame().set_index("word")
    assert frame.loc["cheap", "p(word | spam)"] == table["cheap"]["spam"]
    assert len(frame) == len(VOCABULARY)
    with pytest.raises(KeyError, match="'zebra' was not learned"):
        table["zebra"]


def test_of_many_words_and_classes_some_are_printed():
    labels = [f"class{at:02d}" for at in range(12)]
    texts = [f"word{at:02d} word{at + 1:02d} word{at + 20}" for at in range(12)]
    lines = str(TextClassifier(calibrate=None).fit(texts, labels).term_probabilities())
    assert lines.splitlines()[-2:] == ["and 5 more words", "and 4 more classes"]


def test_forgotten_words_are_in_no_table():
    model = TextClassifier(calibrate=None).fit(MAILS, LABELS).forget(MAILS[-1:], ["work"])
    assert "quarterly" not in model.term_probabilities().terms
    assert model.term_probabilities().classes.tolist() == ["ham", "spam"]


# ---- top words


def test_top_words_tell_the_class_from_all_others_together():
    model = TextClassifier(alpha=1.0).fit(MAILS, LABELS)
    found = model.top_words("spam", 3)
    rest = [word for label in ("ham", "work") for word in in_class(label)]
    spam, size = in_class("spam"), len(VOCABULARY)
    scores = {}
    for word in VOCABULARY:
        inside = (spam.count(word) + 1) / (len(spam) + size)
        outside = (rest.count(word) + 1) / (len(rest) + size)
        scores[word] = inside * np.log(inside / outside)
    best = sorted(scores, key=scores.get, reverse=True)[:3]
    assert set(found.words) == set(best)
    for at, word in enumerate(found.words):
        assert found.information[at] == pytest.approx(scores[word])
        assert found.count[at] == spam.count(word)
    assert found.target == "spam"


def test_words_may_be_ranked_by_ratio_or_by_probability():
    model = TextClassifier(alpha=1.0).fit(MAILS, LABELS)
    by_probability = model.top_words("ham", 2, by="probability")
    assert set(by_probability.words) == {"lunch", "at"}
    by_ratio = model.top_words("ham", len(VOCABULARY), by="log_ratio")
    assert np.all(np.diff(by_ratio.log_ratio) <= 0)
    with pytest.raises(InputError, match=r"by='length'. Rank words by one of information"):
        model.top_words("ham", by="length")


def test_the_log_ratio_is_what_a_word_adds_to_the_log_odds_of_two_classes():
    mails, labels = MAILS[:5], LABELS[:5]
    model = TextClassifier(alpha=1.0, calibrate=None).fit(mails, labels)
    found = model.top_words("spam", 30)
    for word, ratio in zip(found.words, found.log_ratio, strict=True):
        reasons = model.explain(word, "spam")
        assert reasons.contributions[0] == pytest.approx(ratio)


def test_top_words_print_and_become_a_frame():
    found = TextClassifier().fit(MAILS, LABELS).top_words("spam", 4)
    title, head, *lines = str(found).splitlines()
    assert title == "Words of class spam"
    assert head.split()[:2] == ["word", "count"]
    assert [line.split()[0] for line in lines] == list(found.words)
    assert found.to_frame().word.tolist() == list(found.words)
    assert "<table>" in found._repr_html_()


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_words_of_no_class_are_refused():
    model = TextClassifier().fit(MAILS, LABELS)
    with pytest.raises(InputError, match="There is no class 'eggs'; the classes are"):
        model.top_words("eggs")
    for n in (0, 1.5, "ten"):
        with pytest.raises(InputError, match=r"words. Ask for one or more"):
            model.top_words("ham", n)
    alone = TextClassifier().fit(MAILS[:3], LABELS[:3])
    with pytest.raises(InputError, match="There is one class only, 'spam'"):
        alone.top_words("spam")
    with pytest.raises(ValueError, match="not fitted"):
        TextClassifier().term_probabilities()


# ---- rankings


def test_words_are_ranked_as_columns_of_counts_are():
    vectorizer = TheirVectorizer()
    counts = vectorizer.fit_transform(MAILS)
    columns = rank_features(MultinomialNB(alpha=0.5).fit(counts, LABELS))
    names = vectorizer.get_feature_names_out()
    words = rank_features(TextClassifier(alpha=0.5).fit(MAILS, LABELS))
    assert sorted(words.names) == sorted(names)
    for at, word in enumerate(words.names):
        column = names.tolist().index(word)
        for score in ("mutual_information", "log_bayes_factor"):
            assert getattr(words, score)[at] == pytest.approx(getattr(columns, score)[column])


@pytest.mark.parametrize(
    "settings",
    [{"event": "bernoulli"}, {"event": "polya"}, {"event": "complement"}, {"unknown": "smooth"}],
    ids=str,
)
def test_every_event_model_ranks_the_words_it_learned(settings):
    model = TextClassifier(**settings).fit(MAILS * 5, LABELS * 5)
    ranking = rank_features(model)
    assert sorted(ranking.names) == VOCABULARY
    assert ranking.names[ranking.order[0]] in {"free", "cheap", "lunch", "at"}
    if settings.get("event") == "bernoulli":
        at = ranking.names.index("cheap")
        has = ["cheap" in mail.split() for mail in MAILS * 5]
        wanted = mutual_info_score(has, LABELS * 5)
        assert ranking.mutual_information[at] == pytest.approx(wanted)


def table(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    words = np.array(["alpha", "beta", "gamma", "delta"])
    noise = [" ".join(words[rng.integers(0, 4, 5)]) for _ in y]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=rows) + y,
            "events": rng.poisson(1.0 + 2 * y),
            "colour": np.array(["red", "green", "blue"])[np.where(rng.random(rows) < 0.7, y, 0)],
            "note": [f"{text} word{label}" for text, label in zip(noise, y, strict=True)],
            "noise": rng.normal(size=rows),
            "noisy events": rng.poisson(2.0, rows),
            "noisy level": np.array(list("abcd"))[rng.integers(0, 4, rows)],
            "noisy text": noise,
            "identifier": [f"id{at}" for at in range(rows)],
        }
    )
    return frame, y


FAMILIES = {
    "size": "normal",
    "events": "poisson",
    "colour": "categorical",
    "note": "text",
    "noise": "normal:tied",
    "noisy events": "poisson",
    "noisy level": "categorical",
    "noisy text": "text",
    "identifier": "categorical",
}
TELLING = ["size", "events", "colour", "note"]


def test_columns_of_a_table_that_tell_the_class_stand_above_those_that_do_not():
    frame, y = table()
    ranking = rank_features(GenerativeClassifier(FAMILIES, combine="naive").fit(frame, y))
    assert ranking.names == tuple(frame.columns)
    factors = dict(zip(ranking.names, ranking.log_bayes_factor, strict=True))
    assert all(factors[name] > 10 for name in TELLING)
    assert all(factors[name] < 0 for name in frame.columns if name not in TELLING)
    assert {ranking.names[j] for j in ranking.order[:4]} == set(TELLING)
    assert str(ranking).splitlines()[0].split()[0] == "feature"
    assert ranking.to_frame().feature[0] == ranking.names[ranking.order[0]]


@pytest.mark.slow
def test_columns_that_say_nothing_are_seldom_thought_to():
    above = []
    for seed in range(20):
        frame, y = table(150, seed)
        some = [name for name in frame.columns if name not in TELLING]
        families = {name: FAMILIES[name] for name in some}
        model = GenerativeClassifier(families, combine="naive").fit(frame[some], y)
        above.append(rank_features(model).log_bayes_factor > 0)
    assert np.mean(above) < 0.05


def test_the_information_of_a_level_is_that_of_its_table():
    frame, y = table()
    model = GenerativeClassifier(combine="naive").fit(frame[["colour", "noisy level"]], y)
    ranking = rank_features(model)
    for at, name in enumerate(ranking.names):
        wanted = mutual_info_score(frame[name], y)
        assert ranking.mutual_information[at] == pytest.approx(wanted, abs=1e-12)


def test_joined_columns_are_ranked_each_by_itself():
    frame, y = table()
    joined = {("colour", "noisy level"): "joint", ("size", "noise"): "mvn"}
    columns = ["colour", "noisy level", "size", "noise"]
    both = rank_features(GenerativeClassifier(joined, combine="naive").fit(frame[columns], y))
    apart = {"colour": "categorical", "noisy level": "categorical"}
    apart |= {"size": "normal", "noise": "normal"}
    each = rank_features(GenerativeClassifier(apart, combine="naive").fit(frame[columns], y))
    assert both.names == each.names
    np.testing.assert_allclose(both.mutual_information, each.mutual_information, rtol=1e-9)
    np.testing.assert_allclose(both.log_bayes_factor, each.log_bayes_factor, rtol=1e-6)


@pytest.mark.parametrize("family", ["binned", "student", "lognormal", "normal:tied"])
def test_every_family_of_numbers_is_ranked(family):
    frame, y = table()
    numbers = np.exp(frame[["size", "noise"]])
    model = GenerativeClassifier(dict.fromkeys(numbers, family), combine="naive").fit(numbers, y)
    ranking = rank_features(model)
    informative, noise = ranking.log_bayes_factor
    assert informative > 10
    assert noise < 0
    assert ranking.mutual_information[0] > 5 * ranking.mutual_information[1]


def test_columns_in_no_block_are_not_ranked():
    frame, y = table()
    some = frame[["size", "noise"]]
    model = GenerativeClassifier({"noise": "ignore", "size": "normal"}, combine="naive")
    assert rank_features(model.fit(some, y)).names == ("size",)


def test_an_empty_table_of_blocks_ranks_nothing():
    frame, y = table(60)
    model = GenerativeClassifier({"noise": "ignore"}).fit(frame[["noise"]], y)
    assert rank_features(model).names == ()


def test_ranking_needs_no_rows_and_forgets_what_was_forgotten():
    frame, y = table()
    columns = ["size", "colour"]
    families = {name: FAMILIES[name] for name in columns}
    less = GenerativeClassifier(families, combine="naive").fit(frame[columns], y)
    with pytest.warns(UserWarning, match="refresh_weights"):
        less.forget(frame[columns][:300], y[:300])
    fresh = GenerativeClassifier(families, combine="naive").fit(frame[columns][300:], y[300:])
    one, other = rank_features(less), rank_features(fresh)
    np.testing.assert_allclose(one.log_bayes_factor, other.log_bayes_factor, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "rows"),
    [(TextClassifier(), MAILS), (GenerativeClassifier(), np.arange(12.0).reshape(6, 2))],
    ids=["text", "table"],
)
def test_what_ranks_words_or_tables_selects_no_columns(model, rows):
    with pytest.raises(InputError, match="not columns of an array"):
        SelectFeatures(model=model).fit(rows, LABELS)
