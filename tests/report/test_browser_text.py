"""Documents in the page: words of any script, every event and setting, and texts without room."""

import numpy as np
import pytest

from browser_answers import answers, compare_documents
from browser_cases import LABELS, UNICODE, documents, new_documents, random_text
from suffice import CountVectorizer, TextClassifier
from suffice.report.browser_model import browser_model, compress

EVENTS = ("multinomial", "bernoulli", "complement", "polya")


@pytest.mark.parametrize("calibrate", [None, "folds"])
@pytest.mark.parametrize("event", EVENTS)
def test_documents_of_every_event(script, event, calibrate):
    model = TextClassifier(event=event, calibrate=calibrate).fit(*documents())
    compare_documents(script, model, new_documents())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"weighting": "tfidf"},
        {"unknown": "smooth"},
        {"unknown": "smooth", "event": "bernoulli"},
        {"ngrams": (1, 3), "unknown": "smooth"},
        {"refine": "logistic"},
        {"fit_prior": False},
        {"class_prior": [0.2, 0.8]},
        {
            "words": CountVectorizer(
                lowercase=False, token_pattern=r"\w+", stop_words=["you", "née"]
            )
        },
        {"words": CountVectorizer(vocabulary=["lunch", "pills", "free lunch"]), "ngrams": (1, 2)},
    ],
    ids=str,
)
def test_documents_of_every_setting(script, settings, classes):
    if len(settings.get("class_prior", "  ")) != classes and "class_prior" in settings:
        settings = {"class_prior": [0.2, 0.5, 0.3]}
    model = TextClassifier(**settings).fit(*documents(classes=classes))
    compare_documents(script, model, new_documents(), explained=5)


def test_words_are_those_of_python_in_any_script(script):
    rng = np.random.default_rng(0)
    texts = [*UNICODE, *(random_text(rng) for _ in range(400))]
    for lowercase, pattern in ((True, r"(?u)\b\w\w+\b"), (False, r"\w+")):
        words = CountVectorizer(lowercase=lowercase, token_pattern=pattern)
        model = TextClassifier(words=words, calibrate=None, alpha=1.0)
        model.fit(texts, LABELS[rng.integers(0, 3, len(texts))])
        found = answers(script, browser_model(model), [{"document": text} for text in texts])
        analyze = words.build_analyzer()
        for text, one in zip(texts, found, strict=True):
            counted = {p["name"]: int(p["value"].rpartition("x")[2]) for p in one["reasons"]}
            expected = analyze(text)
            assert counted == {word: expected.count(word) for word in expected}, text


# Texts that a page has no room for, and those that it cannot split.


def many_words(monkeypatch, room, **settings):
    """Return a model of more words than there is room for, and its words by how often they are."""
    monkeypatch.setattr("suffice.report.browser_text.MAX_BYTES", room)
    rng = np.random.default_rng(2)
    names = np.array([f"w{at:x}{at * 7919 % 997}" for at in range(3000)])
    chance = 1.0 / (1 + np.arange(len(names)))
    y = rng.integers(0, 2, 120)
    texts = [
        " ".join(rng.choice(np.roll(names, 5 * own), 40, p=chance / chance.sum())) for own in y
    ]
    return TextClassifier(calibrate=None, **settings).fit(texts, LABELS[y])


@pytest.mark.parametrize(
    "settings",
    [{"event": event} for event in EVENTS] + [{"weighting": "tfidf"}, {"refine": "logistic"}],
    ids=str,
)
def test_the_most_informative_words_are_kept_and_their_numbers_stay(script, monkeypatch, settings):
    model = many_words(monkeypatch, 3000, **settings)
    found = browser_model(model)
    (block,) = found["blocks"]
    kept = block["terms"]
    assert 30 < len(kept) < len(model.terms_)
    assert block["left_out"] == len(model.terms_) - len(kept)
    if set(settings) == {"event"}:
        text = compress({"terms": kept, "tables": [block["tally"]["counts"]]})
        assert 0.9 * 3000 < len(text) <= 3000
    assert set(model.importance().to_frame().word[:10]) <= set(kept)
    # Documents of words that are kept have the probabilities of the whole model.
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(kept, 15)) for _ in range(50)]
    compare_documents(script, model, texts, explained=5)


def test_all_words_are_kept_where_there_is_room(monkeypatch):
    model = many_words(monkeypatch, 700_000)
    (block,) = browser_model(model)["blocks"]
    assert block["terms"] == model.terms_.tolist()
    assert block["left_out"] == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "a tokenizer"),
        (CountVectorizer(analyzer="char"), "analyzer='char'"),
        (CountVectorizer(analyzer=str.split), "an analyzer"),
        (CountVectorizer(preprocessor=str.upper), "a preprocessor"),
        (CountVectorizer(strip_accents="unicode"), "strip_accents"),
        (CountVectorizer(token_pattern=r"[a-z]+"), "token_pattern="),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_documents_that_python_code_splits_cannot_be_typed(script, words, reason):
    model = TextClassifier(words=words, calibrate=None).fit(*documents(size=20))
    found = browser_model(model)
    assert reason in found["blocks"][0]["reason"]
    with pytest.raises(Exception, match="which a page cannot run"):
        answers(script, found, [{"document": "lunch"}])
