"""Dates, threads, lists and findings from headers that strangers wrote."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from integrations.contracts import Authentication
from integrations.mail.headers import (
    authentication,
    list_id,
    list_post,
    normalised_subject,
    parse_date,
    sent_at,
    thread_key,
)

FALLBACK = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SERVER = "mx.company.example"
SENDER = "ann@client.example"


@pytest.mark.parametrize(
    ("header", "date"),
    [
        ("Thu, 22 Aug 2002 12:46:38 +0100", datetime(2002, 8, 22, 11, 46, 38, tzinfo=UTC)),
        ("22 Aug 2002 12:46 -0000 (comment)", datetime(2002, 8, 22, 12, 46, tzinfo=UTC)),
        ("Thu Aug 22 12:46:39 2002", datetime(2002, 8, 22, 12, 46, 39, tzinfo=UTC)),
        ("Mon, 21 Oct 2002 15:02:34 +50579034", None),
        ("Thu, 31 Feb 2002 12:46:38 +0000", None),
        ("Thu, 22 Aug 2002 25:61:00 +0000", None),
        ("Thu, 01 Jan 1970 00:00:00 +0000", None),
        ("Thu, 22 Aug 9999 23:59:59 -1200", None),
        ("Thu, 22 Aug 1900 00:00:00 +1200", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_possible_dates_are_read_and_impossible_ones_refused(
    header: str, date: datetime | None
) -> None:
    assert parse_date(header) == date


def test_an_impossible_date_gives_way_to_the_last_station_and_then_to_the_file() -> None:
    received = ["from a by b; never", "from a by b; Thu, 22 Aug 2002 12:46:38 +0000"]
    station = datetime(2002, 8, 22, 12, 46, 38, tzinfo=UTC)

    assert sent_at({"date": ["never"], "received": received}, fallback=FALLBACK) == (station, False)
    assert sent_at({"received": received[:1]}, fallback=FALLBACK) == (FALLBACK, False)


@given(st.text(max_size=60))
def test_no_date_raises(header: str) -> None:
    date = parse_date(header)

    assert date is None or date.tzinfo is UTC


def test_a_thread_is_named_by_its_first_message() -> None:
    first = {"message-id": ["<1@x>"]}
    answer = {"references": ["<1@x>\n <2@x>"], "in-reply-to": ["<2@x>"], "message-id": ["<3@x>"]}
    short = {"in-reply-to": ["Ann's message <1@x>"], "message-id": ["<4@x>"]}

    assert {thread_key(headers, subject="Re: a") for headers in (answer, short)} == {"<1@x>"}
    assert thread_key(first, subject="a") == "<1@x>"


def test_an_answer_that_names_no_message_belongs_to_its_subject() -> None:
    keys = {
        thread_key({"message-id": [f"<{subject}@x>"]}, subject=subject)
        for subject in ("Re: The plan", "AW: RE[2]: the PLAN", "Fwd: [list] The plan")
    }

    assert keys == {"subject:the plan"}
    assert thread_key({}, subject="The plan") == "subject:the plan"
    assert thread_key({"message-id": ["<1@x>"]}, subject="[list] The plan") == "<1@x>"
    assert thread_key({}, subject="") == ""


def test_marks_alone_are_a_subject_too() -> None:
    assert normalised_subject("Re:") == "re:"
    assert normalised_subject("[list]") == "[list]"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"list-id": ["Weekly News <Weekly.News.example>"]}, "<weekly.news.example>"),
        ({"list-id": ["weekly.news.example"]}, "<weekly.news.example>"),
        ({"list-id": ["=?utf-8?q?W=C3=B6?=\n <w.example>"]}, "<w.example>"),
        ({"mailing-list": ["list team@groups.example; contact x@y"]}, "<team@groups.example>"),
        ({"list-unsubscribe": ["<mailto:leave@News.example?subject=x>"]}, "<news.example>"),
        ({"list-unsubscribe": ["<https://u:p@news.example/leave>"]}, "<news.example>"),
        ({"list-id": [""], "list-unsubscribe": ["<http://a.example>"]}, "<a.example>"),
        ({"list-unsubscribe": ["call us"]}, None),
        ({"mailing-list": ["ezmlm"]}, None),
        ({}, None),
    ],
)
def test_a_list_is_named_in_one_form(headers: dict[str, list[str]], expected: str | None) -> None:
    assert list_id(headers) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<mailto:Dev@Lists.example>", "dev@lists.example"),
        ("<mailto:dev%2Btalk@lists.example?subject=x> (Developers)", "dev+talk@lists.example"),
        ("<https://groups.example/dev>, <mailto:dev@groups.example>", "dev@groups.example"),
        ("NO", None),
        ("NO (announcements), <https://groups.example>", None),
        ("<mailto:a@b.example,c@d.example>", None),
        ("", None),
    ],
)
def test_where_a_list_is_written_to_is_one_address(value: str, expected: str | None) -> None:
    assert list_post({"list-post": [value]}) == expected
    assert list_post({}) is None


def found(spf: str = "none", dkim: str = "none", dmarc: str = "none") -> Authentication:
    return Authentication(spf=spf, dkim=dkim, dmarc=dmarc)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            f"{SERVER}; dmarc=pass (p=NONE) header.from=client.example;\n"
            " dkim=pass header.d=client.example; spf=pass smtp.mailfrom=ann@client.example",
            found("pass", "pass", "pass"),
        ),
        (
            f"{SERVER.upper()} 1; dmarc=fail; spf=softfail; dkim=neutral",
            found("fail", "none", "fail"),
        ),
        (f"{SERVER}; dkim=pass header.d=evil.example", found()),
        (f"{SERVER}; dkim=pass header.d=lient.example", found()),
        (f"{SERVER}; dkim=pass header.d=example", found()),
        (f"{SERVER}; dkim=pass", found()),
        (f"{SERVER}; dkim=fail header.d=a; dkim=pass header.i=@client.example", found(dkim="pass")),
        (f"{SERVER}; spf=pass smtp.mailfrom=evil.example", found()),
        (f"{SERVER}; spf=fail; spf=pass smtp.mailfrom=client.example", found("fail")),
        (f"{SERVER}; dmarc=fail; dmarc=pass", found(dmarc="fail")),
        (f"{SERVER}; dmarc=passed", found()),
        (f"{SERVER}; none", found()),
        (f'{SERVER}; dmarc=fail reason="x; dmarc=pass"', found(dmarc="fail")),
        (f"{SERVER}; dmarc=none (; dmarc=pass)", found()),
        (f"{SERVER}; dmarc=pass (never closed", found()),
        (f'{SERVER}; dmarc=pass "never closed', found()),
        (f"{SERVER}.evil.example; dmarc=pass", found()),
        ("other.example; dmarc=pass", found()),
        (f"evil; x={SERVER}; dmarc=pass", found()),
        (f"{SERVER}; dmarc=pass; {'x' * 4000}", found()),
        ("", found()),
    ],
)
def test_only_the_trusted_servers_findings_about_this_sender_count(
    header: str, expected: Authentication
) -> None:
    assert authentication(header, trusted_server=SERVER, sender=SENDER) == expected


def test_without_a_trusted_server_nothing_is_believed() -> None:
    header = f"{SERVER}; dmarc=pass"

    assert authentication(header, trusted_server=None, sender=SENDER) == found()
    assert authentication(header, trusted_server="", sender=SENDER) == found()
