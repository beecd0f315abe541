"""A message becomes its words: headers, text, link hosts and attachments."""

import re
import socket
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from suffice.errors import InputError
from suffice.text.mail import Attachment, Message, parse_message
from suffice.text.mail.decoding import decode, header_text, host_of, hosts_in, text_and_hosts

default_analyzer = CountVectorizer().build_analyzer()


def parse(*lines, **options):
    return parse_message("\n".join(lines).encode(), **options)


def part(kind, text, *headers):
    return "\n".join(["--b", f"Content-Type: {kind}", *headers, "", text])


def multipart(kind, *parts):
    return parse(f"Content-Type: multipart/{kind}; boundary=b", "", *parts, "--b--", "")


texts = st.text(max_size=30)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
messages = st.builds(
    Message,
    subject=texts,
    sender=st.one_of(texts, st.sampled_from(["Ann <ann@example.org>", '"a@b" <c@d>, e@f.'])),
    body=texts,
    links=st.lists(st.sampled_from(["shop.example", "192.0.2.7", "::1"])).map(tuple),
    attachments=st.lists(st.builds(Attachment, st.just("application/pdf"), names)).map(tuple),
)


@given(messages)
def test_the_default_tokeniser_finds_the_same_words_in_the_text(message):
    def spoken(word):
        mark, colon, value = word.partition(":")
        return f"{mark}_" + "_".join(re.findall(r"[^\W_]+", value)) if colon else word

    assert default_analyzer(message.text) == [spoken(word) for word in message.words()]


def test_words_are_marked_by_where_they_stand():
    message = Message(
        subject="Big OFFER",
        sender="Ann Lee <Ann@Mail.example.org>",
        body="Buy now, subject_offer",
        links=("shop.example",),
        attachments=(Attachment("application/pdf", "Invoice 3.pdf"), Attachment("image/png", "")),
    )
    headers = "subject:big subject:offer from:ann@mail.example.org from:mail.example.org"
    assert message.words() == [
        *headers.split(),
        *("from:ann", "from:lee", "link:shop.example", "attachment:application/pdf"),
        *("attachment:invoice 3.pdf", "attachment:image/png", "buy", "now", "subject", "offer"),
    ]
    assert "attachment_invoice_3_pdf" in default_analyzer(message.text)


@given(texts)
def test_no_body_can_pass_for_a_marked_word(body):
    forged = Message(body=body + " subject_offer subject:offer from_ann_example_org")
    assert not [word for word in default_analyzer(forged.text) if "_" in word]
    assert not [word for word in forged.words() if ":" in word]


def test_messages_are_documents_for_a_vectorizer():
    message = parse("Subject: Big offer", "", "Buy")
    counts = CountVectorizer(analyzer=Message.words).fit([message])
    assert counts.get_feature_names_out().tolist() == ["buy", "subject:big", "subject:offer"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=80))
def test_what_the_standard_library_encodes_is_decoded(subject):
    built = EmailMessage()
    built["Subject"] = subject
    built.set_content(subject)
    invisible = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
    shown = subject.translate(invisible)
    found = parse_message(bytes(built))
    assert found.subject.split() == shown.split()
    assert found.body.split() == shown.split()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=?iso-8859-1?Q?caf=E9_noir?=", "café noir"),
        ("=?utf-8?B?Y2Fmw6k=?= =?utf-8?B?IG5vaXI=?=", "café noir"),
        ("=?utf-8?B?Y2Fmww==?=\r\n =?utf-8?B?qQ==?=", "café"),
        ("=?UTF-8?q?a?= b =?us-ascii*en?q?c?=", "a b c"),
        ("=?x-unknown?q?caf=C3=A9?=", "café"),
        ("=?utf-8?q?hello world?=", "hello world"),
        ("=?utf-8?b?a?= !", "=?utf-8?b?a?= !"),
        ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
        (r"C:\u0041 \U", r"C:\u0041 \U"),
    ],
)
def test_encoded_words_of_headers_are_decoded(value, expected):
    assert header_text(value) == expected


def test_headers_of_raw_bytes_are_decoded():
    assert parse_message("Subject: café".encode()).subject == "café"
    assert parse_message("Subject: café".encode("latin-1")).subject == "café"


