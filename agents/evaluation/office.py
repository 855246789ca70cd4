"""The office that tasks are played in: an organisation of its own, its users' accounts read in
from the sandbox, and policies from the suite."""

import io
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from agents.evaluation.sandbox import SOURCES
from agents.evaluation.tasks import Head, User
from guardrails.decide.policy_file import PolicyFile
from guardrails.policies import files
from guardrails.policies.changes import Author
from integrations.models import Account, Organisation, ServiceToken
from integrations.ports.registry import BY_SOURCE
from knowledge.ingest import ingest
from knowledge.models import Item

SLUG = "evaluation"
AUTHOR = Author(name="evaluation", door="command")


def found(head: Head, *, policy: str) -> None:
    """Make the organisation in the empty database that is in use, read its accounts in, and seal
    what that wrote: nothing may wait for its seal while tasks are played."""
    with connection.cursor() as cursor:
        # What arrives is recorded in the month in which it came, here maybe one of the past.
        cursor.execute("SELECT audit_make_month(%s)", [timezone.now().date()])
    organisation = Organisation.objects.create(slug=SLUG, name="Evaluation")
    for user in head.users:
        for source in user.sources:
            account = Account.objects.create(
                organisation=organisation,
                external_user_id=user.id,
                source=source,
                address=user.address,
                display_name=user.name,
                time_zone=user.time_zone,
            )
            call_command(
                "first_sync", account=account.id, inline=True, stdout=io.StringIO(), verbosity=0
            )
    permit(head.policies[policy])
    with override_settings(LEDGER_SIGNING_KEY=b64encode(os.urandom(32)).decode()):
        call_command("seal_ledger", once=True, stdout=io.StringIO())


def permit(policies: Mapping[str, Mapping[str, PolicyFile]]) -> None:
    """Let the accounts do what these policies say, by user and source, and nothing else."""
    for account in Account.objects.filter(organisation__slug=SLUG):
        given = policies.get(account.external_user_id, {}).get(account.source)
        whole = (given or PolicyFile(version=1)).model_dump()
        sections = {name: whole[name] or [] for name in ("allowed_actions", "groups", "targets")}
        files.apply(account, PolicyFile(version=1, **sections), author=AUTHOR)


def token() -> str:
    """A token for the chat API, good for every user of the office."""
    organisation = Organisation.objects.get(slug=SLUG)
    return ServiceToken.issue(
        organisation=organisation, name="evaluation", scopes=["chat", "approvals"]
    )[1]


def take_in(user: User, collection: str, objects: Sequence[Mapping[str, Any]]) -> None:
    """Read in what was put into the user's rooms, as a sync does, so that no turn starts."""
    source = SOURCES.get(collection)
    if source is None:
        return
    account = Account.objects.select_related("organisation").get(
        organisation__slug=SLUG, external_user_id=user.id, source=source
    )
    for one in objects:
        item = BY_SOURCE[account.ref().source].item_type.model_validate(one)
        ingest.ingest(account=account.ref(), source_id=item.id, item=item, now=timezone.now())


def item_id(user_id: str, provider_id: str) -> str:
    """Under which id Remit shows the user this item; empty where it shows none."""
    rows = Item.objects.filter(
        account__organisation__slug=SLUG,
        account__external_user_id=user_id,
        source_id=provider_id,
    )
    row = rows.values_list("id", flat=True).first()
    return str(row or "")


def provider_ids(ids: Sequence[str]) -> frozenset[str]:
    """What the provider calls the items that Remit shows under these ids."""
    return frozenset(Item.objects.filter(id__in=ids).values_list("source_id", flat=True))
