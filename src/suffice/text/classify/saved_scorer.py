"""Scoring documents with a saved TextClassifier, without making the estimator.

A mail server starts a process for each message. To import scikit-learn and scipy takes most of a
second, and to score a document needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice._core import order_cells, utf8_strings
from suffice.combine.combination import Calibration
from suffice.data.documents import Documents
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.persist.checks import refusals, refuse
from suffice.persist.file_format import Path
from suffice.persist.loading import Decoder, read_document
from suffice.scoring import scorer as scoring
from suffice.scoring.discrete import EMPTY_TABLE, TableScorer
from suffice.scoring.scorer import Scorer, one_against_all
from suffice.tally.tally import Floats
from suffice.text.classify.event_scorer import (
    EVENTS,
    EVIDENCE,
    SMOOTH,
    event_counts,
    event_scorer,
)
from suffice.text.classify.length_discount import document_log_proba
from suffice.text.classify.saved_state import FIELDS, REFINED, check_learned
from suffice.text.classify.term_rows import (
    SparseRows,
    document_lengths,
    prepare_rows,
    presences,
    weight_counts,
)
from suffice.text.classify.term_tally import document_counts, term_counts
from suffice.text.vectorize.lexicon import Lexicon, WordNgrams, letters_in
from suffice.text.vectorize.terms import Names
from suffice.text.vectorize.vocabulary import MAX_RUN

# The parameters of a TextClassifier.
SETTINGS = {
    *("event", "ngrams", "weighting", "unknown", "alpha", "calibrate", "refine", "words"),
    *("fit_prior", "class_prior"),
}


@dataclass(frozen=True)
class SavedScorer:
    """p(class | document) as a saved TextClassifier has it.

    Parameters
    ----------
    classes : (C,)
    lexicon : finds the terms
    event, weighting : as in TextClassifier
    with_unknown : whether unknown terms count
    idf : (V,), or None without tf-idf
    scorer : what adds log p(document | class)
    log_prior : (C,)
    calibration : Calibration, optional
    rate : of the length discount
    refined : whether the scorer is a logistic regression on the terms present
    """

    classes: NDArray[Any]
    lexicon: Lexicon
    event: str
    weighting: str | None
    with_unknown: bool
    idf: Floats | None
    scorer: Scorer
    log_prior: Floats
    calibration: Calibration | None
    rate: float
    refined: bool

    @classmethod
    def of(cls, settings: dict[str, Any], state: dict[str, Any]) -> Self:
        """Return the scorer of settings and of what was learned, both checked."""
        event, weighting, alpha = settings["event"], settings["weighting"], settings["alpha"]
        groups, unknown = state["tally_"], settings["unknown"] == SMOOTH
        documents = groups.weights
        counts, idf = weight_counts(
            term_counts(groups),
            document_counts(groups),
            float(documents.sum()),
            weighting=weighting,
            with_unknown=unknown,
        )
        log_prior = np.zeros(len(documents))  # the complement rule has no prior
        if event != "complement" or len(documents) == 1:
            shares = documents if settings["fit_prior"] else np.ones(len(documents))
            with np.errstate(divide="ignore"):
                log_prior = np.log(shares / shares.sum())
        refined = [state[name] for name in REFINED if name in state]
        if refined:
            scorer: Scorer = TableScorer(refined[0].T, refined[1], EMPTY_TABLE)
        else:
            table = event_counts(event, documents, counts)
            if alpha == EVIDENCE:
                alpha = pseudocount_by_evidence(table) * state.get("_alpha_factor", 1.0)
            scorer = event_scorer(event, table, float(alpha))
        shortest, longest = _runs(settings["ngrams"])
        ngrams = WordNgrams(shortest=shortest, longest=longest)
        return cls(
            groups.classes,
            Lexicon.of(ngrams, Names.of(state["terms"])),
            event,
            weighting,
            unknown,
            idf,
            scorer,
            log_prior,
            state.get("calibration_"),
            state.get("_fading", 0.0),
            bool(refined),
        )

    def proba(self, text: str) -> Floats:
        """Return p(class | document) of one document, (C,)."""
        letters = letters_in(text, lowercase=self.lexicon.ngrams.lowercase)
        counted = self.lexicon.count(Documents(*utf8_strings([text])), letters)
        width, moved = len(self.lexicon), np.empty(0, np.int32)
        like = np.empty(0, np.float64)
        counts, columns, begins = order_cells(*counted[:3], moved, width, like)
        known = SparseRows((counts, columns, begins.astype(columns.dtype)), shape=(1, width))
        if self.refined:
            start = np.zeros(len(self.classes))
            scores = scoring.joint_log_proba(self.scorer, presences(known), start)
            return np.asarray(np.exp(one_against_all(scores))[0])
        missed = counted.unknown.astype(np.float64) if self.with_unknown else None
        rows = prepare_rows(known, missed, self.event, self.weighting, self.idf)
        lengths = document_lengths(rows, self.event)
        adjusted = lengths, self.calibration, self.rate
        return np.asarray(
            np.exp(document_log_proba(self.scorer, rows, self.log_prior, *adjusted))[0]
        )


def load_scorer(path: Path) -> SavedScorer | None:
    """Return the scorer of a saved TextClassifier, or None if only the estimator can score.

    That is so for other models, for documents that are split in ways of the user's (`words`), and
    for class probabilities that were given. Then use `suffice.load`.

    Parameters
    ----------
    path : str or PathLike
    """
    with refusals(path):
        document, tensors = read_document(path)
        settings = document["settings"]
        if document["model"] != "TextClassifier" or not _has_plain_settings(settings):
            return None
        decoder = Decoder(tensors)
        state = decoder.named(document["state"])
        decoder.finish()
        if unknown := state.keys() - set(FIELDS):
            refuse(f"TextClassifier learns nothing named {min(unknown)[:80]!r}.")
        event, weighting, alpha = (settings[name] for name in ("event", "weighting", "alpha"))
        check_learned(state, event, weighting, alpha, given=False)
        return SavedScorer.of({**settings, "ngrams": decoder.value(settings["ngrams"])}, state)


def _has_plain_settings(settings: Any) -> bool:
    """Say whether settings, as the file has them, are all of a kind that this module knows."""
    if type(settings) is not dict or settings.keys() != SETTINGS:
        return False
    alpha, runs = settings["alpha"], settings["ngrams"]
    if type(runs) is dict:
        runs = runs.get("items") if runs.keys() == {"is", "items"} else None
    if type(runs) is list:
        plain_runs = len(runs) == 2 and all(type(run) is int for run in runs)
    else:
        plain_runs = type(runs) is int
    if not plain_runs:
        return False
    shortest, longest = _runs(runs)
    return (
        settings["words"] is None
        and settings["class_prior"] is None
        and settings["event"] in EVENTS
        and settings["weighting"] in (None, "tfidf")
        and settings["unknown"] in ("ignore", SMOOTH)
        and (alpha == EVIDENCE or (type(alpha) in (int, float) and alpha > 0))
        and settings["calibrate"] in (None, "folds", "loo")
        and settings["refine"] in (None, "logistic")
        and type(settings["fit_prior"]) is bool
        and 1 <= shortest <= longest <= MAX_RUN
    )


def _runs(ngrams: Any) -> tuple[int, int]:
    """Return from how many words to how many a term has."""
    return (1, ngrams) if isinstance(ngrams, int) else (ngrams[0], ngrams[1])
