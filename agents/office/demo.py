"""The demo office as Remit sees it: whose accounts there are and what their agents may do.

Made once, in one transaction. What operators change afterwards stays as they changed it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import resources
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from guardrails.actions import registry
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    LearnedPattern,
    PatternAction,
    Skill,
    TargetGroup,
)
from guardrails.policies import changes, presets
from guardrails.policies.changes import Author
from guardrails.policies.thread_states import FOLLOW_UP, THREAD_STATUS
from integrations.contracts import Named
from integrations.models import Account, Organisation

SLUG = "default"
# Tells the demo's organisation from somebody's own one of the same slug.
ORGANISATION_ID = UUID("6a1f6d3e-8f0c-4c1b-9f7e-de3000ff1ce0")
REPLAY_USER = "replay"


class NotTheDemo(Exception):
    """The organisation `default` is somebody's own: the demo stays out of it."""


@dataclass(frozen=True, kw_only=True)
class DemoAction:
    action_type: str
    mode: str
    conditions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Resident:
    """One user of the office with their policy."""

    user_id: str
    name: str
    address: str
    sources: tuple[str, ...]
    allowed_actions: tuple[DemoAction, ...]
    labels: tuple[str, ...] | None = None  # by name; None: every label of the office
    domains: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # drive folders, by id
    time_zone: str = "Europe/Stockholm"


RESIDENTS = (
    Resident(
        user_id="maya",
        name="Maya Lindqvist",
        address="maya@company.com",
        sources=("gmail", "gdrive", "calendar", "jira", "github", "slack"),
        allowed_actions=(
            DemoAction(action_type="archive", mode="auto"),
            DemoAction(action_type="classify", mode="auto"),
            DemoAction(action_type="draft", mode="auto"),
            DemoAction(action_type="send_email", mode="ask"),
            DemoAction(action_type="create_jira_task", mode="ask"),
            DemoAction(action_type="create_calendar_event", mode="ask"),
            DemoAction(action_type="create_document", mode="auto"),
            DemoAction(action_type="move_document", mode="auto"),
        ),
        domains=("company.com", "client.com"),
        projects=("PROJ",),
        folders=("drive_meetings", "drive_research"),
    ),
    Resident(
        user_id="omar",
        name="Omar Haddad",
        address="omar@company.com",
        sources=("gmail", "gdrive", "calendar", "jira", "github", "outlook", "slack"),
        allowed_actions=(
            DemoAction(
                action_type="classify",
                mode="auto",
                conditions=[{"kind": "sender", "domains": ["company.com"]}],
            ),
            DemoAction(
                action_type="draft",
                mode="ask",
                conditions=[
                    {"kind": "sender_authenticated"},
                    {"kind": "business_hours", "zone": "Europe/Stockholm"},
                ],
            ),
        ),
        labels=THREAD_STATUS,
    ),
    Resident(
        user_id=REPLAY_USER,
        name="Replay",
        address="replay@example.org",
        sources=("gmail",),
        allowed_actions=(
            DemoAction(action_type="archive", mode="auto"),
            DemoAction(action_type="classify", mode="auto"),
            DemoAction(action_type="draft", mode="auto"),
        ),
        time_zone="UTC",
    ),
)

MEETING_REQUESTS = """\
When somebody asks for a meeting:
1. Find out how long it takes and who must be there. If the mail does not say, ask.
2. Look in the calendar for the next five working days, between 09:00 and 16:30.
3. Draft a reply that offers two times on different days, each with its time zone.
4. Label the thread “Awaiting Reply”. Never send the reply yourself.
"""
INVOICES = """\
When a mail holds an invoice:
1. Label it “Invoices”.
2. Note who sends it, the number, the amount with its currency and the date it is due.
3. If a bank account differs from the one on earlier invoices of the same sender, say so first.
4. Never pay, confirm or forward an invoice. Leave that to the person.
"""


def load() -> bool:
    """Make the demo organisation with its accounts, limits, patterns and skills.

    False when it is there already: then nothing is touched. Raises NotTheDemo.
    """
    with transaction.atomic():
        organisation, created = Organisation.objects.get_or_create(
            slug=SLUG, defaults={"id": ORGANISATION_ID, "name": "Demo office"}
        )
        if organisation.id != ORGANISATION_ID:
            raise NotTheDemo
        if created:
            office = _office()
            for resident in RESIDENTS:
                _settle(organisation, resident, office)
            _teach(organisation.accounts.get(external_user_id="maya", source="gmail"), office)
            _write_skills(organisation)
            _write_history(organisation)
    return created


