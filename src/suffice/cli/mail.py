"""The command mail: the class of one message by exit code, and messages learned and forgotten.

A mail server calls it for each message, so that scoring one imports neither scikit-learn nor scipy.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import suffice
from suffice.cli.app import new_app
from suffice.cli.options import Model
from suffice.cli.output import AsJson, busy, plain, text

if TYPE_CHECKING:
    from suffice.text.mail import Broken

# How the answer is told (docs: mail). Errors of every kind are 3: a usage error must not pass for
# an unsure message, nor a traceback for spam.
CODES = {
    "spamc": {"ham": 0, "spam": 1, "unsure": 2},
    "bogofilter": {"spam": 0, "ham": 1, "unsure": 2},
}
FAILED = 3
SCORE = "score"
# Where SpamBayes draws the lines: to lose a message costs more than to see one more advertisement.
HAM_CUTOFF, SPAM_CUTOFF = 0.2, 0.9
# Bytes that are read at a time of what a message has beyond the part that is looked at.
CHUNK = 1 << 16
# Skipped messages that are named.
MAX_NAMED = 5

Label = Annotated[str, typer.Argument(metavar="LABEL", help="The class of the messages.")]
Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...", help="Messages, mboxes, Maildirs, folders of them; - is one on stdin."
    ),
]


class MailCommands(TyperGroup):
    """`suffice mail learn ...`, and `suffice mail MODEL` without the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what does not begin with a command for the arguments of `score`."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [SCORE, *args]
        return super().parse_args(ctx, args)


mail = new_app(cls=MailCommands, no_args_is_help=True)


@mail.callback()
def about() -> None:
    r"""Tell the class of one message by exit code; learn and forget messages.

    \b
    suffice mail MODEL < message         0 ham, 1 spam, 2 unsure, 3 error
    suffice mail learn MODEL LABEL PATH...
    suffice mail forget MODEL LABEL PATH...
    suffice mail relabel MODEL FROM TO PATH...

    'suffice mail score --help' lists the options of the first. If the model file has the name of
    a command, write ./learn.
    """


@mail.command(SCORE)
def score(
    model: Model,
    message: Annotated[
        str, typer.Argument(metavar="[MESSAGE]", help="A file with one message; - is stdin.")
    ] = "-",
    codes: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="spamc: 0 ham, 1 spam. bogofilter: 0 spam, 1 ham. Both: 2 unsure, 3 error.",
        ),
    ] = "spamc",
    spam: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="The class that is spam, if it is not called spam."),
    ] = None,
    ham_cutoff: Annotated[
        float, typer.Option(metavar="P", help="Ham, if the probability of spam is at most this.")
    ] = HAM_CUTOFF,
    spam_cutoff: Annotated[
        float, typer.Option(metavar="P", help="Spam, if the probability is at least this.")
    ] = SPAM_CUTOFF,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing: the exit code says it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    r"""Print whether a message is spam, ham or unsure, and say it by the exit code.

    \b
    suffice mail model.suffice < message
    suffice mail model.suffice --codes bogofilter --quiet < message
    """
    if codes not in CODES:
        raise typer.BadParameter(
            f"{codes!r} is none. Use spamc or bogofilter.", param_hint="--codes"
        )
    if not 0.0 <= ham_cutoff <= spam_cutoff <= 1.0:
        raise typer.BadParameter(
            f"{ham_cutoff:g} and {spam_cutoff:g} are not in order between 0 and 1. Give the "
            "smaller one to --ham-cutoff.",
            param_hint="--ham-cutoff and --spam-cutoff",
        )
    probability = _probability(model, _read(message), spam)
    answer = "spam" if probability >= spam_cutoff else "unsure"
    if probability <= ham_cutoff and answer != "spam":
        answer = "ham"
    if as_json:
        import json

        typer.echo(json.dumps({"answer": answer, "probability_of_spam": plain(probability)}))
    elif not quiet:
        typer.echo(f"{answer} {probability:.4f}")
    raise typer.Exit(CODES[codes][answer])


