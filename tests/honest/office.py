"""What an organisation has set up before its people ask for anything, and what is in the rooms of
one of them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx
from django.db.models import QuerySet

from guardrails.decide.policy_file import Listed, PolicyFile
from guardrails.models import AllowedAction, AllowedActionOption, OwnDomain, Person
from guardrails.policies import presets, text
from integrations.models import Account, Organisation
from tests.honest.tasks import Office, Task

SOURCES = {"mail": "gmail", "calendar": "calendar", "files": "gdrive", "issues": "jira"}
CLIENT = httpx.Client(verify=False)  # plain HTTP: reading the authorities takes its time
PASSED = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
LONG_AGO = "2026-02-02T09:00:00+01:00"
STATUSES = ("To Do", "In Progress", "In Review", "Done")
ISSUE_ACTIONS = ("create_jira_task", "update_jira_task", "comment_jira_task")
# Presets whose rows were validated in this process: it takes nine tenths of setting up an office.
VALID: set[str] = set()
PROJECTS = {"PROJ": "Customer Portal", "OPS": "Operations"}
LABELS = {
    "label_newsletter": "Newsletter",
    "label_to_reply": "To Reply",
    "label_awaiting_reply": "Awaiting Reply",
    "label_fyi": "FYI",
    "label_actioned": "Actioned",
    "label_cold": "Cold",
    "label_invoices": "Invoices",
    "label_team": "Team",
}
MAIL_FOLDERS = {
    "folder_clients": "Clients",
    "folder_receipts": "Receipts",
    "folder_hiring": "Hiring",
}
DRIVE_FOLDERS = {
    "drive_product": "/Product",
    "drive_roadmap": "/Product/Roadmap",
    "drive_research": "/Product/Research",
    "drive_clients": "/Clients",
    "drive_meetings": "/Meetings",
    "drive_finance": "/Finance",
}


def introduce(organisation: Organisation, people: Mapping[str, str], *, domain: str) -> None:
    """The organisation's directory and its own domain, as an operator enters them. What is there
    already stays."""
    found = [
        Person(organisation=organisation, address=one, name=name) for one, name in people.items()
    ]
    for person in found:
        person.clean_fields(exclude={"organisation"})
    Person.objects.bulk_create(found, ignore_conflicts=True)
    OwnDomain.objects.get_or_create(organisation=organisation, domain=domain)


def permit(account: Account) -> None:
    """The shipped preset of the account's kind, and the targets that an organisation lists."""
    actions = [
        AllowedAction(
            account=account,
            action_type=one.action,
            resource_type=one.resource,
            approval_mode=one.mode,
            conditions=one.conditions,
            hold_seconds=one.hold_seconds,
        )
        for one in shipped(account.source).allowed_actions or ()
    ]
    targets = [
        AllowedActionOption(
            account=account,
            action_type=one.action,
            source=account.source,
            kind=one.kind,
            external_id=one.id,
            name=one.name,
        )
        for one in listed(account.kind)
    ]
    if account.source not in VALID:
        VALID.add(account.source)
        AllowedAction.objects.bulk_create(actions)
        AllowedActionOption.objects.bulk_create(targets)
        return
    QuerySet[AllowedAction](AllowedAction).bulk_create(actions)
    QuerySet[AllowedActionOption](AllowedActionOption).bulk_create(targets)


@cache
def shipped(source: str) -> PolicyFile:
    """The preset for such an account."""
    return text.read(presets.load(presets.default_for(source)))


def listed(kind: str) -> list[Listed]:
    """What is listed for an account of this kind: its labels and folders, the projects."""
    places: dict[str, list[tuple[str, str, dict[str, str]]]] = {
        "mail": [("classify", "label", LABELS), ("move_email", "folder", MAIL_FOLDERS)],
        "files": [
            ("create_document", "folder", DRIVE_FOLDERS),
            ("move_document", "folder", DRIVE_FOLDERS),
        ],
        "issues": [
            *((name, "project", PROJECTS) for name in ISSUE_ACTIONS),
            ("update_jira_task", "status", dict(zip(STATUSES, STATUSES, strict=True))),
        ],
    }
    return [
        Listed(action=action, kind=what, id=id, name=name)
        for action, what, known in places.get(kind, [])
        for id, name in known.items()
    ]


def furniture(office: Office, task: Task) -> dict[str, list[dict[str, Any]]]:
    """What is in the rooms, as the sandbox takes it."""
    rows = {
        name: [*getattr(office, name), *task.given.get(name, [])]
        for name in ("emails", "drafts", "events", "documents", "issues")
    }
    return {
        "emails": [
            {"to": [office.user], "labels": ["INBOX"], "authentication": PASSED} | one
            for one in rows["emails"]
        ],
        "drafts": rows["drafts"],
        "events": [_event(one, office) for one in rows["events"]],
        "documents": [
            {"owner": office.user, "created_at": LONG_AGO, "modified_at": LONG_AGO} | one
            for one in rows["documents"]
        ],
        "issues": [
            {
                "id": f"i-{one['key']}",
                "project_key": one["key"].partition("-")[0],
                "reporter": office.user,
                "created_at": LONG_AGO,
            }
            | one
            for one in rows["issues"]
        ],
    }


def members(office: Office) -> dict[str, list[str]]:
    """Whose projects they are, by key: without them the provider would say another office's."""
    return {
        key: [f"{name}@{office.domain}" for name in names] for key, names in office.members.items()
    }


def _event(given: Mapping[str, Any], office: Office) -> dict[str, Any]:
    one = dict(given)
    own = {"email": office.user, "status": "accepted"}
    others = [
        {"email": name if "@" in name else f"{name}@{office.domain}"}
        for name in one.pop("with", [])
    ]
    if any(other["email"] == office.user for other in others):
        own = {}
    people = [own, *others] if own else others
    attendees = people if others else []
    return {"created_by": office.user, "time_zone": office.zone, "attendees": attendees} | one
