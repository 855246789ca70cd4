"""Steps that stories share."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute import executor
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
