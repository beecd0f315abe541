"""Mail is read from files, mailboxes and folders, in order, one at a time, and only read."""

import gc
import mailbox
import os
import sys
import tracemalloc
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pytest

from suffice.errors import InputError, SufficeWarning
from suffice.text.mail import Broken, read_mail
from suffice.text.mail.reader import LONGEST_PIECE, mbox_messages


def message(subject, body="Hello.\n"):
    built = EmailMessage()
    built["Subject"] = subject
    built["From"] = "Ann <ann@example.org>"
    built.set_content(body)
    return built


def subjects(path, **options):
    return [found.subject for found in read_mail(path, **options)]


def refuse(broken):
    raise AssertionError(str(broken))


def write_mbox(path, messages):
    box = mailbox.mbox(path)
    for each in messages:
        box.add(each)
    box.flush()
    box.close()


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_file_holds_one_message_with_any_newlines(tmp_path, newline):
    path = tmp_path / "offer.eml"
    path.write_bytes(newline.join([b"Subject: Big", b" offer", b"", b"Buy", b"now", b""]))
    (found,) = read_mail(path)
    assert (found.subject, found.body) == ("Big offer", "Buy\nnow")
    assert found.source == str(path)
    assert not found.truncated


def test_a_message_may_begin_with_a_byte_order_mark_and_empty_lines(tmp_path):
    path = tmp_path / "offer.eml"
    path.write_bytes(b"\xef\xbb\xbf\r\n\nSubject: Big offer\n\nBuy")
    assert subjects(path) == ["Big offer"]


def test_an_mbox_of_the_standard_library_gives_back_its_messages(tmp_path):
    bodies = ["From here on it is cheap.\n", "One.\n\nFrom two to three.\n", "> quoted\n", "\n\n"]
    path = tmp_path / "box"
    write_mbox(path, [message(f"number {at}", body) for at, body in enumerate(bodies)])
    assert b"\n>From " in path.read_bytes()
    found = list(read_mail(path, on_broken=refuse))
    assert [each.subject for each in found] == [f"number {at}" for at in range(4)]
    assert [each.source for each in found] == [f"{path}#{at}" for at in range(1, 5)]
    assert [each.body for each in found] == [body.strip() for body in bodies]


def test_an_mbox_with_crlf_is_parted_alike(tmp_path):
    path = tmp_path / "box"
    write_mbox(path, [message("a", "x\n\nFrom y\n"), message("b")])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = list(read_mail(path, on_broken=refuse))
    assert [each.subject for each in found] == ["a", "b"]
    assert found[0].body == "x\n\nFrom y"


def test_a_line_in_a_body_that_begins_with_from_does_not_part_an_mbox(tmp_path):
    path = tmp_path / "box"
    path.write_bytes(
        b"From a@example.org Thu Jan  1 00:00:00 2026\nSubject: one\n\nHello.\n\n"
        b"From now on we meet at ten.\nNever later.\nFrom noon: lunch\n\n"
        b"From b@example.org Thu Jan  1 00:00:00 2026\nSubject: two\n\nBye.\n\nFrom "
    )
    assert [found.body for found in read_mail(path, on_broken=refuse)] == [
        "Hello.\n\nFrom now on we meet at ten.\nNever later.\nFrom noon: lunch",
        "Bye.\n\nFrom",
    ]


def test_one_mark_of_escape_is_taken_off_and_the_others_are_kept():
    file = BytesIO(b"From a\nTo: b\n\n>From x\n>>From y\n> From z\n")
    assert list(mbox_messages(file, 1000)) == [b"To: b\n\nFrom x\n>From y\n> From z\n"]


def test_a_line_longer_than_a_piece_stays_whole_and_parts_nothing():
    filler = b"x" * (LONGEST_PIECE - 1)
    raw = b"To: b\n\n" + filler + b"x>From From a\nTo: c\n"
    assert list(mbox_messages(BytesIO(b"From a\n" + raw), 10**6)) == [raw]