@mail.command()
def learn(
    model: Model,
    label: Label,
    paths: Paths,
    new: Annotated[
        bool, typer.Option("--new", help="Begin a new model, of which there is no file yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    r"""Learn messages of a class, which may be a new one.

    The file from before is kept for one 'suffice undo'.

    \b
    suffice mail learn model.suffice spam ~/Maildir/.Junk
    """
    documents, broken = _documents(paths)
    if new:
        if os.path.exists(model):
            raise suffice.InputError(f"There is a file {model!r} already. Leave out --new.")
        with busy("Learning"):
            found = suffice.TextClassifier().fit(documents, [label] * len(documents))
            found.save(model, source="mail")
    else:
        found = _change(model, lambda one: one.partial_fit(documents, [label] * len(documents)))
    _report("Learned", len(documents), f"as {text(label)}", broken, found, as_json)


@mail.command()
def forget(model: Model, label: Label, paths: Paths, as_json: AsJson = False) -> None:
    r"""Unlearn messages of a class, for good: as if they had never been learned.

    The file from before is deleted, so that 'suffice undo' cannot bring them back.

    \b
    suffice mail forget model.suffice ham ~/Maildir/.Private
    """
    documents, broken = _documents(paths)
    labels = [label] * len(documents)
    found = _change(model, lambda one: one.forget(documents, labels), final=True)
    _report("Forgot", len(documents), f"of {text(label)}, for good", broken, found, as_json)


@mail.command()
def relabel(
    model: Model,
    before: Annotated[str, typer.Argument(metavar="FROM", help="What they were learned as.")],
    after: Annotated[str, typer.Argument(metavar="TO", help="What they are.")],
    paths: Paths,
    as_json: AsJson = False,
) -> None:
    r"""Correct messages that were learned with a wrong class.

    The file from before is kept for one 'suffice undo'.

    \b
    suffice mail relabel model.suffice spam ham wrong.eml
    """
    documents, broken = _documents(paths)

    def correct(one: Any) -> Any:
        one.forget(documents, [before] * len(documents))
        return one.partial_fit(documents, [after] * len(documents))

    how = f"from {text(before)} to {text(after)}"
    _report("Relabelled", len(documents), how, broken, _change(model, correct), as_json)


# One message.


def _read(path: str) -> bytes:
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
    from suffice.text.mail.message import MAX_BYTES

    raw = file.read(MAX_BYTES + 1)
    while file.read(CHUNK):
        pass
    return raw


def _probability(path: str, raw: bytes, spam: str | None) -> float:
    """Return the probability that a message is spam, by a model file."""
    from suffice.text.classify.saved_scorer import load_scorer
    from suffice.text.mail import parse_message

    scorer = load_scorer(path)
    if scorer is not None:
        at = _spam_class(path, scorer.classes.tolist(), spam)
        return float(scorer.proba(parse_message(raw).text)[at])
    model = _text_model(path, suffice.load(path))
    at = _spam_class(path, model.classes_.tolist(), spam)
    return float(model.predict_proba([parse_message(raw).text])[0, at])


def _spam_class(path: str, classes: list[Any], spam: str | None) -> int:
    """Return the number of the class that is spam."""
    known = [str(one) for one in classes]
    names = ", ".join(repr(text(one)) for one in known[:8])
    if len(known) < 2:
        raise suffice.InputError(
            f"{path!r} knows one class only, {names}, so every message is of it. Teach it another: "
            "suffice mail learn MODEL LABEL PATH."
        )
    wanted = [one for one in known if one == spam] if spam is not None else []
    if spam is None:
        wanted = [one for one in known if one.lower() == "spam"]
    if len(wanted) != 1:
        fact = "no class called spam" if spam is None else f"no class {spam!r}"
        fact = f"{len(wanted)} classes called spam" if len(wanted) > 1 else fact
        raise suffice.InputError(
            f"{path!r} has {fact}. Name the one that is with --spam LABEL; it has {names}."
        )
    return known.index(wanted[0])


def _text_model(path: str, model: Any) -> Any:
    """Return the model, if it is one of documents."""
    if not isinstance(model, suffice.TextClassifier):
        raise suffice.InputError(
            f"{path!r} holds a {type(model).__name__}, which takes no messages. Learn a "
            "TextClassifier: suffice mail learn MODEL LABEL PATH --new."
        )
    return model


# Many messages.


def _documents(paths: list[str]) -> tuple[list[str], list[Broken]]:
    """Return the texts of the messages at paths, and what was skipped."""
    from suffice.text.mail import parse_message, read_mail

    broken: list[Broken] = []
    documents: list[str] = []
    with busy("Reading mail"):
        for path in paths:
            if path == "-":
                documents.append(parse_message(_read("-")).text)
            else:
                found = read_mail(os.path.expanduser(path), on_broken=broken.append)
                documents += [message.text for message in found]
    if not documents:
        reason = f" The first that was skipped is {broken[0]}" if broken else ""
        raise suffice.InputError(
            f"There is no message at {', '.join(map(repr, paths[:3]))}.{reason} Name messages, an "
            "mbox, a Maildir or a folder of them; nothing was changed."
        )
    return documents, broken


def _change(path: str, change: Any, *, final: bool = False) -> Any:
    """Change a model file under its lock, and calibrate it again on the messages that it keeps."""
    import warnings

    from suffice.errors import StaleCalibrationWarning
    from suffice.persist import change_model

    def and_calibrate(model: Any) -> Any:
        with warnings.catch_warnings():
            # Said of what is put right at once.
            warnings.simplefilter("ignore", StaleCalibrationWarning)
            change(_text_model(path, model))
            if model.calibrate is not None or model.refine is not None:
                model.refresh_calibration()

    with busy("Learning"):
        return change_model(path, and_calibrate, source="mail", final=final)


def _report(
    done: str, number: int, how: str, broken: list[Broken], model: Any, as_json: bool
) -> None:
    """Print what was done, and what the model has learned now."""
    counts = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    if as_json:
        import json

        skipped = [{"source": one.source, "reason": one.reason} for one in broken]
        told = {"messages": number, "skipped": skipped, "classes": counts}
        typer.echo(json.dumps(plain(told), indent=2, ensure_ascii=False))
    else:
        now = ", ".join(f"{count:g} {text(label)}" for label, count in counts.items())
        many = "message" if number == 1 else "messages"
        typer.echo(f"{done} {number} {many} {how}. The model has {now}.")
    for one in broken[:MAX_NAMED]:
        typer.echo(f"Skipped {text(str(one))}", err=True)
    if len(broken) > MAX_NAMED:
        typer.echo(f"Skipped {len(broken) - MAX_NAMED} more.", err=True)
