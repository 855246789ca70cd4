"""The secrets that `make run` makes once for this machine."""

import base64
import os
import secrets
from pathlib import Path

from config import state

NAMES = ("SECRET_KEY", "LEDGER_KEY", "DATA_SERVICE_KEYS", "WEBHOOK_SECRETS", "OPERATOR_PASSWORD")


def load(path: Path) -> dict[str, str]:
    """The secrets by name: from the environment, else from the file, made if it is missing.

    Raises StateError if the file cannot be made.
    """
    if not path.exists():
        # 24 bytes, as Standard Webhooks asks; no padding, which would read as a separator.
        signing = base64.b64encode(secrets.token_bytes(24)).decode()
        made = {
            "SECRET_KEY": secrets.token_urlsafe(64),
            "LEDGER_KEY": secrets.token_urlsafe(64),
            "DATA_SERVICE_KEYS": f"default={secrets.token_urlsafe(32)}",
            "WEBHOOK_SECRETS": f"default=whsec_{signing}",
            "OPERATOR_PASSWORD": secrets.token_urlsafe(12),
        }
        text = "".join(f"{name}={value}\n" for name, value in made.items())
        state.write_private(path, text, replace=False)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise state.StateError(
            f"Cannot read {path}: {error.strerror}. Work as the user that made it, or set "
            "REMIT_STATE_DIR to another folder."
        ) from error
    kept = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name: os.environ.get(name) or kept.get(name, "") for name in NAMES}


def of_default(values: str) -> str:
    """The value for the organisation `default` in a list such as `default=a,other=b`."""
    return dict(pair.split("=", 1) for pair in values.split(",") if "=" in pair).get("default", "")
