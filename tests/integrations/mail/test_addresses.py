"""One strict addr-spec per entry, and nothing that only looks like one."""

import pytest
from hypothesis import given, strategies as st

from integrations.mail.addresses import is_addr_spec, parse_mailboxes


def accepted(value: str) -> list[tuple[str, str]]:
    return [(mailbox.address, mailbox.name) for mailbox in parse_mailboxes(value).accepted]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a@b.example", [("a@b.example", "")]),
        ("<a@b.example>", [("a@b.example", "")]),
        ("Ann Bee <a@b.example>", [("a@b.example", "Ann Bee")]),
        ('"Bee, Ann" <a@b.example>', [("a@b.example", "Bee, Ann")]),
        (r'"Ann \"the\" Bee" <a@b.example>', [("a@b.example", 'Ann "the" Bee')]),
        ("a@b.example (Ann Bee)", [("a@b.example", "Ann Bee")]),
        ("a@b.example (Ann (Bee))", [("a@b.example", "Ann (Bee)")]),
        ("=?utf-8?q?Ann_B=C3=A9e?= <a@b.example>", [("a@b.example", "Ann Bée")]),
        ("a@b.example, c@d.example", [("a@b.example", ""), ("c@d.example", "")]),
        ("a@b.example; c@d.example", [("a@b.example", ""), ("c@d.example", "")]),
        ("Team: a@b.example, Cee <c@d.example>;", [("a@b.example", ""), ("c@d.example", "Cee")]),
        ("undisclosed-recipients:;", []),
        ("", []),
        (" , ,", []),
        ("A.B+tag@Sub.B-x.example", [("A.B+tag@Sub.B-x.example", "")]),
    ],
)
def test_well_formed_entries_are_taken_apart(header: str, expected: list[tuple[str, str]]) -> None:
    found = parse_mailboxes(header)

    assert [(mailbox.address, mailbox.name) for mailbox in found.accepted] == expected
    assert found.refused == ()


@pytest.mark.parametrize(
    "header",
    [
        "Boss <boss@company.example> <evil@evil.example>",
        "<boss@company.example> evil@evil.example",
        "boss@company.example evil@evil.example",
        '"boss@company.example"',
        '"boss"@company.example',
        '"boss@company.example" evil@evil.example',
        "<boss@company.example",
        '"boss <boss@company.example>',
        "(boss <boss@company.example>",
        "<@relay.example:boss@company.example>",
        "boss@company.example:evil@evil.example",
        "boss@[192.0.2.1]",
        "boss@company.example.",
        ".boss@company.example",
        "bo..ss@company.example",
        "boss@company..example",
        "boss@-company.example",
        "boss@company_x.example",
        "boss@\u0441ompany.example",
        "bo\u200bss@company.example",
        "boss@company.example\u202e",
        "\uff42oss@company.example",
        "boss at company.example",
        "=?utf-8?q?boss=40company.example?=",
        "<=?utf-8?q?boss=40company.example?=>",
        "boss@",
        "@company.example",
        "a" * 65 + "@company.example",
        "a@" + "b." * 130 + "example",
    ],
)
def test_what_is_not_exactly_one_address_is_refused_not_repaired(header: str) -> None:
    found = parse_mailboxes(header)

    assert found.accepted == ()
    assert found.refused != ()


def test_an_address_in_a_display_name_stays_a_name() -> None:
    assert accepted('"boss@company.example" <evil@evil.example>') == [
        ("evil@evil.example", "boss@company.example")
    ]
    assert accepted("=?utf-8?q?boss=40company.example=2C?= <evil@evil.example>") == [
        ("evil@evil.example", "boss@company.example,")
    ]


def test_a_good_entry_beside_a_bad_one_is_taken_and_the_bad_one_named() -> None:
    found = parse_mailboxes("Smith, Jane <jane@b.example>")

    assert [mailbox.address for mailbox in found.accepted] == ["jane@b.example"]
    assert found.refused == ("Smith",)


def test_line_breaks_of_every_kind_do_not_survive() -> None:
    assert accepted('"Ann\r\n Bee" <a@b.example>') == [("a@b.example", "Ann Bee")]
    assert accepted("=?utf-8?q?Ann=0D=0ATo=3A?= <a@b.example>") == [("a@b.example", "Ann To:")]
    assert accepted("a@b.example\r\nBcc: c@d.example") == []


@given(st.text(alphabet='ab@.,;:<>()"\\ \t=?é', max_size=60))
def test_every_accepted_address_stands_in_the_header_and_nothing_raises(header: str) -> None:
    for mailbox in parse_mailboxes(header).accepted:
        assert is_addr_spec(mailbox.address)
        assert mailbox.address in header
        assert mailbox.address.count("@") == 1


@given(st.lists(st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.example", fullmatch=True), max_size=8))
def test_a_list_of_addresses_is_read_back_in_order(addresses: list[str]) -> None:
    assert [address for address, _ in accepted(", ".join(addresses))] == addresses
