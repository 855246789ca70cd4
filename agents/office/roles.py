"""The roles that Remit ships, as groups of the admin: what each needs for its work, and no more.
Which organisations somebody meets is said by their memberships."""

from collections.abc import Iterator, Mapping

from django.contrib.auth.models import Group, Permission
from django.db import transaction

from integrations.web.authentication import OWN_CONSOLE

POLICY = [
    "guardrails.allowedaction",
    "guardrails.allowedactionoption",
    "guardrails.targetgroup",
    "guardrails.ceilinglimit",
    "guardrails.learnedpattern",
    "guardrails.patternaction",
    "guardrails.skill",
    "agents.customagent",
]
DIRECTORY = ["guardrails.person", "guardrails.owndomain", "guardrails.directorysync"]
SERVERS = ["integrations.mcpserver", "integrations.mcptool"]
WAITING = [
    "guardrails.approval",
    "guardrails.heldsend",
    "agents.escalation",
    "integrations.delivery",
    "agents.turn",
    "agents.suggestion",
    "knowledge.syncrun",
    "knowledge.syncfailure",
    "guardrails.killswitch",
]
WORK = [
    "guardrails.assistantdraft",
    "agents.conversation",
    "agents.message",
    "knowledge.item",
    "knowledge.syncsource",
    "agents.pastrun",
]
LEDGER = ["audit.executedagentaction", "audit.ledgerpolicy"]
WHOSE = ["integrations.organisation", "integrations.account"]
REST = [
    "guardrails.changerequest",
    "integrations.budget",
    "integrations.modelcall",
    "integrations.providerresource",
    "integrations.userpreferences",
    "knowledge.entity",
]


def may(verbs: str, models: list[str]) -> Iterator[str]:
    for model in models:
        app, name = model.split(".")
        yield from (f"{app}.{verb}_{name}" for verb in verbs.split())


VIEWER = frozenset(
    may(
        "view",
        [*POLICY, *DIRECTORY, *SERVERS, *WAITING, *WORK, *LEDGER, *WHOSE, *REST, "guardrails.undo"],
    )
)
POLICY_EDITOR = frozenset(
    {
        *may("view", [*LEDGER, *WHOSE, *SERVERS]),
        *may("view add change delete", [*POLICY, *DIRECTORY]),
        *may("view change", ["guardrails.changerequest"]),
    }
)
APPROVER = frozenset(
    {
        *may("view", WHOSE),
        *may("view change", ["guardrails.approval", "guardrails.heldsend"]),
    }
)
OPERATOR = frozenset(
    {
        *may("view", [*WORK, *LEDGER, *WHOSE]),
        *may("view change", WAITING),
        *may("view add", ["guardrails.undo"]),
        *may("add change", ["agents.pastrun"]),
        "agents.use_console",
    }
)
AUDITOR = frozenset(
    {
        *may("view", [*POLICY, *DIRECTORY, *SERVERS, *LEDGER, *WHOSE]),
        *may("view", ["guardrails.approval", "guardrails.undo", "guardrails.killswitch"]),
        *may("view", ["guardrails.changerequest", "guardrails.checkpointrecipient"]),
        *may("view", ["guardrails.approvalrecipient"]),
        "audit.hold_contents",
    }
)
ADMINISTRATOR = frozenset(
    {
        *(VIEWER | POLICY_EDITOR | OPERATOR | AUDITOR),
        *may("change", WHOSE),
        *may("view add change", ["integrations.servicetoken", "integrations.account"]),
        *may("view add change delete", [*SERVERS, "guardrails.checkpointrecipient"]),
        *may("view add change delete", ["guardrails.approvalrecipient"]),
        *may("view add change delete", ["integrations.budget", "integrations.userpreferences"]),
        *("audit.erase_contents", "audit.end_ledger"),
    }
)
# By the name of the group.
ROLES: Mapping[str, frozenset[str]] = {
    "Viewer": VIEWER,
    "Policy editor": POLICY_EDITOR,
    "Approver": APPROVER,
    "Operator": OPERATOR,
    "Auditor": AUDITOR,
    "Administrator": ADMINISTRATOR,
    # Of the user of the agent that their membership names, and of nobody else.
    "User": frozenset({OWN_CONSOLE}),
}


def make_roles() -> None:
    """Makes the groups, or gives them these rights again: what somebody gave to one of them by
    hand is taken away. Groups of other names stay as they are."""
    rows = Permission.objects.select_related("content_type")
    known = {f"{row.content_type.app_label}.{row.codename}": row for row in rows}
    with transaction.atomic():
        for name, rights in ROLES.items():
            group, _ = Group.objects.get_or_create(name=name)
            group.permissions.set([known[right] for right in sorted(rights)])
