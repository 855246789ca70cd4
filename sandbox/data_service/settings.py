"""How one sandbox is set up, from the environment or from a test."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


class SettingsError(ValueError):
    """The sandbox cannot start as it is set up. The message says what to change."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One sandbox. Without `webhook_url` no webhook is recorded or sent.

    `state` is the path of the SQLite file or ":memory:"; `with_office` loads the demo office
    into an empty state; `retry_seconds` is the first pause before a webhook is tried again
    (it doubles up to 15 s).
    """

    key: str
    state: str = ":memory:"
    webhook_url: str = ""
    webhook_secret: str = ""
    with_office: bool = True
    retry_seconds: float = 0.25

    def __post_init__(self) -> None:
        if not self.key:
            raise SettingsError("Set DATA_SERVICE_KEY: the token that clients must send.")
        if not self.webhook_url:
            return
        address = urlsplit(self.webhook_url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise SettingsError("WEBHOOK_URL must be like http://127.0.0.1:8000/webhooks.")
        try:
            secret = base64.b64decode(self.webhook_secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            secret = b""
        if not secret or not self.webhook_secret.startswith("whsec_"):
            raise SettingsError("Set WEBHOOK_SECRET to whsec_ followed by a base64 secret.")


def settings_from(environ: Mapping[str, str]) -> tuple[Settings, int]:
    """The settings and the port that the environment asks for. Raises SettingsError."""
    port_text = environ.get("SANDBOX_PORT", "8010")
    if not port_text.isdecimal() or not 0 < int(port_text) < 65536:
        raise SettingsError(f"SANDBOX_PORT must be a port from 1 to 65535, not {port_text!r}.")
    settings = Settings(
        key=environ.get("DATA_SERVICE_KEY", ""),
        state=environ.get("SANDBOX_STATE", ":memory:"),
        webhook_url=environ.get("WEBHOOK_URL", "").rstrip("/"),
        webhook_secret=environ.get("WEBHOOK_SECRET", ""),
    )
    return settings, int(port_text)
