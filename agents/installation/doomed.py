"""One action, carried out in a process of its own so that a trial can kill it in the middle.

What to do comes as a line of JSON on the standard input, from `agents.installation.acting`.
"""

import json
import sys
from uuid import UUID

from django.conf import settings

from guardrails.contracts import ActionRequest, Origin
from guardrails.execute.executor import execute
from integrations.models import Account

PROGRAM = """
import os
import django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
from agents.installation import doomed
doomed.main()
"""


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