def test_an_empty_mbox_has_no_messages():
    assert list(mbox_messages(BytesIO(b""), 1000)) == []


def test_a_long_envelope_line_is_text():
    raw = b"From " + b"x" * (2 * LONGEST_PIECE) + b"\nTo: c\n"
    assert list(mbox_messages(BytesIO(raw), 10**6)) == [raw]


def test_a_maildir_gives_what_was_delivered_and_not_its_other_folders(tmp_path):
    box = mailbox.Maildir(tmp_path / "box", create=True)
    for each in ("new one", "new two"):
        box.add(message(each))
    seen = mailbox.MaildirMessage(message("seen"))
    seen.set_subdir("cur")
    box.add(seen)
    box.add_folder("Junk").add(message("junk"))
    (tmp_path / "box" / "tmp" / "half").write_bytes(b"Subject: half delivered\n\n")
    (tmp_path / "box" / "index").write_bytes(b"\x00")
    assert sorted(subjects(tmp_path / "box", on_broken=refuse)) == ["new one", "new two", "seen"]
    assert subjects(tmp_path / "box" / ".Junk", on_broken=refuse) == ["junk"]
    assert len(subjects(tmp_path, on_broken=refuse)) == 3


def test_folders_are_read_in_the_order_of_names_whatever_they_hold(tmp_path):
    for name in ("b/2.eml", "b/1.eml", "a.eml", "c/d/e/f", "b.eml", ".hidden/x.eml", "c/.y"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(message(name)))
    write_mbox(tmp_path / "c" / "box", [message("box one"), message("box two")])
    assert subjects(tmp_path, on_broken=refuse) == [
        "a.eml",
        "b/1.eml",
        "b/2.eml",
        "b.eml",
        "box one",
        "box two",
        "c/d/e/f",
    ]


def test_folders_within_folders_may_be_deeper_than_the_stack(tmp_path):
    folder = tmp_path
    for _ in range(sys.getrecursionlimit() + 100):
        folder /= "d"
        folder.mkdir()
    (folder / "m.eml").write_bytes(b"Subject: deep\n\n")
    try:
        assert subjects(tmp_path, on_broken=refuse) == ["deep"]
    finally:
        # Temporary folders are removed by recursion, so this one is not left to that.
        (folder / "m.eml").unlink()
        while folder != tmp_path:
            folder.rmdir()
            folder = folder.parent


def test_links_pipes_and_empty_files_are_reported_and_skipped(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.eml").write_bytes(b"Subject: secret\n\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a-link").symlink_to(outside)
    (folder / "b-link").symlink_to(outside / "secret.eml")
    (folder / "c-circle").symlink_to(folder)
    (folder / "d-lost").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "e-pipe")
    (folder / "f.eml").write_bytes(b"")
    (folder / "g.eml").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "h.eml").write_bytes(b"Subject: good\n\n")
    skipped = []
    assert subjects(folder, on_broken=skipped.append) == ["good"]
    found = {Path(broken.source).name: broken.reason.split(".")[0] for broken in skipped}
    assert found == {
        "a-link": "It is a symbolic link",
        "b-link": "It is a symbolic link",
        "c-circle": "It is a symbolic link",
        "d-lost": "It is a symbolic link",
        "e-pipe": "It is neither a file nor a folder",
        "f.eml": "It is empty",
        "g.eml": "It has no header",
    }


def test_the_path_itself_may_be_a_link(tmp_path):
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "a").write_bytes(b"Subject: a\n\n")
    (tmp_path / "link").symlink_to(tmp_path / "mail")
    assert subjects(tmp_path / "link", on_broken=refuse) == ["a"]


