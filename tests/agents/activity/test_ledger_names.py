"""The ledger's pages call people, tokens and agents by their names."""

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.context.custom_agents import name_of
from agents.models import CustomAgent
from audit.ledger import selectors
from integrations.models import Account, Membership, Organisation, ServiceToken
from tests.audit.entries import append_action
from tests.clients import client_of, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LIST = reverse("admin:audit_executedagentaction_changelist")


class Office:
    """An organisation of its own with Maya Lind and Omar, who has no name; and an auditor."""

    def __init__(self) -> None:
        slug = uuid4().hex
        self.organisation = Organisation.objects.create(slug=slug, name=slug)
        of = {"organisation": self.organisation}
        self.maya = Account.objects.create(
            **of, external_user_id="u-1", source="gmail", display_name="Maya Lind"
        )
        Account.objects.create(**of, external_user_id="u-1", source="slack")
        Account.objects.create(**of, external_user_id="u-2", source="gmail")
        self.token, _ = ServiceToken.issue(**of, name="nightly", scopes=["chat"])
        self.auditor = auditor(self.organisation)

    def did(self, **fields: Any) -> UUID:
        same = {"tenant_id": self.organisation.id, "on_behalf_of": "u-1", "actor_type": "agent"}
        return append_action(**{**same, "agent_id": "orchestrator", **fields})

    def row(self, action_id: UUID) -> str:
        return text(read_page(self.auditor, address(action_id)))

    def list(self, query: str = "") -> str:
        return text(read_page(self.auditor, f"{LIST}?{query}"))


