"""Mail: the class of one message by exit code, and messages learned, forgotten and relabelled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import suffice
from suffice import CountVectorizer, GaussianNB, TextClassifier
from suffice.cli import one_message
from suffice.cli.one_message import HAM_CUTOFF, SPAM_CUTOFF, parse

SPAM = b"Subject: cheap pills\n\nBuy cheap pills and watches now, free shipping.\n"
HAM = b"From: Ann <ann@work.example>\nSubject: lunch\n\nLunch at noon? The report is on my desk.\n"
UNSURE = b"Subject: x\n\nzzz\n"
HEAVY = ("sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "typer", "rich")


def write_mail(folder, label, raw, number):
    (folder / label).mkdir(parents=True, exist_ok=True)
    for at in range(number):
        (folder / label / f"{at}.eml").write_bytes(raw + b"Number %d of many.\n" % at)


@pytest.fixture(scope="session")
def mail_files(tmp_path_factory):
    """Return a folder of messages, and a model of them."""
    folder = tmp_path_factory.mktemp("mail")
    write_mail(folder, "spam", SPAM, 12)
    write_mail(folder, "ham", HAM, 12)
    found = [(m.text, label) for label in ("ham", "spam") for m in read(folder / label)]
    model = TextClassifier().fit(*zip(*found, strict=True))
    model.save(folder / "model", rows=True)
    return folder


def read(path):
    return suffice.text.mail.read_mail(path)


@pytest.fixture
def box(mail_files, tmp_path, monkeypatch):
    """Return the working folder of a test, with the model and the messages in it."""
    (tmp_path / "model").write_bytes((mail_files / "model").read_bytes())
    for label in ("ham", "spam"):
        (tmp_path / label).symlink_to(mail_files / label)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# One message, as a process.


@pytest.mark.parametrize(
    ("raw", "options", "code", "answer"),
    [
        (HAM, [], 0, "ham"),
        (SPAM, [], 1, "spam"),
        (UNSURE, [], 2, "unsure"),
        (SPAM, ["--codes", "bogofilter"], 0, "spam"),
        (HAM, ["--codes=bogofilter"], 1, "ham"),
        (UNSURE, ["--codes", "bogofilter"], 2, "unsure"),
        (HAM, ["--spam", "ham"], 1, "spam"),
    ],
    ids=str,
)
def test_the_exit_code_says_what_a_message_is(raw, options, code, answer, box, process):
    done = process("mail", "model", *options, stdin=raw)
    assert (done.code, done.err) == (code, "")
    assert done.out.split()[0] == answer


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["mail"], "Missing argument"),
        (["mail", "model", "--nonsense"], "No such option"),
        (["mail", "model", "--codes", "sieve"], "spamc or bogofilter"),
        (["mail", "model", "--spam-cutoff", "high"], "number"),
        (["mail", "model", "--spam-cutoff", "0.1"], "not in order between 0 and 1"),
        (["mail", "model", "a", "b"], "unexpected"),
        (["mail", "nowhere"], "There is no file or folder 'nowhere'"),
        (["mail", "model", "nowhere.eml"], "There is no file or folder 'nowhere.eml'"),
        (["mail", "broken"], "'broken'"),
        (["mail", "model", "--spam", "junk"], "--spam LABEL"),
        (["mail", "learn"], "Missing argument"),
        (["mail", "learn", "model", "spam", "nowhere"], "There is nothing at 'nowhere'"),
        (["mail", "forget", "model", "ham", "spam"], "nothing was changed"),
        (["--debug", "mail", "nowhere"], "Traceback"),
    ],
    ids=str,
)
def test_every_error_ends_with_3_and_changes_nothing(args, said, box, process):
    (box / "broken").write_bytes(b"no model")
    before = (box / "model").read_bytes()
    done = process(*args, stdin=SPAM)
    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert ("Traceback" in done.err) == ("--debug" in args)
    assert (box / "model").read_bytes() == before


def test_an_exception_that_nobody_expected_ends_with_3(box, monkeypatch, capsys):
    def fail(asked):
        raise RuntimeError("the roof fell in")

    monkeypatch.setattr(one_message, "score", fail)
    assert suffice.cli.main(["mail", "model"]) == 3
    assert "the roof fell in" in capsys.readouterr().err


def test_scoring_one_message_imports_nothing_heavy(box):
    script = (
        "import sys\nfrom suffice.cli import main\n"
        "code = main(['mail', 'model', '-q'])\n"
        f"print(code, *(name for name in {HEAVY} if name in sys.modules))"
    )
    command = [sys.executable, "-c", script]
    foreign = "Subject: größe\n\nLunch at noon? Grüße, ΟΔΌΣ".encode()
    for raw in (HAM, foreign):
        done = subprocess.run(command, input=raw, capture_output=True, check=True)
        assert done.stdout.decode().split() == ["0"]


def test_on_a_terminal_without_a_message_it_says_how_to_give_one(box, terminal):
    done = terminal("mail", "model")
    assert done.code == 3
    assert "suffice mail MODEL < message" in done.out


def test_on_a_terminal_a_file_is_scored(box, terminal):
    done = terminal("mail", "model", "spam/0.eml")
    assert done.code == 1
    assert done.out.startswith("spam ")


def test_a_message_is_read_to_its_end_so_that_its_writer_does_not_fail(box):
    # 3 MB are more than a pipe holds and than is looked at.
    script = "printf 'Subject: x\\n\\n'; head -c 3000000 /dev/zero | tr '\\0' 'z'; echo $? >written"
    command = f"( {script} ) | {sys.executable} -m suffice mail model -q; echo $?"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    assert done.stdout == "2\n"
    assert (box / "written").read_text() == "0\n"


def test_closed_and_full_outputs_do_not_change_what_is_said(box):
    command = f"{sys.executable} -m suffice mail model"
    for output, code in ((">&-", 1), ("2>&- >&-", 1), (">/dev/full", 3), ("-q >/dev/full", 1)):
        done = subprocess.run(["/bin/sh", "-c", f"{command} {output}"], input=SPAM, stderr=-3)
        assert (output, done.returncode) == (output, code)


# One message, in this process.


def test_json_holds_the_probability_of_the_library(box, run):
    done = run("mail", "model", "--json", stdin=SPAM)
    (message,) = [suffice.text.mail.parse_message(SPAM)]
    expected = suffice.load("model").predict_proba([message.text])[0, 1]
    assert json.loads(done.out) == {
        "answer": "spam",
        "probability_of_spam": pytest.approx(expected, rel=1e-12),
    }


def test_quiet_prints_nothing(box, run):
    assert run("mail", "model", "--quiet", stdin=SPAM) == (1, "", "")


def test_an_mbox_line_before_the_headers_is_no_part_of_the_message(box, run):
    plain = run("mail", "model", "--json", stdin=SPAM)
    with_line = b"From ann@work.example Thu Jan  1 00:00:00 2026\n" + SPAM
    assert run("mail", "model", "--json", stdin=with_line) == plain


def test_cutoffs_decide_between_ham_unsure_and_spam(box, run):
    probability = json.loads(run("mail", "model", "--json", stdin=UNSURE).out)[
        "probability_of_spam"
    ]
    assert HAM_CUTOFF < probability < SPAM_CUTOFF
    at = str(probability)
    assert run("mail", "model", "--ham-cutoff", at, stdin=UNSURE).code == 0
    assert run("mail", "model", "--spam-cutoff", at, stdin=UNSURE).code == 1
    assert run("mail", "model", "--ham-cutoff", at, "--spam-cutoff", at, stdin=UNSURE).code == 1


@pytest.mark.parametrize("label", ["Spam", "SPAM"])
def test_the_class_called_spam_is_found_in_any_case(label, box, run):
    model = TextClassifier(calibrate=None, alpha=0.1).fit(["cheap pills", "lunch"], [label, "ham"])
    model.save("other")
    assert run("mail", "other", stdin=b"Subject: x\n\ncheap pills cheap pills\n").code == 1


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            ["junk", "ham"],
            "has no class called spam. Name the class with --spam LABEL; it has 'ham', 'junk'",
        ),
        (["spam", "Spam"], "has 2 classes called spam"),
        (["spam", "spam"], "knows one class only, 'spam'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*one class only")
def test_a_model_that_does_not_say_what_is_spam_is_an_error_with_the_cure(labels, said, box, run):
    TextClassifier(calibrate=None).fit(["cheap pills", "lunch"], labels).save("other")
    done = run("mail", "other", stdin=SPAM)
    assert done.code == 3
    assert said in done.err


def test_models_with_words_of_their_own_are_scored_by_the_estimator(box, run):
    words = CountVectorizer(lowercase=False)
    model = TextClassifier(calibrate=None, words=words).fit(["CHEAP", "cheap"], ["spam", "ham"])
    model.save("other")
    assert run("mail", "other", "--spam-cutoff", "0.5", stdin=b"Subject: x\n\nCHEAP\n").code == 1


def test_a_model_of_numbers_takes_no_messages(box, run):
    GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save("numbers")
    done = run("mail", "numbers", stdin=SPAM)
    assert done.code == 3
    assert "holds a GaussianNB" in done.err


def test_arguments_that_are_not_plain_are_left_to_typer():
    assert parse(["score", "model", "-q"]).quiet
    assert parse(["model", "--spam"]) is None
    assert parse(["model", "--ham-cutoff", "x"]) is None
    assert parse(["model", "--help"]) is None
    assert parse([]) is None


# Messages learned and forgotten.


def test_messages_are_learned_and_the_previous_file_is_kept_for_one_undo(box, run):
    before = (box / "model").read_bytes()
    (box / "news.mbox").write_bytes(b"From a\nSubject: news\n\nThe weekly letter.\n\n" * 3)
    done = run("mail", "learn", "model", "news", "news.mbox", "--json")
    assert done.code == 0
    assert json.loads(done.out) == {
        "messages": 3,
        "skipped": [],
        "classes": {"ham": 12.0, "news": 3.0, "spam": 12.0},
    }
    assert run("undo", "model").code == 0
    assert (box / "model").read_bytes() == before


def test_a_message_on_stdin_is_learned_and_its_calibration_refreshed(box, run):
    done = run("mail", "learn", "model", "ham", "-", stdin=UNSURE)
    assert done.out == "Learned 1 message as ham. The model has 13 ham, 12 spam.\n"
    assert done.err == ""
    assert not suffice.load("model").calibration_stale_


def test_a_model_without_kept_messages_learns_all_the_same(box, run):
    suffice.load("model").save("small")
    assert run("mail", "learn", "small", "ham", "-", stdin=UNSURE).code == 0
    assert suffice.load("small").class_count_.tolist() == [13.0, 12.0]


def test_forgetting_gives_the_model_that_never_learned_the_messages_and_is_final(box, run):
    before = suffice.load("model")
    assert run("mail", "learn", "model", "ham", "-", stdin=UNSURE).code == 0
    done = run("mail", "forget", "model", "ham", "-", stdin=UNSURE)
    assert done.out == "Forgot 1 message of ham, for good. The model has 12 ham, 12 spam.\n"
    after = suffice.load("model")
    documents = ["cheap lunch", "zzz", "report"]
    assert after.terms_.tolist() == before.terms_.tolist()
    assert after.predict_proba(documents) == pytest.approx(
        before.predict_proba(documents), rel=1e-9
    )
    assert not [path.name for path in box.iterdir() if b"zzz" in path.name.encode()]
    assert not (box / "model.previous").exists()
    files = [path for path in box.iterdir() if path.is_file()]
    assert not [path.name for path in files if b"zzz" in path.read_bytes()]
    assert "There is nothing to undo" in run("undo", "model").err


def test_a_message_with_a_wrong_class_is_relabelled(box, run):
    done = run("mail", "relabel", "model", "spam", "ham", "spam/0.eml")
    assert done.code == 0
    assert "from spam to ham. The model has 13 ham, 11 spam." in done.out
    assert run("undo", "model").code == 0


def test_a_new_model_begins_with_messages_of_one_class(box, run):
    assert run("mail", "learn", "new", "spam", "spam", "--new").code == 0
    assert run("mail", "learn", "new", "ham", "ham").code == 0
    assert run("mail", "new", stdin=HAM).code == 0
    assert run("mail", "new", stdin=SPAM).code == 1
    done = run("mail", "learn", "new", "ham", "ham", "--new")
    assert (done.code, "Leave out --new" in done.err) == (3, True)


def test_what_is_no_message_is_skipped_and_named(box, run):
    (box / "mixed").mkdir()
    (box / "mixed" / "1.eml").write_bytes(UNSURE)
    for at in range(7):
        (box / "mixed" / f"empty{at}").write_bytes(b"")
    done = run("mail", "learn", "model", "ham", "mixed")
    assert done.code == 0
    assert "Learned 1 message" in done.out
    assert "Skipped mixed/empty0: It is empty." in done.err
    assert "Skipped 2 more." in done.err
    (box / "mixed" / "1.eml").unlink()
    assert "There is no message at 'mixed'" in run("mail", "learn", "model", "ham", "mixed").err


# The documentation.


@pytest.mark.parametrize("command", ["score", "learn", "forget", "relabel"])
def test_the_help_in_the_documentation_is_that_of_the_program(command, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("mail", command, "--help").out.rstrip().splitlines()
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    block = "\n".join(line.rstrip() for line in [f"$ suffice mail {command} --help", *shown])
    assert f"```text\n{block}\n```" in page, "run tools/command_help.py"


def test_plain_arguments_mean_the_same_to_typer(box, run):
    """The short way and typer have the same options with the same defaults."""
    shown = run("mail", "score", "--help").out
    for option in (*one_message.TEXTS, *one_message.NUMBERS, *one_message.FLAGS):
        assert option in shown
    assert f"[default: {HAM_CUTOFF}]" in " ".join(shown.split())
    assert f"[default: {SPAM_CUTOFF}]" in " ".join(shown.split())
    options = ["--codes", "bogofilter", "--spam-cutoff", "0.5", "--ham-cutoff", "0.5", "--json"]
    for raw in (SPAM, HAM, UNSURE):
        # --debug is not plain, so that typer parses all of it.
        assert run("mail", "model", *options, stdin=raw) == run(
            "mail", "--debug", "model", *options, stdin=raw
        )
