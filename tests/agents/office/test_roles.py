"""What each shipped role may do, and what it may not."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db import connection, connections
from django.http import HttpRequest
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.models import Conversation, Message, Turn
from agents.office.roles import ROLES, make_roles
from integrations.models import Membership, Organisation
from tests.agents.pages import delivery, mailbox
from tests.clients import client_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
# The lists whose rows each role may change, add or work on; everything else it may look at most.
WORKS_ON = {
    "Viewer": set[str](),
    "Policy editor": {
        *("allowedaction", "allowedactionoption", "targetgroup", "ceilinglimit"),
        *("learnedpattern", "patternaction", "skill", "customagent", "person", "owndomain"),
        "directorysync",
        "changerequest",
    },
    "Operator": {
        *("approval", "heldsend", "undo", "escalation", "delivery", "turn", "syncrun", "pastrun"),
        *("syncfailure", "killswitch", "suggestion"),
    },
    "Auditor": set[str](),
    "Approver": {"approval", "heldsend"},
    "User": set[str](),
}
WORKS_ON["Administrator"] = set[str]().union(
    *WORKS_ON.values(),
    {"organisation", "account", "servicetoken", "mcpserver", "mcptool", "budget"},
    {"userpreferences", "checkpointrecipient", "approvalrecipient"},
)
# Rights beside those to rows.
OWN = {
    "Operator": {"use_console"},
    "Auditor": {"hold_contents"},
    "User": {"use_own_console"},
    "Administrator": {"use_console", "hold_contents", "erase_contents", "end_ledger"},
}


@pytest.fixture(autouse=True)
def made() -> None:
    make_roles()


def somebody(role: str) -> User:
    user = User.objects.create(username=f"{role}-person", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    organisation, _ = Organisation.objects.get_or_create(slug="default", name="Acme")
    Membership.objects.create(user=user, organisation=organisation)
    return user


def verbs(rights: frozenset[str]) -> Iterator[tuple[str, str]]:
    for right in rights:
        verb, _, rest = right.partition(".")[2].partition("_")
        yield verb, rest


@pytest.mark.parametrize("role", ROLES)
def test_a_role_changes_what_it_works_on_and_nothing_else(role: str) -> None:
    given = set(verbs(ROLES[role]))
    changes = {model for verb, model in given if verb in ("add", "change", "delete")}
    others = {
        f"{verb}_{rest}" for verb, rest in given if verb not in ("view", "add", "change", "delete")
    }

    assert changes == WORKS_ON[role]
    assert others == OWN.get(role, set())


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_may_change_it_may_see(role: str) -> None:
    given = set(verbs(ROLES[role]))

    assert {rest for verb, rest in given if verb in ("add", "change", "delete")} <= {
        rest for verb, rest in given if verb == "view"
    }


def test_no_role_reaches_what_belongs_to_the_whole_installation() -> None:
    request = HttpRequest()
    request.user = somebody("Administrator")
    installation = {"user", "group", "embeddingmodel", "upstream", "ormq", "schedule"}

    met = {
        model._meta.model_name
        for model, one in admin.site._registry.items()
        if one.has_view_permission(request)
    }

    assert met.isdisjoint(installation)
    assert len(met) > 30


def test_making_roles_again_takes_away_what_was_given_by_hand_and_leaves_other_groups() -> None:
    viewer, other = Group.objects.get(name="Viewer"), Group.objects.create(name="Interns")
    extra = Permission.objects.get(codename="change_killswitch")
    viewer.permissions.add(extra)
    other.permissions.add(extra)

    make_roles()

    assert extra not in viewer.permissions.all()
    assert list(other.permissions.all()) == [extra]
    assert Group.objects.count() == len(ROLES) + 1


@pytest.mark.parametrize(
    ("role", "page", "status"),
    [
        ("Viewer", "guardrails_approval_changelist", 200),
        ("Viewer", "guardrails_approval_deciders", 403),
        ("Viewer", "integrations_servicetoken_changelist", 403),
        ("Policy editor", "guardrails_policy_explain", 200),
        ("Policy editor", "knowledge_item_changelist", 403),
        ("Policy editor", "guardrails_approval_changelist", 403),
        ("Operator", "guardrails_approval_deciders", 200),
        ("Operator", "guardrails_allowedaction_changelist", 403),
        ("Approver", "guardrails_approval_changelist", 200),
        ("Approver", "guardrails_approval_deciders", 200),
        ("Approver", "agents_conversation_changelist", 403),
        ("Approver", "audit_executedagentaction_changelist", 403),
        ("User", "guardrails_approval_changelist", 403),
        ("User", "integrations_account_changelist", 403),
        ("Auditor", "audit_executedagentaction_changelist", 200),
        ("Auditor", "guardrails_ledger_health", 200),
        ("Auditor", "agents_conversation_changelist", 403),
        ("Administrator", "integrations_servicetoken_changelist", 200),
        ("Administrator", "auth_user_changelist", 403),
    ],
)
def test_pages_are_open_to_those_who_need_them(role: str, page: str, status: int) -> None:
    client = client_of(somebody(role))

    assert client.get(reverse(f"admin:{page}")).status_code == status


def test_an_administrator_gets_each_page_by_fifteen_statements_at_most() -> None:
    client = client_of(somebody("Administrator"))
    account = mailbox()
    delivery(account, 1)
    of = {"organisation": account.organisation, "external_user_id": "maya"}
    conversation = Conversation.objects.create(**of)
    turn = Turn.objects.create(**of, kind="chat", conversation=conversation, state="finished")
    said = {"conversation": conversation, "turn": turn, "role": "user", "content": "What is new?"}
    Message.objects.create(**said)

    def count(address: str) -> int:
        client.get(address)  # and what is asked once a process
        with (
            CaptureQueriesContext(connection) as asked,
            CaptureQueriesContext(connections["ledger"]) as proof,
        ):
            assert client.get(address).status_code == 200
        return len(asked) + len(proof)

    addresses = {
        "activity": reverse("admin:index"),
        "turn": reverse("admin:agents_turn_change", args=[turn.pk]),
        "set up": reverse("setup"),
        "for auditors": reverse("admin:guardrails_ledger_auditor"),
    }
    assert {name: count(address) for name, address in addresses.items()} == dict.fromkeys(
        addresses, 15
    )
