"""WebDAV's XML as servers send it, hostile ones included."""

import pytest

from integrations.exceptions import Malformed
from integrations.providers.dav import multistatus

URL = "https://dav.example.org/nora/work/"
BOMB = b"""<!DOCTYPE a [<!ENTITY b "%s"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<multistatus xmlns="DAV:"><response><href>&c;</href></response></multistatus>""" % (b"x" * 1000)
OUTSIDE = b"""<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>
<multistatus xmlns="DAV:"><sync-token>&b;</sync-token></multistatus>"""


def answer(*hrefs: str) -> bytes:
    found = "".join(
        f'<response><href>{one}</href><propstat><prop><getetag>"1"</getetag></prop>'
        "<status>HTTP/1.1 200 OK</status></propstat></response>"
        for one in hrefs
    )
    return f'<multistatus xmlns="DAV:">{found}</multistatus>'.encode()


@pytest.mark.parametrize(
    "content",
    [BOMB, OUTSIDE, b"", b"no xml", b"<a>", b"\xff\xfe\x00", b"<html/>", b"<a>&b;</a>"],
)
def test_what_is_no_plain_multistatus_is_not_read(content: bytes) -> None:
    with pytest.raises(Malformed):
        multistatus.parse(content, url=URL)


def test_deep_nesting_is_read_without_harm() -> None:
    deep = b"<a>" * 50_000 + b"</a>" * 50_000
    content = b'<multistatus xmlns="DAV:">' + deep + b"</multistatus>"

    assert multistatus.parse(content, url=URL).responses == ()


@pytest.mark.parametrize(
    "href",
    [
        "https://evil.example.net/nora/work/a.ics",
        "//evil.example.net/a.ics",
        "http://dav.example.org/nora/work/a.ics",
        "../../etc/passwd",
        "/nora/work/../../a.ics",
        "/nora/work/%2e%2e/a.ics",
        "/nora/work/a.ics?x=1",
        "/nora/work/a%0d%0ab.ics",
        "https://[bad/a.ics",
        f"/nora/work/{'a' * 1000}.ics",
    ],
)
def test_a_path_that_leads_elsewhere_is_none(href: str) -> None:
    found = multistatus.parse(answer(href, "/nora/work/good.ics"), url=URL)

    # What urljoin makes of dots stays within the server and is compared with the calendar's path.
    paths = [one.path for one in found.responses if one.path.startswith("/nora/work/")]
    assert paths == ["/nora/work/good.ics"]


@pytest.mark.parametrize("href", ["a%40b.ics", "a@b.ics", "/nora/work/a@b.ics", f"{URL}a%40b.ics"])
def test_one_path_has_one_spelling(href: str) -> None:
    (found,) = multistatus.parse(answer(href), url=URL).responses

    assert found.path == "/nora/work/a@b.ics"


def test_a_slash_in_a_name_stays_one() -> None:
    assert multistatus.path_of("/nora/work/a%2Fb.ics", url=URL) == "/nora/work/a%2Fb.ics"


def test_properties_that_are_missing_are_left_out() -> None:
    content = b"""<d:multistatus xmlns:d="DAV:"><d:response><d:href>/a/</d:href>
    <d:propstat><d:prop><d:displayname>Work</d:displayname></d:prop>
    <d:status>HTTP/1.1 200 OK</d:status></d:propstat>
    <d:propstat><d:prop><d:owner/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>
    </d:response><d:response><d:href>/a/b.ics</d:href><d:status>HTTP/1.1 404 Gone</d:status>
    </d:response><d:sync-token>t1</d:sync-token></d:multistatus>"""

    found = multistatus.parse(content, url="https://dav.example.org/a/")

    first, second = found.responses
    assert set(first.properties) == {"{DAV:}displayname"}
    assert (first.text("{DAV:}displayname"), second.status, found.token) == ("Work", 404, "t1")


def test_what_is_asked_is_escaped() -> None:
    asked = multistatus.multiget(["/a/<&>.ics"]) + multistatus.changes_since("<&>")

    assert asked.count(b"&lt;&amp;&gt;") == 2
