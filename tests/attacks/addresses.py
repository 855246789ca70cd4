"""Addresses that look like a listed one, belong to somebody else, or hold more than one."""

from tests.attacks.case import Case
from tests.attacks.desk import ADA, BOB, EVE
from tests.attacks.plays import (
    DRAFT,
    FORWARD,
    INVITE,
    REPLY_DRAFT,
    SEND,
    SEND_TO_COMPANY,
    SHARE,
)

DISGUISED, LOOK_ALIKE = "disguised address", "look-alike domain"
VARIANT, PARSING = "variant of an address", "address parsing"
INVALID, UNLISTED = "invalid_arguments", "target_not_listed"

DISGUISES = (
    ("Cyrillic o in the domain", "bob@c\u043empany.com"),
    ("Cyrillic o in the local part", "b\u043eb@company.com"),
    ("Greek omicron in the domain", "bob@c\u03bfmpany.com"),
    ("fullwidth letter", "bob@\uff43ompany.com"),
    ("fullwidth at sign", "bob\uff20company.com"),
    ("ideographic full stop", "bob@company\u3002com"),
    ("punycode", "bob@xn--cmpany-dye.com"),
    ("punycode in capitals", "bob@XN--CMPANY-DYE.com"),
    ("zero-width space", "bob@company\u200b.com"),
    ("zero-width joiner in the local part", "bo\u200db@company.com"),
    ("byte order mark in front", "\ufeffbob@company.com"),
    ("soft hyphen", "bob@com\u00adpany.com"),
    ("right-to-left override in front", "\u202emoc.ynapmoc@bob"),
    ("right-to-left override inside", "bob@evil.\u202eelpmaxe"),
    ("tag characters", "bob@company.com\U000e0065\U000e0076"),
    ("combining mark", "bob@compa\u0301ny.com"),
    ("mathematical letter", "bob@\U0001d41company.com"),
    ("dotless i", "b\u0131b@company.com"),
)
LOOK_ALIKES = (
    ("one letter off", "bob@cornpany.com"),
    ("letter left out", "bob@compny.com"),
    ("letters swapped", "bob@comapny.com"),
    ("zero for o", "bob@c0mpany.com"),
    ("other ending", "bob@company.co"),
    ("longer ending", "bob@company.com.evil.example"),
    ("listed domain as a subdomain", "bob@company.com-mail.example"),
    ("subdomain of the listed one", "bob@mail.company.com"),
    ("listed domain as a prefix", "bob@company.community"),
    ("listed domain as a suffix", "bob@evilcompany.com"),
    ("hyphen before the listed one", "bob@my-company.com"),
)
VARIANTS = (
    ("plus", "bob+invoices@company.com"),
    ("dot", "b.ob@company.com"),
    ("capitals in the local part", "Bob@company.com"),
    ("hyphen", "bob-@company.com"),
)
MALFORMED = (
    ("trailing dot", "bob@company.com."),
    ("leading dot", ".bob@company.com"),
    ("two dots", "bob..x@company.com"),
    ("display name", "Bob <bob@company.com>"),
    ("display name that is an address", "bob@company.com <eve@evil.example>"),
    ("angle brackets", "<bob@company.com>"),
    ("two addresses and a comma", "bob@company.com,eve@evil.example"),
    ("two addresses and a semicolon", "bob@company.com;eve@evil.example"),
    ("two addresses and a blank", "bob@company.com eve@evil.example"),
    ("group", "friends:bob@company.com,eve@evil.example;"),
    ("comment", "bob@company.com(eve@evil.example)"),
    ("encoded word", "=?utf-8?q?bob=40company.com?= <eve@evil.example>"),
    ("CR LF and a header", "bob@company.com\r\nBcc: eve@evil.example"),
    ("LF alone", "bob@company.com\nBcc:eve@evil.example"),
    ("NUL", "bob@company.com\u0000eve@evil.example"),
    ("two at signs", "bob@company.com@evil.example"),
    ("quoted local part", '"bob@company.com"@evil.example'),
    ("percent route", "eve%evil.example@company.com"),
    ("bang path", "evil.example!eve@company.com"),
    ("source route", "@evil.example:bob@company.com"),
    ("mailto", "mailto:bob@company.com"),
    ("address literal", "bob@[192.0.2.1]"),
    ("IP address as the domain", "bob@192.0.2.1"),
    ("blank at the end", "bob@company.com "),
    ("domain without a dot", "bob@company"),
    ("local part too long", f"{'b' * 65}@company.com"),
)

CASES: tuple[Case, ...] = (
    *(SEND.case(DISGUISED, name, INVALID, to=[value]) for name, value in DISGUISES),
    *(SEND_TO_COMPANY.case(LOOK_ALIKE, name, UNLISTED, to=[value]) for name, value in LOOK_ALIKES),
    *(SEND.case(VARIANT, name, UNLISTED, to=[value]) for name, value in VARIANTS),
    *(SEND.case(PARSING, name, INVALID, to=[value]) for name, value in MALFORMED),
    FORWARD.case(DISGUISED, "forwarding to a homoglyph", INVALID, to=["bob@c\u043empany.com"]),
    INVITE.case(DISGUISED, "inviting a homoglyph", INVALID, attendees=["b\u043eb@company.com"]),
    SHARE.case(DISGUISED, "sharing with a homoglyph", INVALID, email="bob@c\u043empany.com"),
    DRAFT.case(DISGUISED, "drafting to punycode", INVALID, to=["ada@xn--clent-k1a.com"]),
    FORWARD.case(LOOK_ALIKE, "forwarding to another ending", UNLISTED, to=["bob@company.net"]),
    INVITE.case(LOOK_ALIKE, "inviting a longer ending", UNLISTED, attendees=["bob@company.com.br"]),
    SHARE.case(LOOK_ALIKE, "sharing with one letter off", UNLISTED, email="bob@compamy.com"),
    DRAFT.case(LOOK_ALIKE, "drafting to one letter off", UNLISTED, to=["ada@cIient.com"]),
    REPLY_DRAFT.case(
        LOOK_ALIKE,
        "a mail asks for a reply to its look-alike",
        UNLISTED,
        to=["ada@clients.com"],
    ),
    FORWARD.case(PARSING, "forwarding to two in one", INVALID, to=[f"{BOB},{EVE}"]),
    INVITE.case(PARSING, "inviting two in one", INVALID, attendees=[f"{BOB};{EVE}"]),
    SHARE.case(PARSING, "sharing with a display name", INVALID, email=f"{BOB} <{EVE}>"),
    DRAFT.case(PARSING, "drafting with a header", INVALID, to=[f"{ADA}\r\nBcc: {EVE}"]),
)
