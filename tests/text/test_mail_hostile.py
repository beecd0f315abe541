"""No message is fatal, whatever is in it: sizes, depths and nonsense are met by caps."""

import random
from email.message import EmailMessage

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.errors import InputError
from suffice.text.mail import Message, parse_message, read_mail
from suffice.text.mail import message as message_module

pytestmark = pytest.mark.hostile

LARGE = 1_000_000


def rich_message():
    built = EmailMessage()
    built["Subject"] = "Grüße, a big offer"
    built["From"] = '"Ann Lee" <ann@example.org>'
    built.set_content("Plain text with http://plain.example/ in it, é.\n")
    built.add_alternative("<p>Text <a href='http://html.example'>é</a></p>", subtype="html")
    built.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="é.png")
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Forwarded.")
    built.add_attachment(inner)
    return bytes(built)


RICH = rich_message()
# What has a meaning to some parser on the way.
TOKENS = [
    *(
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\x00",
        b"\xff",
        b"=",
        b"--",
        b"<",
        b"<!--",
        b"<![",
        b"&#",
        b"From ",
    ),
    *(b"Content-Type: multipart/mixed; boundary=x\n\n--x\n", b"Content-Type: message/rfc822\n\n"),
    *(b"charset*=undefined''x", b"name*0*=utf-8'", b"name*1=x;", b"filename*=a;", b'"', b";", b":"),
    *(b"=?utf-8?b?", b"?=", b"Content-Transfer-Encoding: x-uuencode\n", b"begin 666 x\nM\n"),
    *(b"Content-Type: text/html; charset=utf-7\n\n", b"boundary*=\x01'x'y", b"http://[", b"@"),
]


def is_met(raw):
    try:
        message = parse_message(raw)
    except InputError:
        return True
    message.text.encode()
    " ".join(message.words()).encode()
    return isinstance(message, Message)


@given(st.binary(max_size=400))
@example(b"Content-Type: multipart/mixed; boundary*=undefined'x'y\n\n")
@settings(max_examples=300)
def test_random_bytes_give_a_message_or_an_input_error(raw):
    assert is_met(raw)


@given(st.lists(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=5)), max_size=30))
@settings(max_examples=300)
def test_random_tokens_give_a_message_or_an_input_error(pieces):
    assert is_met(b"Subject: a\n" + b"".join(pieces))


@given(
    st.lists(
        st.tuples(st.integers(0, len(RICH)), st.integers(0, 40), st.sampled_from(TOKENS)),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=300)
def test_a_good_message_that_was_damaged_gives_a_message_or_an_input_error(damages):
    raw = RICH
    for at, length, token in damages:
        raw = raw[:at] + token + raw[at + length :]
    assert is_met(raw)


def test_a_message_cut_anywhere_is_read_as_far_as_it_goes():
    assert all(is_met(RICH[:length]) for length in range(len(RICH)))
    whole = parse_message(RICH)
    cut = parse_message(RICH, max_bytes=len(RICH) - 1)
    assert (whole.truncated, cut.truncated) == (False, True)
    assert cut.subject == whole.subject == "Grüße, a big offer"


def test_damaged_files_are_messages_or_broken_and_never_lost(tmp_path):
    random.seed(0)
    for number in range(60):
        raw = bytearray(RICH)
        for _ in range(random.randrange(60)):
            raw[random.randrange(len(raw))] = random.randrange(256)
        (tmp_path / f"{number:02}.eml").write_bytes(bytes(raw[random.randrange(200) :]))
    skipped = []
    found = list(read_mail(tmp_path, on_broken=skipped.append))
    assert len(found) + len(skipped) == 60


def test_a_fault_of_the_standard_parser_is_an_input_error(monkeypatch):
    def fails(part):
        raise IndexError("list index out of range")

    monkeypatch.setattr(message_module, "contents", fails)
    with pytest.raises(InputError, match=r"It cannot be parsed \(IndexError: list index out of"):
        parse_message(b"Subject: a\n\nb")


def nested_multiparts(levels):
    opening = "Content-Type: multipart/mixed; boundary=b{0}\n\n--b{0}\n"
    return "".join(opening.format(level) for level in range(levels)).encode() + b"\nbottom\n"


def nested_messages(levels):
    return b"Content-Type: message/rfc822\n\n" * levels + b"Subject: bottom\n\nbottom"


def nested_digests(levels):
    opening = "Content-Type: multipart/digest; boundary=b{0}\n\n--b{0}\n\n"
    return "".join(opening.format(level) for level in range(levels)).encode()


@pytest.mark.parametrize("nested", [nested_multiparts, nested_messages, nested_digests])
@pytest.mark.parametrize("max_depth", [1, 12, 50])
def test_two_thousand_levels_are_opened_to_the_cap(nested, max_depth):
    message = parse_message(b"Subject: deep\n" + nested(2_000), max_depth=max_depth)
    assert message.subject == "deep"
    assert message.truncated
    assert message.attachments == (("application/octet-stream", ""),)


@pytest.mark.parametrize("nested", [nested_multiparts, nested_messages])
def test_levels_within_the_cap_are_opened(nested):
    assert parse_message(nested(4), max_depth=5).body.endswith("bottom")
    assert not parse_message(nested(4), max_depth=5).truncated
    assert parse_message(nested(4), max_depth=4).truncated


def test_parts_beyond_the_cap_are_left_out():
    head = b"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n"
    raw = head + b"".join(b"--b\n\nword%d\n" % number for number in range(5)) + b"--b--\n"
    assert parse_message(raw, max_parts=6).body.split() == [f"word{at}" for at in range(5)]
    assert not parse_message(raw, max_parts=6).truncated
    cut = parse_message(raw, max_parts=4)
    assert (cut.subject, cut.body.split(), cut.truncated) == (
        "many",
        ["word0", "word1", "word2"],
        True,
    )
    assert parse_message(raw, max_parts=1).truncated


def test_a_delivery_report_is_an_attachment_however_many_blocks_it_has():
    report = parse_message(b"Content-Type: message/delivery-status\n\n" + b"a: b\n\n" * 100_000)
    assert report.attachments == (("message/delivery-status", ""),)


def test_headers_are_cut_to_a_length():
    assert len(parse_message(b"Subject: " + b"word " * 100_000).subject) < 2_000


# A megabyte of any of these takes html.parser, or the readers of headers, minutes or hours.
UNITS = ["<", "<!--", "<a", "<a x='", '<a "', "<a =", "<?", "</", "<![", "<![if ", "<script>", "&#"]
UNITS += [
    "<title></titl>",
    "<b>",
    "<a href='",
    "<x y=\"'",
    "http://a ",
    "www.",
    "=?a?q?",
    "a@",
    "(",
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_megabyte_of_nonsense_is_read_to_its_end(unit):
    filler = (unit * LARGE)[:LARGE].encode()
    for head in (b"Content-Type: text/html\n\n", b"To: a\n\n", b"Subject: ", b"From: "):
        assert is_met(head + filler)


@pytest.mark.parametrize("header", ["Content-Type: multipart/mixed;", "Content-Disposition: a;"])
@pytest.mark.parametrize("unit", [";", '";', "a=b;", "a*0*=x;"])
def test_parameters_without_end_are_read_to_the_cap(header, unit):
    assert is_met(f"{header}{unit * (LARGE // len(unit))}\n\nHello".encode())
