"""Classifiers and vectorizers of documents: every event model, weighting and way of splitting."""

from __future__ import annotations

import numpy as np

from golden_tables import documents
from golden_values import (
    IMPORTANT,
    answers,
    cross_validation,
    explanations,
    fields_of,
    fitted,
    flat,
    leave_one_out,
    samples,
    to_logistic,
    value_or_refusal,
)
from suffice import CountVectorizer, HashingVectorizer, TextClassifier

EVENTS = ("multinomial", "bernoulli", "complement", "polya")
NEW = [
    "cheap pills at noon",
    "the meeting report report",
    "",
    "zzz unheard",
    "lunch lunch own3",
    None,
]
SETTINGS = {
    **{f"event={event}": {"event": event} for event in EVENTS},
    **{f"event={e} calibrate=None": {"event": e, "calibrate": None} for e in EVENTS},
    **{f"event={e} alpha=0.5": {"event": e, "alpha": 0.5} for e in EVENTS},
    **{
        f"event={e} unknown=smooth{setting}": {"event": e, "unknown": "smooth", **given}
        for e in EVENTS
        for setting, given in (("", {}), (" calibrate=None", {"calibrate": None}))
    },
    **{
        f"event={e} weighting=tfidf{setting}": {"event": e, "weighting": "tfidf", **given}
        for e in ("multinomial", "complement")
        for setting, given in (("", {}), (" calibrate=None", {"calibrate": None}))
    },
    "ngrams=2": {"ngrams": 2},
    "ngrams=(2, 2)": {"ngrams": (2, 2)},
    "calibrate=loo": {"calibrate": "loo"},
    "refine=logistic": {"refine": "logistic"},
    "refine=logistic bernoulli": {"refine": "logistic", "event": "bernoulli"},
    "fit_prior=False": {"fit_prior": False},
    "class_prior": {"class_prior": [0.2, 0.3, 0.5]},
    "words stop words": {"words": CountVectorizer(stop_words=["the", "at"])},
    "words characters": {"words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))},
    "words vocabulary smooth": {
        "words": CountVectorizer(vocabulary=["cheap", "lunch", "report"]),
        "unknown": "smooth",
    },
    "words pattern": {"words": CountVectorizer(token_pattern=r"\b[a-m]\w+")},
}
SIZE = 90


def corpus():
    """Return documents, labels and weights."""
    texts, labels = documents(size=SIZE)
    weights = np.random.default_rng(30).choice([0.5, 1.0, 2.0], SIZE)
    return texts, labels, weights


def answers_of(model, texts, labels, *, leave=True, validate=False):
    """Return all results of a classifier of documents."""
    found = answers(model, NEW) | fitted(model) | samples(model)
    found |= explanations(model, NEW[0], rest=validate)
    found |= value_or_refusal("importance", lambda: fields_of(model.importance(), *IMPORTANT))
    held = (texts[:20], labels[:20])
    found |= value_or_refusal(
        "importance of", lambda: fields_of(model.importance(*held), *IMPORTANT)
    )
    found |= value_or_refusal(
        "term_probabilities",
        lambda: fields_of(model.term_probabilities(), "terms", "probability", "count"),
    )
    for by in ("information", "log_ratio", "probability"):
        found |= value_or_refusal(f"top_words {by}", lambda by=by: top_words(model, by))
    found |= to_logistic(model, NEW[:4])
    if leave:
        found |= leave_one_out(model, texts, labels)
    if validate:
        found |= cross_validation(model, texts, labels)
    return found


def top_words(model, by):
    """Return the words that best distinguish the first class."""
    frame = model.top_words(model.classes_[0], 6, by).to_frame()
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def fit(settings, *, validate=False):
    """Fit a classifier, and return all its results."""
    texts, labels, _ = corpus()
    return answers_of(
        TextClassifier(**settings).fit(texts, labels), texts, labels, validate=validate
    )


def weighted(settings):
    """Fit a classifier to weighted documents in groups."""
    texts, labels, weights = corpus()
    model = TextClassifier(**settings).fit(
        texts, labels, sample_weight=weights, groups=np.arange(SIZE) % 30
    )
    return answers_of(model, texts, labels, leave=False) | leave_one_out(
        model, texts, labels, weights
    )


def history(act):
    """Learn documents by parts, and go on from there."""
    texts, labels, _ = corpus()
    parts = [(texts[:50], labels[:50]), (texts[50:], labels[50:])]
    return answers_of(act(parts), texts, labels, leave=False)


def _partial_fit(parts):
    model = TextClassifier()
    for documents_, labels in parts:
        for start in range(0, len(documents_), 17):
            model.partial_fit(documents_[start : start + 17], labels[start : start + 17])
    return model


def _sum(parts):
    return sum([TextClassifier().fit(*part) for part in parts[1:]], TextClassifier().fit(*parts[0]))


HISTORIES = {
    "partial_fit": _partial_fit,
    "partial_fit refresh_calibration": lambda parts: _partial_fit(parts).refresh_calibration(),
    "forget": lambda parts: _partial_fit(parts).forget(*parts[1]),
    "forget refresh_calibration": lambda parts: (
        _partial_fit(parts).forget(*parts[1]).refresh_calibration()
    ),
    "merge": lambda parts: TextClassifier().fit(*parts[0]).merge(TextClassifier().fit(*parts[1])),
    "sum": _sum,
    "prune": lambda parts: TextClassifier().fit(*parts[0]).prune(3),
    "generator": lambda parts: TextClassifier().fit(iter(parts)),
    "tfidf forget": lambda parts: (
        TextClassifier(weighting="tfidf", calibrate=None)
        .fit(*parts[0])
        .partial_fit(*parts[1])
        .forget(*parts[0])
    ),
    "refine new class": lambda parts: (
        TextClassifier(refine="logistic").fit(*parts[0]).partial_fit(["quarterly report"], ["dog"])
    ),
}

COUNTING = {
    "defaults": {},
    "lowercase=False": {"lowercase": False},
    "strip_accents=unicode": {"strip_accents": "unicode"},
    "strip_accents=ascii": {"strip_accents": "ascii"},
    "stop_words=english": {"stop_words": "english"},
    "stop_words given": {"stop_words": ["the", "at"]},
    "token_pattern": {"token_pattern": r"\b[a-m]\w+"},
    "token_pattern \\w+": {"token_pattern": r"\w+"},
    "ngram_range=(1, 3)": {"ngram_range": (1, 3)},
    "analyzer=char": {"analyzer": "char", "ngram_range": (2, 2)},
    "analyzer=char_wb": {"analyzer": "char_wb", "ngram_range": (2, 3)},
    "binary": {"binary": True},
    "dtype=float32": {"dtype": np.float32},
}
CHOOSING = {
    "min_df max_df": {"min_df": 2, "max_df": 0.8},
    "max_features=4": {"max_features": 4},
    "vocabulary": {"vocabulary": ["cheap", "noon", "report"]},
}
SENTENCES = [
    "The Café opens at noon, the CAFE closes at five",
    "cheap pills & cheap watches; naïve buyers",
    "",
    "lunch at noon? a report on lunch",
    "Straße, ΣΟΦΟΣ and 12 monkeys at the zoo",
    "report on the report",
]


def counted(settings):
    """Learn documents in whole and in parts, count, merge and prune."""
    counter = CountVectorizer(**settings)
    found = flat("fit_transform", counter.fit_transform(SENTENCES))
    found |= value_or_refusal("names", counter.get_feature_names_out) | fitted(counter)
    found |= flat("transform", counter.transform(NEW[:5]))
    found |= value_or_refusal(
        "inverse", lambda: list(counter.inverse_transform(counter.transform(NEW[:2])))
    )

    def parts():
        learner = CountVectorizer(**settings).partial_fit(SENTENCES[:3]).partial_fit(SENTENCES[3:])
        both = CountVectorizer(**settings).fit(SENTENCES[:3])
        both = both + CountVectorizer(**settings).fit(SENTENCES[3:])
        return {
            "in parts": learner.get_feature_names_out(),
            "in parts counts": learner.term_counts_,
            "merged": both.get_feature_names_out(),
            "merged counts": both.term_counts_,
            "pruned": both.prune(2).get_feature_names_out(),
        }

    return found | value_or_refusal("history", parts)


def hashed(settings):
    """Hash documents to a few columns, and name them."""
    hashing = HashingVectorizer(n_features=8, **settings)
    found = flat("transform", hashing.transform(SENTENCES))
    hashing.partial_fit(SENTENCES[:3]).partial_fit(SENTENCES[3:])
    found |= value_or_refusal("names", hashing.get_feature_names_out)
    return found | value_or_refusal(
        "terms_of", lambda: [list(hashing.terms_of(at)) for at in range(8)]
    )


def cases():
    """Return all cases of texts by name."""
    found = {}
    validate = {f"event={event}" for event in EVENTS} | {"event=multinomial weighting=tfidf"}
    for name, given in SETTINGS.items():
        found[f"TextClassifier {name}"] = lambda given=given, on=name in validate: fit(
            given, validate=on
        )
    for event in EVENTS:
        found[f"TextClassifier event={event} weights groups"] = lambda event=event: weighted(
            {"event": event}
        )
    for name, act in HISTORIES.items():
        found[f"TextClassifier history {name}"] = lambda act=act: history(act)
    for name, given in (COUNTING | CHOOSING).items():
        found[f"CountVectorizer {name}"] = lambda given=given: counted(given)
    hashing = {"norm=l1": {"norm": "l1"}, "norm=None": {"norm": None}}
    hashing["alternate_sign=False"] = {"alternate_sign": False}
    for name, given in (COUNTING | hashing).items():
        found[f"HashingVectorizer {name}"] = lambda given=given: hashed(given)
    return found
