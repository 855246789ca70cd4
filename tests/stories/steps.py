"""Steps that stories share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ

from agents import tasks
from agents.models import Turn
from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute import executor
from integrations.models import Delivery, Outage, ServiceToken
from knowledge.models import SyncSource
from tests.model_server import Script, ScriptedModel, scripted_model
from tests.office import Office


@contextmanager
def scripted(script: Script) -> Iterator[ScriptedModel]:
    """A scripted model in the place of the office's offline one, while the block lasts."""
    before = settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL
    try:
        with scripted_model(settings, script) as model:
            yield model
    finally:
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = before


def queue_again() -> None:
    """What the cluster does after a crash, without waiting for leases to run out, or for its
    tasks, which are locked for minutes."""
    ago = timezone.now() - timedelta(seconds=1)
    for model in (Delivery, SyncSource, Turn):
        rows = model.objects.filter(state__in=["queued", "running"])
        rows.update(lease_expires_at=ago)
    Outage.objects.update(due_at=ago)
    OrmQ.objects.all().delete()
    tasks.sweep()


def take_up_again(office: Office) -> None:
    """The same, and all of it is worked off; also what had to be tried again."""
    for _ in range(2):
        queue_again()
        office.drain()


def classify(office: Office, email_id: str, label_id: str) -> ActionResult:
    """Label a mail for Maya, as her chat would."""
    return executor.execute(
        ActionRequest(
            action_id=uuid7(),
            account=office.account("maya", "gmail"),
            action_type="classify",
            arguments={"email_id": email_id, "label_id": label_id},
            origin=Origin(trigger="chat"),
        )
    )


class Frontend:
    """Maya's frontend: what she does there, each time with a scripted model behind Remit."""

    def __init__(self, office: Office, *scopes: str) -> None:
        given = list(scopes or ("chat", "approvals"))
        token = ServiceToken.issue(organisation=office.organisation, name="web", scopes=given)[1]
        self.address = f"{office.origin}/api/v1"
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any) -> dict[str, Any]:
        address = f"{self.address}{path}"
        answer = httpx.request(method, address, json=body, headers=self.headers, timeout=60)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def prefer(self, **changes: Any) -> None:
        self.ask("PATCH", "/preferences?user_id=maya", changes)

    def say(self, script: Script, **more: Any) -> tuple[dict[str, Any], ScriptedModel]:
        body = {"user_id": "maya", "message": "Look into it."} | more
        with scripted(script) as model:
            return self.ask("POST", "/chat", body), model
