"""One action, carried out in a process of its own so that a trial can kill it in the middle. What
to do comes to it as a line of JSON on the standard input."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from django.conf import settings
from django.db import connection

from agents.installation.office import Site
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute.executor import execute
from integrations.models import Account

SECRETS = ("SECRET_KEY", "LEDGER_KEY", "LEDGER_VAULT_KEY")
PROGRAM = """
import os
import django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
from agents.installation import doomed
doomed.main()
"""


@contextmanager
def started(site: Site, request: ActionRequest) -> Iterator[subprocess.Popen[str]]:
    """The process, at work on the request. It is killed at the end of the block at the latest."""
    given = {
        "account_id": str(request.account.id),
        "action_id": str(request.action_id),
        "action_type": request.action_type,
        "arguments": dict(request.arguments),
        "origin": {"trigger": "chat", "turn_id": request.origin.turn_id, "agent": "trial"},
        "url": site.url,
        "key": site.key,
    }
    database = urlsplit(settings.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}")
    # As this process was given them, from wherever.
    own = {name: str(value) for name in SECRETS if (value := getattr(settings, name, ""))}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=settings.BASE_DIR,
        env=os.environ | own | {"DATABASE_URL": urlunsplit(database)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            if process.stdin:
                process.stdin.write(json.dumps(given) + "\n")
                process.stdin.flush()
            yield process
        finally:
            process.kill()


def main() -> None:
    given = json.loads(sys.stdin.readline())
    account = Account.objects.select_related("organisation").get(id=given["account_id"])
    settings.DATA_SERVICES = {account.organisation.slug: given["url"]}
    settings.DATA_SERVICE_KEYS = {account.organisation.slug: given["key"]}
    execute(
        ActionRequest(
            action_id=UUID(given["action_id"]),
            account=account.ref(),
            action_type=given["action_type"],
            arguments=given["arguments"],
            origin=Origin(**given["origin"]),
        )
    )
