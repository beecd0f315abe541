"""The command mail: the class of one message by exit code, and messages learned and forgotten."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import suffice
from suffice.cli.app import new_app
from suffice.cli.one_message import (
    HAM_CUTOFF,
    SCORE,
    SPAM_CUTOFF,
    Asked,
    check_text_model,
    read_message,
)
from suffice.cli.one_message import score as score_message
from suffice.cli.options import Model
from suffice.cli.output import AsJson, busy, plain, text
from suffice.errors import StaleCalibrationWarning

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
        if not args or args[0] not in (*self.commands, *ctx.help_option_names):
            args = [SCORE, *args]
        return super().parse_args(ctx, args)


mail = new_app(cls=MailCommands)


@mail.callback()
def about() -> None:
    """Sort mail: the class of a message by exit code.

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
        str, typer.Argument(metavar="MESSAGE", help="A file with one message; - is stdin.")
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
    """Print whether a message is spam, ham or unsure, and say it by the exit code.

    \b
    suffice mail model.suffice < message
    suffice mail model.suffice --codes bogofilter --quiet < message
    """
    asked = Asked(model, message, codes, spam, ham_cutoff, spam_cutoff, quiet, as_json)
    if not asked.has_codes:
        hint = f"{codes!r} is none. Use spamc or bogofilter."
        raise typer.BadParameter(hint, param_hint="--codes")
    if not asked.has_cutoffs:
        raise typer.BadParameter(
            f"{ham_cutoff:g} and {spam_cutoff:g} are not in order between 0 and 1. Give the "
            "smaller one to --ham-cutoff.",
            param_hint="--ham-cutoff and --spam-cutoff",
        )
    raise typer.Exit(score_message(asked))


@mail.command()
def learn(
    model: Model,
    label: Label,
    paths: Paths,
    new: Annotated[
        bool,
        typer.Option(
            "--new",
            help="Begin a new file. It keeps the words of up to 5,000 messages, to be calibrated.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn messages of a class, which may be a new one.

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
            found.save(model, source="mail", rows=True)
    else:
        found = _change(model, lambda one: one.partial_fit(documents, [label] * len(documents)))
    _report("Learned", len(documents), f"as {text(label)}", broken, found, as_json)


@mail.command()
def forget(model: Model, label: Label, paths: Paths, as_json: AsJson = False) -> None:
    """Unlearn messages of a class, for good: as if they had never been learned.

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
    """Correct messages that were learned with a wrong class.

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


# Many messages.


def _documents(paths: list[str]) -> tuple[list[str], list[Any]]:
    """Return the texts of the messages at paths, and what was skipped."""
    broken: list[Any] = []
    documents: list[str] = []
    with busy("Reading mail"):
        for path in paths:
            if path == "-":
                documents.append(suffice.text.mail.parse_message(read_message("-")).text)
            else:
                found = suffice.text.mail.read_mail(
                    os.path.expanduser(path), on_broken=broken.append
                )
                documents += [message.text for message in found]
    if not documents:
        reason = f" The first that was skipped is {broken[0]}" if broken else ""
        raise suffice.InputError(
            f"There is no message at {', '.join(map(repr, paths[:3]))}.{reason} Name messages, an "
            "mbox, a Maildir or a folder of them; nothing was changed."
        )
    return documents, broken


def _change(path: str, change: Any, *, final: bool = False) -> Any:
    """Change a model file under its lock, and calibrate it again if it keeps messages."""
    import warnings

    keeps_messages = suffice.persist.describe(path).keeps_rows

    def and_calibrate(model: Any) -> None:
        change(check_text_model(path, model))
        if keeps_messages and len(model.classes_) > 1:
            model.refresh_calibration()

    with busy("Learning"), warnings.catch_warnings():
        # A calibration that is a few messages old is no news for a mail server.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        source = None if final else "mail"
        return suffice.persist.change_model(path, and_calibrate, source=source, final=final)


def _report(done: str, number: int, how: str, broken: list[Any], model: Any, as_json: bool) -> None:
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
