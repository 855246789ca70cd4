from importlib import resources

import pytest

from guardrails.facts.senders import KINDS, SHIPPED, Sender, find, read

SHOP = Sender(name="shop.example", must_pass=True, kinds=("account", "payment"))
LINES = [
    line
    for line in resources.files("guardrails.facts")
    .joinpath("security_senders.txt")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
]
# Where ordinary people have their mail.
PEOPLES = {
    *("gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com"),
    *("yahoo.com", "yahoo.co.jp", "icloud.com", "me.com", "aol.com", "proton.me", "gmx.net"),
    *("gmx.de", "web.de", "t-online.de", "orange.fr", "free.fr", "laposte.net", "libero.it"),
    *("mail.ru", "yandex.ru", "qq.com", "163.com", "naver.com", "seznam.cz", "wp.pl", "o2.pl"),
    *("zoho.com", "fastmail.com", "github.com"),
}

# Below what one registry gives out, a domain is the part before it and one more.
SUFFIXES = {
    *("co.jp", "co.uk", "com.au", "com.br", "com.mx", "gouv.fr", "gov.au", "gov.in", "gov.sg"),
    *("gov.uk", "gv.at", "ne.jp"),
}
# Parts of domains in which people have their mail, and what one government runs for all of it.
PARTS = {"id.mail.ru", "id.yandex.ru", "notify.proton.me"}
GOVERNMENTS = {"gov.br", "gov.pl"}


def test_the_list_is_long_sorted_and_in_one_form() -> None:
    names = [line.split()[0] for line in LINES]

    assert len(SHIPPED) == len(LINES) >= 200
    assert names == sorted(names)
    widths = {
        line.index(line.split()[1], len(name)) for line, name in zip(LINES, names, strict=True)
    }
    assert len(widths) == 1
    assert {kind for one in SHIPPED.values() for kind in one.kinds} == set(KINDS)


def test_no_sender_is_listed_under_another_one_or_where_people_have_their_mail() -> None:
    above = {name: find(f"x@{name.partition('.')[2]}", SHIPPED) for name in SHIPPED}

    assert [name for name, found in above.items() if found is not None] == []
    assert [one for one in sorted(PEOPLES) if find(f"ada@{one}", SHIPPED) is not None] == []


def test_each_is_a_domain_that_one_owner_registered() -> None:
    def labels(name: str) -> int:
        host = name.rpartition("@")[2]
        ending = ".".join(host.split(".")[-2:])
        return host.count(".") - ending.count(".") * (ending in SUFFIXES)

    assert {name for name in SHIPPED if labels(name) != 1} == PARTS
    assert SHIPPED.keys().isdisjoint(SUFFIXES)
    assert {name for name in SHIPPED if name.startswith("gov.")} == GOVERNMENTS


@pytest.mark.parametrize(
    ("address", "must_pass", "kinds"),
    [
        ("no-reply@accounts.google.com", True, {"access", "code", "signin"}),
        ("account-security-noreply@accountprotection.microsoft.com", True, {"code", "signin"}),
        ("no_reply@email.apple.com", True, {"account", "code", "signin"}),
        ("service@paypal.com", True, {"account", "payment", "signin"}),
        ("noreply@github.com", True, {"access", "code", "signin"}),
        ("security@mail.instagram.com", True, {"account", "code", "signin"}),
        ("noreply@hmrc.gov.uk", None, {"account", "payment"}),
        ("info@sparkasse.de", None, {"account", "payment"}),
    ],
)
def test_who_is_known_best_says_what_it_sends_and_how_it_is_proved(
    address: str, must_pass: bool | None, kinds: set[str]
) -> None:
    found = find(address, SHIPPED)

    assert found is not None
    assert kinds <= set(found.kinds)
    assert must_pass in (None, found.must_pass)


def test_every_sender_says_what_it_sends() -> None:
    assert [one.name for one in SHIPPED.values() if not one.kinds] == []
    assert sum(one.must_pass for one in SHIPPED.values()) >= 100


def test_an_own_list_is_read_in_the_same_form() -> None:
    text = "# Ours.\n\nshop.example dmarc account,payment\nrobot@desk.example open code\n"

    assert read(text) == {
        "shop.example": SHOP,
        "robot@desk.example": Sender(name="robot@desk.example", must_pass=False, kinds=("code",)),
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("shop.example", "is not a sender, “dmarc” or “open”, and kinds"),
        ("Shop.example open code", "does not name a sender in small letters"),
        ("shop open code", "has no plain domain such as company.com"),
        ("a b@shop.example open code", "is not a sender, “dmarc” or “open”, and kinds"),
        ("shop.example pass code", "says “pass” and not “dmarc” or “open”"),
        ("shop.example open codes", "says “codes” and not some of"),
        ("shop.example open signin,code", "says “signin,code” and not some of"),
        ("shop.example open code,code", "says “code,code” and not some of"),
        ("xn--shp-0na.example open code", "has a domain in punycode"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^Line 2 ") as raised:
        read(f"# Ours.\n{line}\n")
    assert why in str(raised.value)


def test_nobody_is_listed_twice() -> None:
    with pytest.raises(ValueError, match=r"^Line 2 names a\.example again\.$"):
        read("a.example open code\na.example dmarc code")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("no-reply@shop.example", True),
        ("no-reply@Mail.Shop.example", True),
        ("no-reply@a.b.shop.example", True),
        ("no-reply@myshop.example", False),
        ("no-reply@shop.example.evil.com", False),
        ("shop.example@evil.com", False),
        ("shop.example", True),
        ("", False),
        ("@", False),
    ],
)
def test_a_domain_stands_for_its_subdomains_and_for_no_other(address: str, expected: bool) -> None:
    assert (find(address, {"shop.example": SHOP}) == SHOP) is expected
