"""Who is known to send alerts here: the list that ships with Remit, and the operator's own."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error

from guardrails.facts import senders
from guardrails.facts.senders import Sender


def known_senders() -> Mapping[str, Sender]:
    """Both lists; the operator's own says more of a sender that is in both."""
    return _read(settings.SECURITY_SENDERS_FILE)


def can_be_read(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """guardrails.E001 where SECURITY_SENDERS_FILE is no list of senders."""
    try:
        known_senders()
    except (OSError, ValueError) as error:
        sentence = f"SECURITY_SENDERS_FILE cannot be read: {error}"
        return [Error(sentence, id="guardrails.E001")]
    return []


@lru_cache(maxsize=8)
def _read(path: str) -> Mapping[str, Sender]:
    if not path:
        return senders.SHIPPED
    return {**senders.SHIPPED, **senders.read(Path(path).read_text("utf-8"))}