@pytest.mark.parametrize(
    ("raw", "charset", "expected"),
    [
        ("naïve".encode(), "utf-8", "naïve"),
        ("naïve".encode(), None, "naïve"),
        ("naïve".encode(), "us-ascii", "naïve"),
        ("naïve".encode(), "x-unknown", "naïve"),
        ("naïve".encode("latin-1"), None, "naïve"),
        ("naïve".encode("latin-1"), "us-ascii", "naïve"),
        ("naïve".encode("latin-1"), "utf-8", "na\ufffdve"),
        ("“so”".encode("cp1252"), "iso-8859-1", "“so”"),
        ("naïve".encode("utf-7"), "unicode-1-1-utf-7", "naïve"),
        ("“日本”".encode("cp932"), "shift_jis", "“日本”"),
        ("中文".encode("gb18030"), "GB2312", "中文"),
        ("中文".encode("utf-16"), "utf-16", "中文"),
        ("cut 中文".encode()[:-1], "utf-8", "cut 中"),
        ("cut 中文".encode()[:-1], None, "cut 中"),
        (b"a\x00b", None, "ab"),
        (b"+2AA-", "utf-7", "\ufffd"),
        (b"\\x41", "unicode_escape", "\\x41"),
        (b"eJw=", "zip", "eJw="),
        (b"abc", "undefined", "abc"),
        (b"abc", "a\x00b", "abc"),
        (b"abc", "é", "abc"),
        (b"", None, ""),
    ],
)
def test_bytes_are_decoded_whatever_charset_they_claim(raw, charset, expected):
    assert decode(raw, charset) == expected


@pytest.mark.parametrize(
    "encoding", ["base64", "quoted-printable", "8bit", "x-nonsense", "BASE64 "]
)
def test_transfer_encodings_that_are_broken_are_read_as_far_as_they_go(encoding):
    head = f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n"
    for payload in (b"Y2Fm", b"Y2F", b"=C3=A", b"\xff=\x00", b"====", b"Y2Fm*Y2Fm\n!"):
        assert isinstance(parse_message(head.encode() + payload).body, str)
    whole = {"base64": b"Y2Fmw6k", "quoted-printable": b"caf=C3=A9"}
    if encoding in whole:
        assert parse_message(head.encode() + whole[encoding]).body == "café"


def test_of_alternatives_the_one_that_is_shown_is_read_and_all_links_count():
    plain = part("text/plain", "innocent words http://plain.example/")
    html = part("text/html", "<p>cheap <a href='http://html.example/'>pills</a>")
    message = multipart("alternative", plain, html)
    assert message.body == "cheap pills"
    assert message.links == ("plain.example", "html.example")


def test_an_alternative_without_words_gives_way_to_the_one_before():
    message = multipart(
        "alternative", part("text/plain", "Hello"), part("text/html", "<img src=//track.example>")
    )
    assert (message.body, message.links) == ("Hello", ("track.example",))


def test_parts_of_a_mixed_message_are_read_one_after_another():
    message = multipart("mixed", part("text/plain", "One"), part("text/html", "<b>Two</b>"))
    assert message.body == "One\nTwo"


def test_attachments_are_known_by_type_and_name_only():
    attached = "Content-Disposition: attachment; filename"
    message = multipart(
        "mixed",
        part("text/plain", "Hello"),
        part("Text/Plain", "unread", attached + '="notes.txt"'),
        part("text/html", "unread", attached + "*=utf-8''caf%C3%A9.html"),
        part('application/pdf; name="=?utf-8?q?caf=C3=A9=2Epdf?="', "unread"),
        part("image/png", "unread"),
        part("message/rfc822", "Subject: unread\n\nunread", attached + "=../../fw.eml"),
        part("text/calendar", "unread"),
        part("application/zip", "unread", attached + "*=undefined''x"),
        part("application/zip", "unread", attached + "*=utf-8''x; filename*1*=y"),
    )
    assert message.body == "Hello"
    assert message.attachments == (
        ("text/plain", "notes.txt"),
        ("text/html", "café.html"),
        ("application/pdf", "café.pdf"),
        ("image/png", ""),
        ("message/rfc822", "../../fw.eml"),
        ("text/calendar", ""),
        ("application/zip", ""),
        ("application/zip", ""),
    )
    assert "unread" not in message.text


def test_a_forwarded_message_is_read_with_its_subject():
    message = multipart(
        "mixed", part("text/plain", "See:"), part("message/rfc822", "Subject: Big offer\n\nBuy")
    )
    assert (message.subject, message.body) == ("", "See:\nBig offer\nBuy")


