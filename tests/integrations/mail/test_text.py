"""Bytes of strangers become clean text, whatever they call themselves."""

import base64
import json

import pytest
from hypothesis import given, strategies as st

from integrations.mail.text import (
    clean_line,
    clean_text,
    decode,
    decode_words,
    header_text,
)


@pytest.mark.parametrize(
    ("data", "charset", "text", "guessed"),
    [
        (b"plain", None, "plain", False),
        (b"plain", "us-ascii", "plain", False),
        ("Grüße".encode(), "utf-8", "Grüße", False),
        ("Grüße".encode("iso-8859-1"), "iso-8859-1", "Grüße", False),
        (b"\x93quoted\x94", "iso-8859-1", "“quoted”", False),
        ("Grüße".encode(), "us-ascii", "Grüße", True),
        ("Grüße".encode("iso-8859-1"), "utf-8", "Grüße", True),
        ("Grüße".encode("iso-8859-1"), None, "Grüße", True),
        ("Grüße".encode(), "no-such-charset", "Grüße", True),
        (b"plain", "no-such-charset", "plain", True),
        ("日本".encode("iso-2022-jp"), "ISO-2022-JP", "日本", False),
        ("日本".encode("shift_jis"), '"shift_jis"', "日本", False),
        ("镕基".encode("gbk"), "gb2312", "镕基", False),
        ("똠방".encode("cp949"), "ks_c_5601-1987", "똠방", False),
        ("①髙".encode("cp932"), "Shift_JIS", "①髙", False),
        ("שלום".encode("iso-8859-8"), "iso-8859-8-i", "שלום", False),
        ("привет".encode("koi8-r"), "koi8-r", "привет", False),
        ("ağ".encode("cp1254"), "iso-8859-9", "ağ", False),
        ("мир".encode("koi8-r"), "x-unknown", "ÍÉÒ", True),
        ("привет и пока".encode()[:-1], "utf-8", "привет и пок\ufffd", True),
        ("привет и пока".encode()[:-1], None, "привет и пок\ufffd", True),
        ("你好世界再见朋友".encode("gb18030")[:-1], "gb2312", "你好世界再见朋\ufffd", True),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-", True),
        (b"+ADw-script+AD4-", "unicode-1-1-utf-7", "+ADw-script+AD4-", True),
        (b"\\u0041", "unicode_escape", "\\u0041", True),
        (b"4142", "hex", "4142", True),
        (b"x", "utf\x00-8", "x", True),
    ],
)
def test_charsets_are_used_when_they_fit_and_guessed_when_they_do_not(
    data: bytes, charset: str | None, text: str, guessed: bool
) -> None:
    assert decode(data, charset) == (text, guessed)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?iso-8859-1?B?R3L832U=?=", "Grüße"),
        ("Re: =?utf-8?q?Caf=C3=A9?= today", "Re: Café today"),
        ("=?utf-8?q?a_b?= =?utf-8?q?c?=", "a bc"),
        ("=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b"),
        ("=?utf-8?b?8J+Y?= =?utf-8?b?gA==?=", "😀"),
        ("=?utf-8*en?q?lang?=", "lang"),
        ("=?utf-8?b?R3L?=", "Gr"),
        ("=?utf-8?b?A?=", "=?utf-8?b?A?="),
        ("=?x-unknown?q?=FC?=", "ü"),
        ("not =?utf-8?x?a?= a word", "not =?utf-8?x?a?= a word"),
        ("=?utf-8?q?with spaces inside?=", "with spaces inside"),
        ("=?utf-8?q?one=0D=0ABcc:_x@evil.example?=", "one Bcc: x@evil.example"),
        ("=?utf-7?q?+2AA-?=", "+2AA-"),
        ("=?utf-8?q?a=00b?=", "a b"),
    ],
)
def test_encoded_words_become_one_clean_line(header: str, text: str) -> None:
    assert header_text(header) == text


def test_raw_eight_bit_headers_are_read_as_utf8_or_windows_1252() -> None:
    assert header_text("Grüße".encode().decode("ascii", "surrogateescape")) == "Grüße"
    assert header_text("Grüße".encode("cp1252").decode("ascii", "surrogateescape")) == "Grüße"


@given(st.text())
def test_what_was_encoded_is_decoded(text: str) -> None:
    word = base64.b64encode(text.encode()).decode()

    assert decode_words(f"=?utf-8?b?{word}?=") == text


@given(st.text(alphabet=st.characters(), max_size=200))
def test_clean_text_is_storable_and_a_clean_line_has_no_break(text: str) -> None:
    for cleaned in (clean_text(text), clean_line(text), header_text(text)):
        json.dumps(cleaned, ensure_ascii=False).encode()
        assert "\x00" not in cleaned
        assert "\r" not in cleaned
    assert len(clean_line(text).splitlines()) <= 1
    assert len(header_text(text).splitlines()) <= 1


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=20)))
def test_decoding_never_raises(data: bytes, charset: str | None) -> None:
    text, _ = decode(data, charset)

    assert isinstance(text, str)


@given(st.text(alphabet="=?utf-8bqQ_Az+/0D\r\n \t*", max_size=80))
def test_decoding_words_never_raises(text: str) -> None:
    assert isinstance(decode_words(text), str)
