"""A browser that subscribes, and reads what a push service hands on to it: the other side of RFC
8291."""

import json
import os
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt
from joserfc.jwk import ECKey

from integrations.network.web_push import from_text, to_text

CURVE = ec.SECP256R1()


@dataclass(frozen=True)
class Browser:
    """It alone has the private key; the push service has neither this nor the secret."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    secret: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def point(self) -> bytes:
        public = self.key.public_key()
        return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def subscription(self) -> str:
        keys = {"p256dh": to_text(self.point), "auth": to_text(self.secret)}
        return json.dumps({"endpoint": self.endpoint, "expirationTime": None, "keys": keys})

    def read(self, body: bytes) -> Any:
        salt, size, theirs, record = body[:16], body[16:20], body[21:86], body[86:]
        assert (int.from_bytes(size), body[20], len(body) <= 4096) == (4096, 65, True)
        shared = self.key.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, theirs)
        )
        info = b"WebPush: info\0" + self.point + theirs
        secret = HKDF(SHA256(), 32, self.secret, info).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(secret)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(secret)
        plain = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert plain.endswith(b"\2")
        return json.loads(plain[:-1])


def signed(head: str, *, public_key: str) -> dict[str, Any]:
    """What the sender signed, where it is the one whose key browsers were given."""
    kind, _, rest = head.partition(" ")
    said = dict(part.split("=", 1) for part in rest.split(", "))
    assert (kind, said["k"]) == ("vapid", public_key)
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, from_text(said["k"]))
    token = jwt.decode(said["t"], ECKey.import_key(key), algorithms=["ES256"])
    return dict(token.claims)