def test_files_and_folders_that_cannot_be_opened_are_reported_and_skipped(tmp_path, monkeypatch):
    for name in ("a/locked.eml", "b/x.eml", "c/y.eml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"Subject: x\n\n")
    # The tests may run as root, who opens everything.
    opened, listed = Path.open, Path.iterdir

    def denied(path, *args, **options):
        if path.name == "locked.eml":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)

    def hidden(path):
        if path.name == "b":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(Path, "iterdir", hidden)
    skipped = []
    assert len(subjects(tmp_path, on_broken=skipped.append)) == 1
    assert skipped == [
        Broken(str(tmp_path / "a" / "locked.eml"), "It cannot be read (Permission denied)."),
        Broken(str(tmp_path / "b"), "It cannot be read (Permission denied)."),
    ]


def test_a_broken_message_in_an_mbox_is_reported_by_its_number(tmp_path):
    path = tmp_path / "box"
    path.write_bytes(b"From my desk\n\nHello.\n\nFrom a\nTo: b\n\nHi.\n")
    skipped = []
    found = list(read_mail(path, on_broken=skipped.append))
    assert [each.source for each in found] == [f"{path}#2"]
    assert [each.source for each in skipped] == [f"{path}#1"]


def test_by_default_each_broken_message_is_warned_of_at_the_callers_line(tmp_path):
    (tmp_path / "a.eml").write_bytes(b"")
    (tmp_path / "b.eml").write_bytes(b"no header")
    expected = r"[ab]\.eml was skipped\. It (is empty|has no header)\..* Pass on_broken to collect"
    with pytest.warns(SufficeWarning, match=expected) as caught:
        assert list(read_mail(tmp_path)) == []
    assert len(caught) == 2
    assert {each.filename for each in caught} == {__file__}


def test_what_the_caller_raises_of_a_broken_message_ends_the_reading(tmp_path):
    (tmp_path / "a.eml").write_bytes(b"")
    with pytest.raises(AssertionError, match="It is empty"):
        list(read_mail(tmp_path, on_broken=refuse))


def test_a_missing_path_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match=r"There is nothing at .*nowhere'\. Name a message"):
        read_mail(tmp_path / "nowhere")


@pytest.mark.parametrize("cap", ["max_bytes", "max_parts", "max_depth"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None])
def test_caps_are_whole_numbers_above_zero(tmp_path, cap, value):
    with pytest.raises(InputError, match=rf"{cap} is {value}\. Give a whole number"):
        read_mail(tmp_path, **{cap: value})


def test_the_depth_has_a_cap_of_its_own(tmp_path):
    with pytest.raises(InputError, match=r"max_depth is 51\. Give 50 or less"):
        read_mail(tmp_path, max_depth=51)


def test_an_empty_folder_has_no_messages(tmp_path):
    assert list(read_mail(tmp_path, on_broken=refuse)) == []


def test_nothing_is_written(tmp_path):
    write_mbox(tmp_path / "box", [message("a"), message("b")])
    mailbox.Maildir(tmp_path / "dir", create=True).add(message("c"))
    (tmp_path / "broken.eml").write_bytes(b"")

    def state():
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in sorted(tmp_path.rglob("*"))
        }

    before = state()
    assert len(subjects(tmp_path, on_broken=lambda broken: None)) == 3
    assert state() == before


def test_bytes_beyond_the_cap_are_not_read_and_the_next_message_is(tmp_path):
    path = tmp_path / "box"
    large = b"From a\nSubject: large\n\n" + b"word\n" * 10_000 + b"\n"
    path.write_bytes(large + b"From b\nSubject: small\n\nHello.\n")
    found = list(read_mail(path, max_bytes=1_000, on_broken=refuse))
    assert [(each.subject, each.truncated) for each in found] == [("large", True), ("small", False)]
    assert len(found[0].body) < 1_000


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_messages(tmp_path):
    one = b"From a\n" + bytes(message("offer", "word " * 400)) + b"\n"
    path = tmp_path / "box"

    with path.open("wb") as file:
        for _ in range(2_000):
            file.write(one)
    next(read_mail(path))  # what is loaded or cached once is not counted
    gc.disable()  # and no message is left to it
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_mail(path)) == 2_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    # The file has 4 MB, a message 2 kB, and the buffer of a file up to 128 kB.
    assert most < 400_000
