"""The bytes that are hashed, and the digests over them. Pure: no Django, no clock.

Canonical JSON is RFC 8785: keys sorted by UTF-16 code units, no blanks, UTF-8, numbers as
ECMAScript writes them. What cannot be written that way without loss is refused.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from json.encoder import JSONEncoder, encode_basestring
from typing import Any
from uuid import UUID

from audit.contracts import Artifact

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 64
SALT_BYTES = 16
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class NotCanonical(ValueError):
    """This value has no canonical form. The message says what is wrong with it."""


def canonical_bytes(value: object) -> bytes:
    """The one JSON text of `value`: dicts with text keys, lists, tuples, text, numbers,
    booleans and None.

    Raises NotCanonical for anything else, for NaN and infinities, for numbers beyond
    ±(2^53 - 1), which readers in other languages round, and for lone surrogates.
    """
    try:
        return canonical(value).encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("The text holds half of a surrogate pair.") from error


def canonical(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise NotCanonical("A key is not text.")
        keys = sorted(value) if "".join(value).isascii() else sorted(value, key=utf16)
        pairs = [f"{encode_basestring(key)}:{canonical(value[key])}" for key in keys]
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(canonical, value))}]"
    raise NotCanonical(f"A {type(value).__name__} has no form in JSON.")


def utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def number(value: int | float) -> str:
    if not survives(value):
        raise NotCanonical(f"The number {value} does not survive a round trip.")
    if value == int(value):
        return str(int(value))
    text = repr(float(value))
    digits, _, exponent = text.partition("e")
    if not exponent:
        return text
    power = int(exponent)  # negative: large numbers with an exponent are refused above
    return format(Decimal(text), "f") if power >= -6 else f"{digits}e{power}"


def survives(value: int | float) -> bool:
    """Whether every reader of JSON gets the same number back. False for NaN."""
    return abs(value) <= MAX_SAFE_INTEGER


def storable(value: object, *, depth: int = 0) -> Any:
    """`value` with everything that has no canonical form made visible text, so that no row
    is lost over what a stranger wrote: NUL and lone surrogates become ⟨U+0000⟩, numbers
    that would be rounded become their digits, times and uuids their ISO and hex form, and
    what is nested deeper than 64 levels is left out with a remark.

    Raises TypeError for objects that are no data: that is a mistake of the caller.
    """
    if isinstance(value, str):
        return visible(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if survives(value) else str(value)
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, UUID | Decimal):
        return str(value)
    if depth == MAX_DEPTH:
        return f"⟨left out: nested deeper than {MAX_DEPTH} levels⟩"
    if isinstance(value, Mapping):
        return {visible(str(key)): storable(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [storable(item, depth=depth + 1) for item in value]
    raise TypeError(f"The ledger stores plain data, not a {type(value).__name__}.")


def stored(value: object, *, depth: int = 0) -> str:
    """`canonical(storable(value))` in one pass: every row that is appended takes this way."""
    kind = type(value)
    if kind is str:
        return quoted(value)  # type: ignore[arg-type]
    if value is None:
        return "null"
    if kind is UUID:
        return f'"{value}"'
    if kind is dict and depth < MAX_DEPTH:
        texts = {
            visible(str(key)): stored(item, depth=depth + 1)
            for key, item in value.items()  # type: ignore[attr-defined]
        }
        keys = sorted(texts) if "".join(texts).isascii() else sorted(texts, key=utf16)
        return f"{{{','.join([f'{encode_basestring(key)}:{texts[key]}' for key in keys])}}}"
    if (kind is list or kind is tuple) and depth < MAX_DEPTH:
        return f"[{','.join([stored(item, depth=depth + 1) for item in value])}]"  # type: ignore[attr-defined]
    return canonical(storable(value, depth=depth))


def quoted(text: str) -> str:
    """`stored` of a text."""
    return encode_basestring(visible(text))


def is_plain(json: str) -> bool:
    """Whether `visible` would change no text in this JSON. False too where it may."""
    return json.isascii() and "\\u0000" not in json


def visible(text: str) -> str:
    """`text` with what PostgreSQL or UTF-8 cannot hold written as ⟨U+0000⟩."""
    if text.isascii() and "\0" not in text:
        return text
    return UNSTORABLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def timestamp(at: datetime) -> str:
    """`at` in UTC with microseconds. Raises ValueError when its zone is missing."""
    if at.tzinfo is None:
        raise ValueError("A time in the ledger needs its zone.")
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def payload_commitment(salt: bytes, body: bytes) -> str:
    """What the row says about its payload. Without the salt it can't be guessed back."""
    return hashlib.sha256(salt + body).hexdigest()


def artifact_text(artifact: Artifact) -> str:
    """`stored` of its fields."""
    return (
        f'{{"external_id":{quoted(artifact.external_id)},"kind":{quoted(artifact.kind)},'
        f'"provider":{quoted(artifact.provider)},"url":{quoted(artifact.url)}}}'
    )


def artifact_digest(artifact: Artifact) -> str:
    return text_digest(artifact_text(artifact))


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def artifacts_digest(digests: Sequence[str]) -> str:
    """One digest over the digests of all artifacts, in order; empty when there are none."""
    return hashlib.sha256(canonical_bytes(list(digests))).hexdigest() if digests else ""


def tenant_key(ledger_key: str, tenant_id: UUID) -> bytes:
    return hmac.digest(ledger_key.encode(), b"tenant\0" + tenant_id.bytes, "sha256")


def keyed(key: bytes, text: str) -> str:
    """A digest of a provider's id: equal ids are found, the id itself isn't readable."""
    return hmac.digest(key, b"id\0" + text.encode(), "sha256").hex() if text else ""


def envelope_mac(key: bytes, envelope: Mapping[str, object]) -> str:
    """Binds every supplied column of a row: without the key an altered row is found."""
    return row_mac(key, flat(envelope))


def row_mac(key: bytes, text: str) -> str:
    return hmac.digest(key, b"row\0" + text.encode(), "sha256").hex()


def flat_of(names: Sequence[str]) -> Callable[[Iterable[str | int | None]], str]:
    """`flat` for rows of these columns alone, in their order, from their values: faster."""
    form = "{" + ",".join([f'"{name}":%s' for name in names]) + "}"

    def text(values: Iterable[str | int | None]) -> str:
        return form % tuple(
            [
                encode_basestring(one) if type(one) is str else "null" if one is None else one
                for one in values
            ]
        )

    return text


# The columns of a row are storable text, numbers below 2^53, uuids, times and None, and have
# plain names. Of these the encoder of the standard library makes canonical JSON too, and faster.
flat = JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=storable
).encode