def _office() -> dict[str, dict[str, str]]:
    """The office's labels by name, its folders and projects by id: the sandbox's own list."""
    text = resources.files("sandbox").joinpath("office", "people.json").read_text()
    rooms = json.loads(text)
    return {
        "labels": {label["name"]: label["id"] for label in rooms["labels"]},
        "folders": {folder["id"]: folder["name"] for folder in rooms["folders"]},
        "projects": {project["key"]: project["name"] for project in rooms["projects"]},
    }


def _settle(
    organisation: Organisation, resident: Resident, office: Mapping[str, Mapping[str, str]]
) -> None:
    accounts = {
        source: Account.objects.create(
            organisation=organisation,
            external_user_id=resident.user_id,
            source=source,
            address=resident.address,
            display_name=resident.name,
            time_zone=resident.time_zone,
        )
        for source in resident.sources
    }
    for allowed in resident.allowed_actions:
        AllowedAction.objects.create(
            account=_account_for(allowed.action_type, accounts),
            action_type=allowed.action_type,
            approval_mode=allowed.mode,
            conditions=allowed.conditions,
        )
    labels = resident.labels if resident.labels is not None else tuple(office["labels"])
    _list_labels(accounts["gmail"], {name: office["labels"][name] for name in labels})
    for domain in resident.domains:
        for action_type in ("send_email", "draft", "create_calendar_event"):
            account = _account_for(action_type, accounts)
            _list(account, action_type, "recipient_domain", domain, f"Anyone at {domain}")
    for key in resident.projects:
        _list(accounts["jira"], "create_jira_task", "project", key, office["projects"][key])
    for folder in resident.folders:
        for action_type in ("create_document", "move_document"):
            _list(accounts["gdrive"], action_type, "folder", folder, office["folders"][folder])


def _account_for(action_type: str, accounts: Mapping[str, Account]) -> Account:
    action = registry.BY_NAME[action_type]
    return next(one for name, one in accounts.items() if action.works_on(name))


def _list_labels(account: Account, labels: Mapping[str, str]) -> None:
    """The labels as targets: the thread status one at a time, all others side by side."""
    presets.thread_status(
        account_id=account.id, labels=[Named(id=id, name=name) for name, id in labels.items()]
    )
    topics = TargetGroup.objects.create(
        account=account, name="Topics", cardinality=TargetGroup.Cardinality.MULTI
    )
    for name, id in labels.items():
        if name not in (*THREAD_STATUS, FOLLOW_UP):
            _list(account, "classify", "label", id, name, topics)


def _list(
    account: Account,
    action_type: str,
    kind: str,
    external_id: str,
    name: str,
    group: TargetGroup | None = None,
) -> None:
    AllowedActionOption.objects.create(
        account=account,
        action_type=action_type,
        source=account.source,
        kind=kind,
        external_id=external_id,
        name=name,
        group=group,
    )


def _teach(mailbox: Account, office: Mapping[str, Mapping[str, str]]) -> None:
    """One pattern that acts and one that waits for somebody to approve it."""
    labels = office["labels"]
    weekly = LearnedPattern.objects.create(
        account=mailbox,
        name="Product Weekly",
        list_id="<weekly.productweekly.example>",
        reason="Maya filed the last four issues under Newsletter and archived them.",
        state=LearnedPattern.State.APPROVED,
        approved_by="operator",
        approved_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=settings.PATTERN_DAYS),
    )
    _do(weekly, [("classify", {"label_id": labels["Newsletter"]}), ("archive", {})])
    invoices = LearnedPattern.objects.create(
        account=mailbox,
        name="CloudNest invoices",
        sender_address="billing@cloudnest.example",
        subject="Your CloudNest invoice CN-88412 is ready",
        reason="Maya filed the last two invoices of CloudNest under Invoices.",
    )
    _do(invoices, [("classify", {"label_id": labels["Invoices"]})])


def _do(pattern: LearnedPattern, actions: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for order, (action_type, arguments) in enumerate(actions):
        PatternAction.objects.create(
            pattern=pattern, order=order, action_type=action_type, arguments=arguments
        )


def _write_skills(organisation: Organisation) -> None:
    Skill.objects.create(
        organisation=organisation,
        name="meeting-requests",
        description="Meeting requests: how to answer a mail that asks for a meeting.",
        content=MEETING_REQUESTS,
    )
    Skill.objects.create(
        organisation=organisation,
        name="invoices",
        description="Invoices: what to do with a mail that holds an invoice.",
        content=INVOICES,
    )


def _write_history(organisation: Organisation) -> None:
    """The demo's policy came through a door too."""
    author = Author(name="load_demo", door="load_demo")
    changes.record_made(Skill.objects.filter(organisation=organisation), author=author)
    for model in (TargetGroup, AllowedAction, AllowedActionOption, LearnedPattern):
        rows = model._default_manager.filter(account__organisation=organisation)
        changes.record_made(rows.select_related("account"), author=author)