def test_nothing_is_fetched(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("A socket was opened.")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    html = "<img src=http://192.0.2.7/i.png><script src=//a.example/s.js></script>"
    assert parse("Content-Type: text/html", "", html).links == ("192.0.2.7", "a.example")


def test_nothing_external_is_opened():
    external = "message/external-body; access-type=URL; URL=http://x.example/"
    message = multipart("mixed", part(external, "Content-Type: text/plain\n\nphantom"))
    assert (message.body, message.links) == ("", ())
    assert message.attachments == (("message/external-body", ""),)


def test_a_multipart_that_lost_its_boundary_is_read_as_text():
    assert parse("Content-Type: multipart/mixed", "", "Hello").body == "Hello"
    assert parse("Content-Type: multipart/mixed; boundary=x", "", "Hello").body == "Hello"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One</p><p>Two</p>", "One Two"),
        ("V<b>i</b>a<xyz>g</xyz>r<!-- no -->a", "Viagra"),
        ("a<br>b<td>c<BR/>d", "a b c d"),
        ("<head><title>T</title><style>p {x}</style><meta a='>'>S</head>Body", "S Body"),
        ("<SCRIPT>if (a<b) run('</p>')</SCRIPT >shown", "shown"),
        ("<script>never ends", ""),
        ("&lt;b&gt; &eacute;&#x41;&#0066; &nosuch; &amp;amp;", "<b> éAB &nosuch; &amp;"),
        ("x &#" + "9" * 5_000 + "; y &#xD800; z", "x \ufffd y \ufffd z"),
        ("<a title='a > b' alt=\"c > d\" e=f'>shown</a>", "shown"),
        ("a < b <3 <> c", "a < b <3 <> c"),
        ("<!doctype html><![if mso]>a<![endif]><?xml b?>c</ nonsense>d", "acd"),
        ("<!-->shown<!--->too<!-- > hidden --!>end<!-- open", "showntooend"),
        ("che&shy;ap&zwj;er", "cheaper"),
        ("&nbsp;a&nbsp;\n\n b ", "a b"),
        ("shown <a href='unclosed", "shown"),
    ],
)
def test_html_is_stripped_to_the_text_that_is_shown(html, expected):
    assert text_and_hosts(html)[0] == expected


def test_html_gives_the_hosts_it_links_to():
    html = """
        <a href="http://a.example/x?y#z">http://shown.example</a> <IMG SRC=https://b.example/i.png>
        <form action='//c.example'> <td background = "http://d.example"> <a href=mailto:x@e.example>
        <a title="x href=http://no.example" href="http:&#47;&#x2f;f.example"> <a href=/local>
        <img src="cid:7"> <a href="javascript:run('http://no.example')"> <!-- http://no.example -->
        <script src=http://g.example/s.js>http://no.example</script> <p data-href=//no.example>
    """
    expected = [f"{letter}.example" for letter in "abcdefg"]
    assert text_and_hosts(html)[1] == [*expected, "shown.example"]


@pytest.mark.parametrize(
    ("link", "host"),
    [
        ("http://bank.example@evil.example/", "evil.example"),
        ("http://bank.example:80@evil.example:8080/@bank.example", "evil.example"),
        ("http://evil.example\\@bank.example", "evil.example"),
        ("http://evil.example?@bank.example", "evil.example"),
        ("http://evil.example#@bank.example", "evil.example"),
        ("https:\\\\evil.example", "evil.example"),
        ("HtTp:////EVIL.example.", "evil.example"),
        ("ht\ntp://ev\til.example", "evil.example"),
        ("http://%65vil.example", "evil.example"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://bücher.example/", "bücher.example"),
        ("http://192.0.2.7:99/", "192.0.2.7"),
        ("http://[2001:DB8::1]:99/", "2001:db8::1"),
        ("mailto:ann@example.org,bob@example.net?subject=a@b", "example.net"),
        ("mailto:nobody", None),
        ("http://", None),
        ("http://[", None),
        ("http://\uff0f/", None),
        ("http://" + "a" * 300, None),
        ("tel:+1", None),
        ("data:text/html,http://evil.example", None),
        ("", None),
    ],
)
def test_the_host_of_a_link_is_the_one_a_browser_would_ask(link, host):
    assert host_of(link) == host


def test_links_in_plain_text_give_their_hosts():
    text = (
        "(http://a.example), <HTTPS://b.example/x>; www.c.example. ann@www.example awww.no http://"
    )
    assert list(hosts_in(text)) == ["a.example", "b.example", "www.c.example"]


def test_a_host_is_listed_once():
    assert parse("To: a", "", "http://a.example http://b.example http://a.example/x").links == (
        "a.example",
        "b.example",
    )


def test_a_message_is_bytes():
    with pytest.raises(TypeError, match="A message is bytes, not str"):
        parse_message("Subject: a")


@pytest.mark.parametrize(
    ("raw", "match"),
    [(b"", "It is empty"), (b"\r\n\n", "It is empty"), (b"Hello there\n", "It has no header")],
)
def test_what_is_no_message_is_refused(raw, match):
    with pytest.raises(InputError, match=match):
        parse_message(raw)


def test_a_message_remembers_its_source():
    assert parse("Subject: a", "", "b", source="box#7").source == "box#7"
