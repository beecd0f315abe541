"""One message scored, without typer: a mail server starts a process for each.

typer builds a validator of pydantic for every option, which takes as long as all the rest
(docs: decisions, 032). Arguments that are not plain are left to typer, which says what is wrong.
"""

from __future__ import annotations

import os
import sys
from typing import IO, Any, NamedTuple

import suffice

# How the answer is told (docs: mail). Errors of every kind are 3: a usage error must not pass for
# an unsure message, nor a traceback for spam.
CODES = {
    "spamc": {"ham": 0, "spam": 1, "unsure": 2},
    "bogofilter": {"spam": 0, "ham": 1, "unsure": 2},
}
FAILED = 3
# Commands of `suffice mail` that are not the name of a model file.
SCORE = "score"
COMMANDS = ("learn", "forget", "relabel")
# Where SpamBayes draws the lines: to lose a message costs more than to see one more advertisement.
HAM_CUTOFF, SPAM_CUTOFF = 0.2, 0.9
# What is looked at of a message, and what is read at a time of the rest, in bytes.
MAX_BYTES = 1_000_000
CHUNK = 1 << 16
TEXTS, NUMBERS = ("--codes", "--spam"), ("--ham-cutoff", "--spam-cutoff")
FLAGS = {"--quiet": "quiet", "-q": "quiet", "--json": "as_json"}


class Asked(NamedTuple):
    """What the command line of one message asks for."""

    model: str
    message: str = "-"
    codes: str = "spamc"
    spam: str | None = None
    ham_cutoff: float = HAM_CUTOFF
    spam_cutoff: float = SPAM_CUTOFF
    quiet: bool = False
    as_json: bool = False

    @property
    def has_codes(self) -> bool:
        """Whether the exit codes have a name that is known."""
        return self.codes in CODES

    @property
    def has_cutoffs(self) -> bool:
        """Whether the cutoffs are probabilities in order."""
        return 0.0 <= self.ham_cutoff <= self.spam_cutoff <= 1.0


def parse(args: list[str]) -> Asked | None:
    """Return what the arguments of `suffice mail` ask for, or None if they are not plain.

    >>> parse(["model.suffice", "--codes=bogofilter", "-q"])[:4]
    ('model.suffice', '-', 'bogofilter', None)
    >>> parse(["learn", "model.suffice", "spam", "junk"]) is None, parse(["--nonsense"]) is None
    (True, True)
    """
    if not args or args[0] in COMMANDS:
        return None
    given: dict[str, Any] = {}
    places: list[str] = []
    waiting = args[1:] if args[0] == SCORE else list(args)
    while waiting:
        one = waiting.pop(0)
        name, equals, value = one.partition("=")
        if one in FLAGS:
            given[FLAGS[one]] = True
        elif name in (*TEXTS, *NUMBERS):
            if not equals:
                if not waiting:
                    return None
                value = waiting.pop(0)
            try:
                found: Any = float(value) if name in NUMBERS else value
            except ValueError:
                return None
            given[name[2:].replace("-", "_")] = found
        elif one.startswith("-") and one != "-":
            return None
        else:
            places.append(one)
    if not 1 <= len(places) <= 2:
        return None
    asked = Asked(places[0], places[1] if len(places) > 1 else "-", **given)
    return asked if asked.has_codes and asked.has_cutoffs else None


def main(args: list[str]) -> int | None:
    """Score one message; return the exit code, or None if the arguments are left to typer."""
    asked = parse(args)
    if asked is None:
        return None
    try:
        code = score(asked)
        if sys.stdout is not None:  # a mail server may have closed it
            sys.stdout.flush()
    except KeyboardInterrupt:
        return FAILED
    except Exception as error:
        if isinstance(error, OSError) and sys.stdout is not None:
            # Nobody reads what is left, and Python would fail once more when it ends.
            sys.stdout = None
        from suffice.cli.app import tell

        if sys.stderr is not None:
            print(tell(error), file=sys.stderr)
        return FAILED
    return code


def score(asked: Asked) -> int:
    """Print the class of a message, and return the exit code."""
    probability = _probability(asked.model, read_message(asked.message), asked.spam)
    answer = "spam" if probability >= asked.spam_cutoff else "unsure"
    if probability <= asked.ham_cutoff and answer != "spam":
        answer = "ham"
    if asked.as_json:
        import json

        print(json.dumps({"answer": answer, "probability_of_spam": probability}))
    elif not asked.quiet:
        print(f"{answer} {probability:.4f}")
    return CODES[asked.codes][answer]


def read_message(path: str) -> bytes:
    """Return the bytes of a message, as far as they are looked at; the rest is read and dropped.

    Whoever writes them into a pipe would otherwise fail.
    """
    if path != "-":
        with open(path, "rb") as file:
            return _read_all(file)
    if sys.stdin is None or sys.stdin.isatty():
        raise suffice.InputError("There is no message on stdin. Use: suffice mail MODEL < message")
    return _read_all(sys.stdin.buffer)


def _read_all(file: IO[bytes]) -> bytes:
    raw = file.read(MAX_BYTES + 1)
    while file.read(CHUNK):
        pass
    return raw


def _probability(path: str, raw: bytes, spam: str | None) -> float:
    """Return the probability that a message is spam, by a model file."""
    document = suffice.text.mail.parse_message(raw).text
    scorer = suffice.text.load_scorer(path)
    if scorer is not None:
        at = _spam_class(path, scorer.classes.tolist(), spam)
        return float(scorer.proba(document)[at])
    model = check_text_model(path, suffice.load(path))
    at = _spam_class(path, model.classes_.tolist(), spam)
    return float(model.predict_proba([document])[0, at])


def _spam_class(path: str, classes: list[Any], spam: str | None) -> int:
    """Return the number of the class that is spam."""
    known = [str(one) for one in classes]
    names = ", ".join(ascii(one) for one in known[:8])
    if len(known) < 2:
        raise suffice.InputError(
            f"{os.fspath(path)!r} knows one class only, {names}, so every message is of it. Teach "
            "it another: suffice mail learn MODEL LABEL PATH."
        )
    wanted = [one for one in known if (one.lower() == "spam" if spam is None else one == spam)]
    if len(wanted) != 1:
        fact = "no class called spam" if spam is None else f"no class {spam!r}"
        fact = f"{len(wanted)} classes called spam" if wanted else fact
        raise suffice.InputError(
            f"{os.fspath(path)!r} has {fact}. Name the class with --spam LABEL; it has {names}."
        )
    return known.index(wanted[0])


def check_text_model(path: str, model: Any) -> Any:
    """Return the model of a file, if it is one of documents."""
    if not isinstance(model, suffice.TextClassifier):
        raise suffice.InputError(
            f"{os.fspath(path)!r} holds a {type(model).__name__}, which takes no messages. Learn a "
            "TextClassifier: suffice mail learn MODEL LABEL PATH --new."
        )
    return model
