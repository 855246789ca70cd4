"""Chat turns that wait for a process, and a process of the product that runs them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from django.conf import settings

from agents.turns import opening
from config.local import state
from integrations.models import Account, Organisation
from tests.program import own_database

ORCHESTRATOR = "You are Remit's orchestrator."


def turn_of(
    organisation: Organisation,
    *,
    queued: bool = True,
    message: str = "Hello",
    session: UUID | None = None,
) -> UUID:
    """A turn of Maya's, in this conversation or in a new one."""
    Account.objects.get_or_create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )
    return opening.start_turn(
        organisation_id=organisation.id,
        external_user_id="maya",
        conversation_id=session,
        message=message,
        decisions=[],
        principal="test",
        queued=queued,
    )


@contextmanager
def running_turns(log: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """`manage.py run_turns` on this test's database and model, killed at the end."""
    environment = {
        **own_database(),
        "OPENAI_BASE_URL": settings.OPENAI_BASE_URL,
        "OPENAI_API_KEY": "scripted",
        "CHAT_MODEL": settings.CHAT_MODEL,
        "REMIT_PROCESS": "turns",
        **variables,
    }
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [sys.executable, "manage.py", "run_turns"],
            cwd=state.PROJECT_DIR,
            env=os.environ | environment,
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
