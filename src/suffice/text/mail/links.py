"""The hosts that links lead to. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from suffice.text.mail.caps import MAX_LINK

IN_TEXT = re.compile(
    rf"""(?:https?://|(?<![\w.@/])www\.)[^\s<>"']{{1,{MAX_LINK}}}""", re.IGNORECASE
)
SLASHES = re.compile(r"^([a-z]*:)?/{2,}", re.IGNORECASE)
HOST = re.compile(r"[\w.:-]+")
# The longest name that a host can have.
LONGEST_HOST = 253


def host_of(link: str) -> str | None:
    r"""Return the host that a browser would ask, or None for a link to no host.

    Examples
    --------
    >>> host_of("http://bank.example@evil.example:80/login"), host_of("mailto:ann@example.org?cc=b")
    ('evil.example', 'example.org')
    >>> host_of("HTTPS:\\\\%65vil.example\\@bank.example"), host_of("//XN--bcher-kva.example/")
    ('evil.example', 'xn--bcher-kva.example')
    >>> host_of("cid:logo"), host_of("page.html"), host_of("http://[::")
    (None, None, None)
    """
    # Browsers take a backslash for a slash, and any number of slashes for two.
    plain = SLASHES.sub(r"\1//", link[:MAX_LINK].strip().replace("\\", "/"))
    try:
        parts = urlsplit(plain)
        if parts.scheme == "mailto":
            _, at, host = parts.path.rpartition("@")
            host = host if at else ""
        else:
            host = (parts.hostname or "") if parts.scheme in ("", "ftp", "http", "https") else ""
    except ValueError:
        return None
    found = HOST.match(unquote(host).lower())
    name = found[0].strip(".") if found else ""
    return name if 0 < len(name) <= LONGEST_HOST else None


def hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts of links written out in a text.

    Examples
    --------
    >>> list(hosts_in("See www.example.org, or (https://shop.example/a?b)."))
    ['www.example.org', 'shop.example']
    """
    for link in IN_TEXT.finditer(text):
        host = host_of(link[0] if "://" in link[0][:8] else f"http://{link[0]}")
        if host is not None:
            yield host
