"""What should not leave by accident: one-time codes, account and card numbers, keys. Pure.

It finds what is written plainly, also with blanks, hyphens, hidden characters and other forms
of digits in between. It cannot find what somebody spells out or encodes; whom a text reaches
is limited by other conditions.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, get_args

from guardrails.facts.links import unveiled

Sensitive = Literal["one_time_code", "iban", "card", "token"]
SENSITIVE: tuple[Sensitive, ...] = get_args(Sensitive)

# Length of an IBAN by country (ISO 13616 registry).
IBAN_LENGTHS = {
    code: int(length)
    for length, codes in {
        "15": "NO", "16": "BE", "18": "DK FI FO GL NL SD", "19": "MK SI",
        "20": "AT BA EE KZ LT LU MN XK", "21": "CH HR LI LV", "22": "BG BH CR DE GB GE IE ME RS",
        "23": "AE GI IL IQ OM SO TL", "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST", "26": "IS TR", "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO EG GT HU LB NI PL SV", "29": "BR PS QA UA",
        "30": "JO KW MU YE", "31": "MT SC", "32": "LC", "33": "RU",
    }.items()
    for code in codes.split()
}  # fmt: skip
IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}[ .-]?[0-9](?:[ .-]?[A-Z0-9])+", re.IGNORECASE | re.ASCII)
GROUPS = re.compile(r"(?<![0-9A-Za-z])[0-9]+(?:[ .\-][0-9]+)*(?![0-9A-Za-z])")
# First digits that card networks use (ISO/IEC 7812).
CARD = re.compile(
    r"4|5[0-8]|6|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3(?:[47]|0[0-5]|095|[68-9]|5(?:2[89]|[3-8]))|1946"
)
CARD_LENGTHS = range(13, 20)
# What a digit counts in the Luhn sum, as it is and doubled.
_LUHN = tuple(range(10)), (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

CODE_WORD = re.compile(
    r"\b(?:otp|2fa|tan|passcode|pass\s?code|one[\s-]?time|(?:verification|security|log-?in|sign-?in"
    r"|confirmation|authentication|authorisation|authorization|access|recovery|reset|sms)\s"
    r"(?:code|pin)|two-(?:factor|step)|bestätigungscode|sicherheitscode|einmal(?:code|passwort)"
    r"|verifizierungscode|code\sde\s(?:vérification|sécurité)|código\sde\s(?:verificación|seguridad)"
    r"|codice\sdi\s(?:verifica|sicurezza)|engångskod|verifieringskod)\b",
    re.IGNORECASE,
)
CODE = re.compile(
    r"(?<![\w.,/:+-])(?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}"
    r"|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{5,8})(?![\w-]|[.,:/]\d)"
)
CODE_IS = re.compile(
    r"\b(?:code|pin)(?:\s+(?:is|was|ist|est|är))?\s*(?:[:=]\s*)?(?:[A-Z]-)?\d{3}[ -]?\d{1,5}\b"
    r"|\b\d{4,8}\s+is\s+your\b",
    re.IGNORECASE,
)
OTHER_CODE = re.compile(
    r"\b(?:zip|post(?:al)?|area|error|status|exit|country|dress|promo|discount|voucher|sort)[\s-]?code",
    re.IGNORECASE,
)
NEAR = 80  # characters between the word and the code

TOKEN = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|AGE-SECRET-KEY-1[0-9A-Z]{10}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\bya29\.[\w-]{20}"
    r"|\bgh[pousr]_[A-Za-z0-9]{30}|\bgithub_pat_\w{22}|\bglpat-[\w-]{20}"
    r"|\bxox[abeoprs]-[\w-]{10}|\bxapp-[\w-]{10}|\bhooks\.slack\.com/services/\w"
    r"|\b(?:sk|rk|pk)_(?:live|test)_\w{10}|\bsk-[\w-]{20}|\bwhsec_\w{16}|\bSG\.[\w-]{16}\.[\w-]{16}"
    r"|\bnpm_[A-Za-z0-9]{30}|\bpypi-[\w-]{16}|\bhf_[A-Za-z0-9]{20}|\bdop_v1_[0-9a-f]{20}"
    r"|\bremit_[\w-]{30}"
    # From the end of their first part on, so that each is looked for in one pass.
    r"|[\w-]{8}\.eyJ[\w-]{8,}\.|[a-z0-9+.-]://[^\s/:@]+:[^\s/@]+@"
)
ASSIGNED = re.compile(
    r"\b(?:api[\s_-]?key|access[\s_-]?key|secret(?:[\s_-]?key)?|access[\s_-]?token|auth[\s_-]?token"
    r"|token|bearer|password|passwd|passphrase|passwort|kennwort|mot\s+de\s+passe|contraseña)\b"
    r"[\"']?(?:\s+(?:is|ist|lautet|est|es)\b)?(?:\s*[:=])?\s*[\"']?"
    r"((?=[^\s\"'\d]{0,200}+\d)(?=[^\s\"'A-Za-z]{0,200}+[A-Za-z])[^\s\"',;]{8,})",
    re.IGNORECASE,
)


def found(text: str) -> frozenset[Sensitive]:
    """The kinds of sensitive things in the text; never the things themselves."""
    plain = _plain_digits(unveiled(text))
    kinds: dict[Sensitive, bool] = {
        "one_time_code": has_code(plain),
        "iban": has_iban(plain),
        "card": has_card(plain),
        "token": bool(TOKEN.search(plain) or ASSIGNED.search(plain)),
    }
    return frozenset(kind for kind, there in kinds.items() if there)


def has_iban(text: str) -> bool:
    """Whether an IBAN with the right length and check digits stands in the text."""
    return any(
        is_iban(match[0][: _end(match[0], IBAN_LENGTHS.get(match[0][:2].upper(), 0))])
        for match in IBAN.finditer(text)
    )


def is_iban(text: str) -> bool:
    """Whether this is one IBAN: length of its country, remainder 1 modulo 97 (ISO 7064)."""
    plain = re.sub(r"[ .-]", "", text).upper()
    if len(plain) != IBAN_LENGTHS.get(plain[:2], 0) or not plain[2:4].isdigit():
        return False
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def has_card(text: str) -> bool:
    """Whether a payment card's number stands in the text, in one piece or in groups: a network's
    first digits and the Luhn sum."""
    runs = (run for run in GROUPS.findall(text) if len(run) >= CARD_LENGTHS.start)
    return any(_is_card_among(re.split(r"[ .\-]", run)) for run in runs)


def _is_card_among(groups: Sequence[str]) -> bool:
    """Whether some of these groups of digits, one behind the other, are a card's number."""
    digits = "".join(groups)
    edges = [0, *accumulate(map(len, groups))]
    ends = frozenset(edges)
    # Up to each place, once with the digits at even places doubled and once with those at odd ones.
    sums = [
        [0, *accumulate(_LUHN[at % 2 == odd][int(one)] for at, one in enumerate(digits))]
        for odd in (0, 1)
    ]
    numbers = (
        (start, start + length)
        for start in edges
        if CARD.match(digits, start)
        for length in CARD_LENGTHS
        if start + length in ends
    )
    return any((sums[end % 2][end] - sums[end % 2][start]) % 10 == 0 for start, end in numbers)


def has_code(text: str) -> bool:
    """Whether a code for one use stands near a word that says what it is."""
    without = OTHER_CODE.sub("", text)
    if CODE_IS.search(without):
        return True
    return any(CODE.search(near) for near in _near_words(without))


def _near_words(text: str) -> Iterator[str]:
    for match in CODE_WORD.finditer(text):
        yield text[max(0, match.start() - NEAR) : match.start()]
        yield text[match.end() : match.end() + NEAR]


def _end(text: str, length: int) -> int:
    """Where so many letters and digits end; 0 if a letter or digit follows directly, because
    then it is something longer."""
    seen = 0
    for index, one in enumerate(text):
        seen += one.isalnum()
        if seen == length:
            longer = index + 1 < len(text) and text[index + 1].isalnum()
            return 0 if longer else index + 1
    return 0


def _plain_digits(text: str) -> str:
    """Digits of every script as 0 to 9, and every blank and hyphen as the plain one."""
    return text.translate({ord(one): _plain(one) for one in set(text)})


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd":
        return "-"
    return " " if category == "Zs" else character
