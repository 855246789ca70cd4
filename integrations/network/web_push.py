"""Web Push: a message to one browser, by way of the push service that the browser named.

The service learns that there is a message, and when, but not what it says: it is encrypted for
that browser (RFC 8291), and signed by this installation (RFC 8292). A browser sends us the
service's address, so it is a stranger's word and guarded like all of them (`outgoing`).

`cryptography` and `joserfc` have every part. The libraries that put them together were looked at:
http-ece comes as a source package alone, which would be built where it is installed; pywebpush
brings two HTTP clients; webpush leaves the port out of the origin that it signs.
"""

import base64
import binascii
import hashlib
import json
import os
import struct
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from joserfc import jwt
from joserfc.jwk import ECKey

from integrations.exceptions import NotPermitted
from integrations.network import http, outgoing, strict_json

CURVE = ec.SECP256R1()
RECORD = 4096  # RFC 8030: what every push service takes
MOST = RECORD - 86 - 17  # bytes of a message: without header, tag and delimiter
SALT_BYTES = SECRET_BYTES = 16
MOST_ADDRESS = 2_000
SIGNED_FOR = timedelta(hours=12)  # RFC 8292: a day at most
NO_SUBSCRIPTION = "This is not what a browser says when it subscribes."


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """What a browser subscribed with: who has it can send to that browser."""

    endpoint: str = field(repr=False)
    key: ec.EllipticCurvePublicKey = field(repr=False)
    secret: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Tells browsers apart, and tells nothing: the address cannot be guessed."""
        return hashlib.sha256(self.endpoint.encode()).hexdigest()


def read(text: str) -> Subscription:
    """A `PushSubscription` as JSON. Raises outgoing.Forbidden with a sentence."""
    try:
        said = strict_json.load_object(text)
        endpoint, keys = said["endpoint"], said["keys"]
        point, secret = from_text(keys["p256dh"]), from_text(keys["auth"])
        key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise outgoing.Forbidden(NO_SUBSCRIPTION) from error
    if not isinstance(endpoint, str) or len(endpoint) > MOST_ADDRESS or len(secret) != SECRET_BYTES:
        raise outgoing.Forbidden(NO_SUBSCRIPTION)
    outgoing.check_form(endpoint)
    return Subscription(endpoint=endpoint, key=key, secret=secret)


def send(subscription: Subscription, said: Any, *, now: datetime, keep: timedelta) -> None:
    """One message, which the service keeps so long for a browser that is away. Raises
    ProviderError: NotFound where the browser is subscribed no more, NotPermitted without a key."""
    body = encrypt(
        json.dumps(said, ensure_ascii=False).encode(),
        subscription,
        own=ec.generate_private_key(CURVE),
        salt=os.urandom(SALT_BYTES),
    )
    headers = {
        "Authorization": authorization(subscription.endpoint, now=now),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(keep.total_seconds())),
        "Urgency": "high",
    }
    address = outgoing.public_address(subscription.endpoint)
    http.post(subscription.endpoint, body=body, headers=headers, address=address)


def encrypt(
    message: bytes, subscription: Subscription, *, own: ec.EllipticCurvePrivateKey, salt: bytes
) -> bytes:
    """One record of RFC 8188 under the keys of RFC 8291. `own` and `salt` are for this one message
    alone. Raises ValueError for more than MOST bytes."""
    if len(message) > MOST:
        raise ValueError(f"a message has {MOST} bytes at most")
    theirs, ours = _point(subscription.key), _point(own.public_key())
    shared = own.exchange(ec.ECDH(), subscription.key)
    secret = _derive(shared, subscription.secret, b"WebPush: info\0" + theirs + ours, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack("!LB", RECORD, len(ours)) + ours
    return header + AESGCM(key).encrypt(nonce, message + b"\2", None)  # 2: the last record


def authorization(endpoint: str, *, now: datetime) -> str:
    """Who sends, signed for this push service alone. Raises NotPermitted without a key."""
    try:
        private = private_key(settings.VAPID_PRIVATE_KEY)
    except ValueError as error:
        raise NotPermitted("this process has no key to sign with") from error
    parts = urlsplit(endpoint)
    is_reachable = settings.PUBLIC_URL.startswith("https://")
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int((now + SIGNED_FOR).timestamp()),
        "sub": settings.PUBLIC_URL if is_reachable else f"mailto:{settings.DEFAULT_FROM_EMAIL}",
    }
    token = jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, ECKey.import_key(private))
    return f"vapid t={token}, k={to_text(_point(private.public_key()))}"


def make_keys() -> tuple[str, str]:
    """A new public and private key, as settings hold them."""
    private = ec.generate_private_key(CURVE)
    number = private.private_numbers().private_value
    return to_text(_point(private.public_key())), to_text(number.to_bytes(32))


def private_key(text: str) -> ec.EllipticCurvePrivateKey:
    """From the base64url that settings hold. Raises ValueError."""
    return ec.derive_private_key(int.from_bytes(from_text(text)), CURVE)


def to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """From base64url, with or without its padding. Raises ValueError."""
    try:
        plain = text.rstrip("=").encode("ascii")
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("this is no base64url") from error


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