def auditor(*organisations: Organisation) -> Client:
    user = User.objects.create(username=uuid4().hex, is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_executedagentaction"))
    for one in organisations:
        Membership.objects.create(user=user, organisation=one)
    return client_of(user)


def text(html: str) -> str:
    """What a reader sees."""
    bare = re.sub(r"<(script|style|select).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    return " ".join(bare.split())


def address(action_id: UUID) -> str:
    return reverse(
        "admin:audit_executedagentaction_change", args=[selectors.recorded(action_id)[0].id]
    )


@pytest.fixture
def office() -> Office:
    return Office()


def test_the_list_names_who_acted_and_for_whom(office: Office) -> None:
    User.objects.create(username=f"olga-{office.organisation.slug}", first_name="Olga")
    own = CustomAgent.objects.create(
        organisation=office.organisation, name="Maya helper", prompt="x", tools=[], sources=[]
    )
    cases = {
        ("agent", f"token:{office.token.id}", "orchestrator"): (
            "Agent orchestrator, token “nightly” Maya Lind"
        ),
        ("agent", f"token:{office.token.id}", name_of(own.id)): (
            "Agent “Maya helper”, token “nightly” Maya Lind"
        ),
        ("agent", "user:u-1", "mail_reader"): "Agent mail reader, Maya Lind Maya Lind",
        ("agent", f"token:{office.token.id}", "mcp"): ("Agent over MCP, token “nightly” Maya Lind"),
        ("agent", "webhook", "pattern"): "Agent pattern, webhook Maya Lind",
        ("user", "user:u-1", ""): "Maya Lind Maya Lind",
        ("admin", f"operator:olga-{office.organisation.slug}", ""): "Operator Olga Maya Lind",
        ("admin", "command:root", ""): "Command line, root Maya Lind",
        ("system", "tidy_up", ""): "System tidy up Maya Lind",
    }
    for (kind, by, agent), words in cases.items():
        action_id = office.did(actor_type=kind, actor_id=by, agent_id=agent)
        seen = office.list(f"q={action_id}")
        assert f"{words} " in seen, (kind, by, agent)
        assert str(office.token.id) not in seen


def test_who_is_gone_stays_readable(office: Office) -> None:
    gone = CustomAgent.objects.create(
        organisation=office.organisation, name="Gone", prompt="x", tools=[], sources=[]
    )
    action_id = office.did(
        actor_id=f"token:{office.token.id}", on_behalf_of="u-9", agent_id=name_of(gone.id)
    )
    unnamed = office.did(actor_id="user:u-2", on_behalf_of="u-2")
    token_id = office.token.id
    office.token.delete()
    gone.delete()

    assert "A deleted agent, a deleted token u-9 " in office.list(f"q={action_id}")
    assert "Agent orchestrator, u-2 u-2 " in office.list(f"q={unnamed}")
    row = office.row(action_id)
    assert f"Actor token:{token_id}" in row
    assert "On behalf of u-9 " in row


def test_a_rows_page_has_names_and_the_ids_beside_them(office: Office) -> None:
    action_id = office.did(
        actor_id=f"token:{office.token.id}",
        approved_by="user:u-1",
        payload={"as_user": "u-1", "edited_by": f"token:{office.token.id}", "edited_as": "u-1"},
    )

    row = office.row(action_id)

    assert "Agent orchestrator, token “nightly”" in row
    assert f"Actor token:{office.token.id}" in row
    assert "On behalf of Maya Lind (u-1)" in row
    assert "Approved by Maya Lind (user:u-1)" in row
    assert "Answered for Maya Lind (u-1)" in row


def test_a_name_is_plain_text_and_its_hidden_characters_are_visible(office: Office) -> None:
    Account.objects.filter(id=office.maya.id).update(display_name="<b>Maya</b>\u202e")
    action_id = office.did(actor_id="user:u-1")

    for page in (f"{LIST}?q={action_id}", address(action_id)):
        html = read_page(office.auditor, page)
        assert "&lt;b&gt;Maya&lt;/b&gt;⟨U+202E⟩" in html
        assert "<b>Maya" not in html


def test_a_person_is_chosen_by_name_and_the_export_obeys(office: Office) -> None:
    for_maya, for_omar = office.did(), office.did(on_behalf_of="u-2")

    html = read_page(office.auditor, LIST)
    (offered,) = re.findall(r'<select name="on_behalf_of".*?</select>', html, flags=re.DOTALL)
    assert re.findall(r'<option value="([^"]*)"[^>]*>\s*([^<]*?)\s*</option>', offered) == [
        ("", "All"),
        ("u-1", "Maya Lind (u-1)"),
        ("u-2", "u-2"),
    ]
    page = office.auditor.get(f"{LIST}?on_behalf_of=u-1")
    assert [row.action_id for row in page.context["cl"].result_list] == [for_maya]
    assert '<option value="u-1" selected' in page.content.decode()
    exported = office.auditor.get(f"{LIST}export/jsonl/?on_behalf_of=u-1").getvalue().decode()
    assert str(for_maya) in exported
    assert str(for_omar) not in exported
    assert "Maya Lind" not in exported


def test_somebody_unknown_who_is_chosen_stays_chosen(office: Office) -> None:
    office.did()

    html = read_page(office.auditor, f"{LIST}?on_behalf_of=u-77")

    assert '<option value="u-77" selected' in html
    assert "orchestrator" not in text(html)


def test_an_id_is_put_in_words_where_nobody_has_a_name(office: Office) -> None:
    by_agent = office.did(actor_type="admin", actor_id="agent:mail_reader", agent_id="")
    by_first = office.did(actor_type="admin", actor_id="operator:operator", agent_id="")

    assert "Agent mail reader " in office.list(f"q={by_agent}")
    assert "Operator Maya Lind " in office.list(f"q={by_first}")


def test_names_are_those_of_the_organisation(office: Office) -> None:
    other = Office()
    Account.objects.filter(id=other.maya.id).update(display_name="Mats Berg")
    action_id = office.did(actor_id=f"token:{other.token.id}")
    theirs = other.did()
    both = auditor(office.organisation, other.organisation)

    assert "Agent orchestrator, a deleted token Maya Lind " in office.list(f"q={action_id}")
    assert "Mats Berg" not in read_page(office.auditor, LIST)
    seen = text(read_page(both, LIST))
    assert seen.count("Maya Lind") == seen.count("Mats Berg") == 1
    assert "Agent orchestrator Mats Berg " in text(read_page(both, f"{LIST}?q={theirs}"))


def test_the_list_takes_as_many_statements_for_many_rows_as_for_one(office: Office) -> None:
    def statements() -> int:
        with (
            CaptureQueriesContext(connections["default"]) as ours,
            CaptureQueriesContext(connections["ledger"]) as ledgers,
        ):
            read_page(office.auditor, LIST)
        return len(ours) + len(ledgers)

    office.did(actor_id=f"token:{office.token.id}")
    statements()
    few = statements()
    for number in range(20):
        Account.objects.create(
            organisation=office.organisation, external_user_id=f"v-{number}", source="gmail"
        )
        token, _ = ServiceToken.issue(
            organisation=office.organisation, name=str(number), scopes=["chat"]
        )
        office.did(actor_id=f"token:{token.id}", on_behalf_of=f"v-{number}")
    assert statements() == few <= 15
