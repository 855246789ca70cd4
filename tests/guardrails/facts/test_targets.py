"""One strict address, and no way to make it look like another."""

import pytest
from hypothesis import given, strategies as st

from guardrails.facts import targets

GOOD = "ada@company.com"


@pytest.mark.parametrize(
    ("given_text", "canonical"),
    [
        ("ada@company.com", "ada@company.com"),
        ("ada@Company.COM", "ada@company.com"),
        ("Ada@company.com", "Ada@company.com"),
        ("ada+news@company.com", "ada+news@company.com"),
        ("a.d.a@mail.company.com", "a.d.a@mail.company.com"),
        ("o'neil_2@x-1.io", "o'neil_2@x-1.io"),
    ],
)
def test_a_plain_address_is_itself_with_its_domain_folded(given_text: str, canonical: str) -> None:
    assert targets.address(given_text) == canonical


@pytest.mark.parametrize(
    "attack",
    [
        "аda@company.com",  # noqa: RUF001  # a Cyrillic letter
        "ada@cоmpany.com",  # noqa: RUF001
        "ａda@company.com",  # noqa: RUF001  # fullwidth
        "ada@ｃompany.com",  # noqa: RUF001
        "ada＠company.com",  # noqa: RUF001
        "ada@company。com",
        "ada@xn--company-0va.com",
        "ada@sub.XN--80ak6aa92e.com",
        "ada@company.xn--p1ai",
        "ada@com\u200bpany.com",
        "a\u200dda@company.com",
        "\ufeffada@company.com",
        "ada@company.com\u202e",
        "\u202emoc.ynapmoc@ada",
        "ada@compan\u00ady.com",
        '"ada"@company.com',
        '"ada@company.com"@evil.example',
        "Ada <ada@company.com>",
        "<ada@company.com>",
        "ada@company.com <mallory@evil.example>",
        "ada@company.com,mallory@evil.example",
        "ada@company.com;mallory@evil.example",
        "ada@company.com mallory@evil.example",
        "friends:ada@company.com,bob@company.com;",
        "undisclosed-recipients:;",
        "ada@company.com.",
        "ada@.company.com",
        "ada@company..com",
        ".ada@company.com",
        "ada.@company.com",
        "a..da@company.com",
        "ada@company.com\r\nBcc: mallory@evil.example",
        "ada@company.com\n",
        "ada@company.com\x00",
        " ada@company.com",
        "ada@company.com ",
        "ada@com pany.com",
        "ada(comment)@company.com",
        "=?utf-8?q?ada?=@company.com",
        "mailto:ada@company.com",
        "ada@[192.168.0.1]",
        "ada@192.168.0.1",
        "ada@localhost",
        "ada@company",
        "ada@-company.com",
        "ada@company-.com",
        "ada@company.c",
        "mallory%evil.example@company.com",
        "evil.example!mallory@company.com",
        "ada@mallory@company.com",
        "ada@",
        "@company.com",
        "",
        "a" * 65 + "@company.com",
        "ada@" + "a" * 64 + ".com",
        "ada@" + ".".join(["abcdefgh"] * 40) + ".com",
    ],
)
def test_what_is_not_one_plain_address_is_refused(attack: str) -> None:
    assert attack != GOOD
    assert targets.address_or_none(attack) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ada@company.com", "ada@mail.company.com"),
        ("ada@company.com", "ada@company.com.evil.example"),
        ("ada@company.com", "ada@notcompany.com"),
        ("ada@company.com", "ada@company.co"),
    ],
)
def test_a_domain_that_only_resembles_is_another_domain(first: str, second: str) -> None:
    assert targets.domain_of(targets.address(first)) != targets.domain_of(targets.address(second))


@given(st.text(max_size=80))
def test_what_is_accepted_is_ascii_without_anything_that_splits(text: str) -> None:
    found = targets.address_or_none(text)
    if found is not None:
        assert found.isascii()
        assert found.isprintable()
        assert found.count("@") == 1
        assert not set(found) & set(' ,;:<>()[]\\"')
        assert targets.address(found) == found


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("no-reply@shop.com", True),
        ("NoReply+7@shop.com", True),
        ("do_not.reply@shop.com", True),
        ("MAILER-DAEMON@shop.com", True),
        ("bounces@shop.com", True),
        ("orders-noreply@shop.com", True),
        ("jira.do_not-reply@shop.com", True),
        ("dev-bounces@shop.com", True),
        ("reply@shop.com", False),
        ("norah@noreply.com", False),
        ("tino.reply@shop.com", False),
        ("bruno-replay@shop.com", False),
    ],
)
def test_some_addresses_say_that_nobody_reads_them(address: str, expected: bool) -> None:
    assert targets.is_unattended(address) == expected


def test_a_path_is_said_in_words() -> None:
    assert targets.place_of("to[0]") == "to"
    assert targets.place_of("event.attendees[12]") == "event attendees"
    assert targets.place_of("message.to_recipients[0].email") == "message to recipients email"
    assert targets.Target(path="cc[1]", kind="recipient", value="a@b.com").place == "cc"
