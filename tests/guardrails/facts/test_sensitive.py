"""What should not leave by accident is found where it is written plainly."""

import pytest
from hypothesis import example, given, strategies as st

from guardrails.facts import sensitive

KEY = "A" * 36


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DE89 3704 0044 0532 0130 00", True),
        ("to de89370400440532013000 BIC COBADEFF", True),
        ("GB82 WEST 1234 5698 7654 32.", True),
        ("GB82-WEST-1234-5698-7654-32", True),
        ("NO9386011117947", True),
        ("FR1420041010050500013M02606", True),
        ("DE89\u200b370400440532013000", True),
        ("DE89 3704 0044 0532 0130 01", False),  # check digits
        ("DE89 3704 0044 0532 0130 0", False),  # too short
        ("DE893704004405320130001", False),  # too long
        ("ZZ89370400440532013000", False),  # no such country
        ("xDE89370400440532013000", False),
        ("invoice DE12345", False),
    ],
)
def test_an_iban_has_its_length_and_check_digits(text: str, expected: bool) -> None:
    assert ("iban" in sensitive.found(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4111 1111 1111 1111", True),
        ("4111-1111-1111-1111 12/27 123", True),
        ("pay 5500000000000004 now", True),
        ("3782 822463 10005", True),
        ("4\u200b111 1111 1111 1111", True),
        ("\u0664" + "\u0661" * 15, True),
        ("4111 1111 1111 1112", False),  # Luhn
        ("order 1234567890128", False),  # no network begins so
        ("411111111111", False),  # too short
        ("A4111111111111111", False),
        ("0000 0000 0000 0000", False),
        ("+46 8 123 456 78", False),
    ],
)
def test_a_card_has_a_network_and_a_luhn_sum(text: str, expected: bool) -> None:
    assert ("card" in sensitive.found(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Your verification code is 482913", True),
        ("482 913 is your one-time code", True),
        ("G-482913 is your code", True),
        ("Use this security code: 7F3K9Q", True),
        ("Ihr Bestätigungscode: 482913", True),
        ("PIN: 4829", True),
        ("code 482913", True),
        ("zip code 12345", False),
        ("Error code: 4042", False),
        ("use the promo code SAVE2026", False),
        ("In 2026 we log in at 10:30", False),
        ("the verification code comes later", False),
        ("482913", False),
    ],
)
def test_a_code_stands_near_a_word_that_says_so(text: str, expected: bool) -> None:
    assert ("one_time_code" in sensitive.found(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ghp_{KEY}", True),
        ("AKIAIOSFODNN7EXAMPLE", True),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", True),
        ("postgres://u:p4ss@db/x", True),
        ("password: hunter2hunter", True),
        ("The password is hunter2hunter", True),
        ("the password is: kX9$wq2LmP0z", True),
        ("Das Passwort lautet: kX9$wq2LmP0z", True),
        ("Le mot de passe est kX9$wq2LmP0z", True),
        ("La contraseña es kX9$wq2LmP0z", True),
        ("Das Passwort ist: lang genug", False),
        ("api_key=abc123def456", True),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", True),
        ("The password is long enough", False),
        ("-----BEGIN PUBLIC KEY-----", False),
        ("ghp_short", False),
        ("https://company.com/a:b@c", False),
        ("the token economy of 2026", False),
    ],
)
def test_tokens_and_keys_are_known_by_their_form(text: str, expected: bool) -> None:
    assert ("token" in sensitive.found(text)) is expected


@given(st.integers(10**11, 10**12 - 1), st.integers(1, 9))
def test_one_wrong_digit_is_no_card(stem: int, wrong: int) -> None:
    body = f"411{stem}"
    digits = [int(one) * (2 - index % 2) for index, one in enumerate(reversed(body))]
    last = -sum(one - 9 * (one > 9) for one in digits) % 10
    assert sensitive.has_card(f"{body}{last}")
    assert not sensitive.has_card(f"{body}{(last + wrong) % 10}")


@given(st.from_regex(r"\A[0-9]{18}\Z"), st.integers(1, 96))
def test_one_wrong_check_number_is_no_iban(account: str, off: int) -> None:
    check = 98 - int(f"{account}131400") % 97  # DE is 1314
    assert sensitive.is_iban(f"DE{check:02}{account}")
    wrong = (check - 2 + off) % 97 + 2
    assert not sensitive.is_iban(f"DE{wrong:02}{account}")


@example("DE89 3704 0044 0532 0130 0İ")  # which counts as an I where only case is looked through
@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert sensitive.found(text) <= set(sensitive.SENSITIVE)


def test_what_is_long_or_has_a_long_beginning_is_found_too() -> None:
    part = "x" * 10_000
    assert sensitive.found(f"eyJ{part}.eyJ{part}.{part}") == {"token"}
    assert sensitive.found(f"{part}://user:secret@host") == {"token"}
    assert sensitive.found(f"{'1 ' * 5_000}4111 1111 1111 1111") == {"card"}
