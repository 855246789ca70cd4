"""The secrets that `make run` makes once for this machine, and which program needs which."""

import base64
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from config.local import state


def _signing_secret() -> str:
    # 24 bytes, as Standard Webhooks asks; their base64 needs no padding.
    return f"default=whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"


def make_push_key() -> str:
    """A private key for Web Push, as browsers' tools write it: 32 bytes as base64url."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return _to_text(number.to_bytes(32))


MAKERS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(64),
    "LEDGER_KEY": lambda: secrets.token_urlsafe(64),
    "LEDGER_SIGNING_KEY": lambda: base64.b64encode(secrets.token_bytes(32)).decode(),
    "CREDENTIALS_PRIVATE_KEY": lambda: base64.b64encode(secrets.token_bytes(32)).decode(),
    "VAPID_PRIVATE_KEY": make_push_key,
    "DATA_SERVICE_KEYS": lambda: f"default={secrets.token_urlsafe(32)}",
    "WEBHOOK_SECRETS": _signing_secret,
    "OPERATOR_PASSWORD": lambda: secrets.token_urlsafe(12),
}

# What each program of `make run` is given, and what each service should be given elsewhere. A
# secret that is not named for a program does not reach its environment.
_DATABASE = frozenset({"DATABASE_URL", "DATABASE_DIRECT_URL"})
_LEDGER = _DATABASE | {"LEDGER_KEY", "LEDGER_VAULT_KEY", "LEDGER_VAULT_KEY_BEFORE"}
_ACTS = _LEDGER | {
    *("SECRET_KEY", "REDIS_URL", "DATA_SERVICE_KEYS", "OPENAI_API_KEY", "MODEL_PROVIDER_KEYS"),
    *("OTEL_EXPORTER_OTLP_HEADERS", "GOOGLE_CLIENT_SECRET"),
    "MICROSOFT_CLIENT_SECRET",
}
# They open the secrets of people's accounts. The web process does not.
_OPENS = frozenset({"CREDENTIALS_PRIVATE_KEY", "CREDENTIALS_PRIVATE_KEY_BEFORE"})
NEEDS: dict[str, frozenset[str]] = {
    "web": _ACTS
    | {"WEBHOOK_SECRETS", "EMAIL_URL", "METRICS_TOKEN", "OIDC_CLIENT_SECRET"}
    | {"DATABASE_REPLICA_URL"},
    "cluster": _ACTS | _OPENS | {"SYNC_CALLBACK_SECRETS", "EMAIL_URL", "VAPID_PRIVATE_KEY"},
    "turns": _ACTS | _OPENS,
    "sealer": _DATABASE | {"LEDGER_KEY", "LEDGER_SIGNING_KEY"},
    "migrate": _DATABASE,
    "load_demo": _LEDGER | {"SECRET_KEY", "DATA_SERVICE_KEYS", "OPERATOR_PASSWORD"},
    "first_sync": _DATABASE | {"SECRET_KEY"},
}
ALL = frozenset(MAKERS).union(*NEEDS.values())


def load(path: Path) -> dict[str, str]:
    """The secrets by name: from the environment, else from the file.

    What the file lacks is made and added; what it has stays. Raises StateError if the file
    cannot be read or written.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except OSError as error:
        raise state.StateError(
            f"Cannot read {path}: {error.strerror}. Work as the user that made it, or set "
            "REMIT_STATE_DIR to another folder."
        ) from error
    stored = dict(line.split("=", 1) for line in lines if "=" in line)
    missing = {name: make() for name, make in MAKERS.items() if not stored.get(name)}
    if missing:
        added = [f"{name}={value}" for name, value in missing.items()]
        state.write_private(path, "\n".join([*lines, *added, ""]))
    return {name: os.environ.get(name) or {**stored, **missing}[name] for name in MAKERS}


def public_half(private: str) -> str:
    """The public key of CREDENTIALS_PRIVATE_KEY, which every process may know."""
    key = X25519PrivateKey.from_private_bytes(base64.b64decode(private)).public_key()
    return base64.b64encode(key.public_bytes_raw()).decode()


def push_public_half(private: str) -> str:
    """The public key of VAPID_PRIVATE_KEY, which browsers are given. Raises ValueError."""
    number = int.from_bytes(base64.urlsafe_b64decode(private + "=" * (-len(private) % 4)))
    key = ec.derive_private_key(number, ec.SECP256R1()).public_key()
    return _to_text(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def _to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def find_wrong_push_pair(public: str, private: str, *, sends: bool) -> str:
    """Why the two VAPID keys are no pair, and what to do; empty if they are, or if there is none.
    The process that `sends` needs both halves."""
    make = "Make a pair with: manage.py make_push_keys"
    if public and sends and not private:
        return f"VAPID_PUBLIC_KEY is set, and VAPID_PRIVATE_KEY is not. {make}"
    try:
        if public and private and push_public_half(private) != public:
            return f"VAPID_PUBLIC_KEY is not of VAPID_PRIVATE_KEY. {make}"
    except ValueError:
        return f"VAPID_PRIVATE_KEY is no base64url of 32 bytes. {make}"
    return ""


def find_wrong_pair(public: str, private: str, *, opens: bool) -> str:
    """Why the two CREDENTIALS keys are no pair, and what to do; empty if they are, or if there is
    none. A process that `opens` people's accounts needs both halves."""
    make = "Make a pair with: manage.py make_credential_keys"
    if public and opens and not private:
        return f"CREDENTIALS_PUBLIC_KEY is set, and CREDENTIALS_PRIVATE_KEY is not. {make}"
    try:
        if public and private and public_half(private) != public:
            return f"CREDENTIALS_PUBLIC_KEY is not of CREDENTIALS_PRIVATE_KEY. {make}"
        if (public and len(base64.b64decode(public, validate=True)) != 32) or (
            private and not public_half(private)
        ):
            return f"CREDENTIALS_PUBLIC_KEY is no key. {make}"
    except ValueError:
        return f"One of the CREDENTIALS keys is no base64 of 32 bytes. {make}"
    return ""


def find_unreadable(webhook_secrets: Mapping[str, str]) -> list[str]:
    """The organisations whose secret for webhooks no signature could ever be held against."""
    found = []
    for slug, secret in webhook_secrets.items():
        try:
            base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            found.append(slug)
    return found


def of_default(values: str) -> str:
    """The value for the organisation `default` in a list such as `default=a,other=b`."""
    return dict(pair.split("=", 1) for pair in values.split(",") if "=" in pair).get("default", "")
