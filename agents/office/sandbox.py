"""The demo's other side: the control API of the local sandbox data service.

Nothing of it exists for a real data service, and no agent has a way here: it is what a
person does to try Remit out, such as letting a mail arrive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from integrations.network import http
from integrations.providers.data_service.session import segment

IN_CAPITALS = {"fyi": "FYI"}


@dataclass(frozen=True, kw_only=True)
class ScriptedMail:
    """A mail that the sandbox can let arrive, and what it is for."""

    name: str
    about: str

    @property
    def called(self) -> str:
        """Its name as words."""
        return " ".join(IN_CAPITALS.get(word, word) for word in self.name.split("_"))


def is_sandbox(slug: str) -> bool:
    """Whether this organisation's data service is the sandbox on this machine."""
    return (
        settings.DATA_SERVICES.get(slug) == f"{_origin()}/v1/data"
        and slug in settings.DATA_SERVICE_KEYS
    )


def scripted_mails(slug: str) -> tuple[ScriptedMail, ...]:
    """What can be delivered. Raises ProviderError."""
    answer = _control(slug, "GET", "/incoming")
    return tuple(
        ScriptedMail(name=script["name"], about=script["about"]) for script in answer["items"]
    )


def deliver(slug: str, *, external_user_id: str, name: str) -> dict[str, Any]:
    """Let one scripted mail arrive, and give it as it was sent. Raises ProviderError."""
    path = f"/users/{segment(external_user_id)}/deliver/{segment(name)}"
    email: dict[str, Any] = _control(slug, "POST", path)
    return email


def add_user(slug: str, *, external_user_id: str, address: str, name: str) -> None:
    """Give the office one more user, with an empty mailbox. Again changes nothing."""
    path = f"/users/{segment(external_user_id)}"
    _control(slug, "POST", path, {"address": address, "name": name})


def add_mails(slug: str, *, external_user_id: str, mails: Sequence[Mapping[str, Any]]) -> int:
    """Put mails into a user's mailbox without webhooks, and say how many are new. A mail
    whose id is there changes nothing. Raises ProviderError."""
    path = f"/users/{segment(external_user_id)}/emails"
    answer = _control(slug, "POST", path, {"items": list(mails), "notify": False})
    return int(answer["added"])


def _origin() -> str:
    return f"http://127.0.0.1:{settings.SANDBOX_PORT}"


def _control(slug: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    control = http.client(f"{_origin()}/sandbox", settings.DATA_SERVICE_KEYS[slug])
    return http.request(control, method, path, body=body)
