"""Pages of other rows than the ledger's call people by the same names."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.keeping import erasure
from guardrails.models import HeldSend, KillSwitch
from guardrails.policies import changes
from integrations.models import Account, Organisation, ServiceToken
from tests.clients import client_of, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LIST = reverse("admin:guardrails_heldsend_changelist")


class Office:
    """An organisation of its own with Maya Lind, Olga Meier of the staff, and a token."""

    def __init__(self) -> None:
        self.slug = uuid4().hex
        self.organisation = Organisation.objects.create(slug=self.slug, name=self.slug)
        of = {"organisation": self.organisation}
        self.maya = Account.objects.create(
            **of, external_user_id="u-1", source="gmail", display_name="Maya Lind"
        )
        self.token, _ = ServiceToken.issue(**of, name="nightly", scopes=["chat"])
        self.olga = User.objects.create(
            username=f"olga-{self.slug}",
            first_name="Olga",
            last_name="Meier",
            is_staff=True,
            is_superuser=True,
        )

    @property
    def by_olga(self) -> str:
        return f"operator:{self.olga.username}"

    @property
    def client(self) -> Client:
        return client_of(self.olga)

    def recalled(self, by: str) -> HeldSend:
        return HeldSend.objects.create(
            organisation=self.organisation,
            account=self.maya,
            external_user_id="u-1",
            action_id=uuid4(),
            action_type="send_email",
            arguments={},
            origin={},
            description="Send a mail",
            until=timezone.now(),
            state=HeldSend.State.RECALLED,
            decided_at=timezone.now(),
            decided_by=by,
        )

    def read(self, name: str, *key: Any, **query: Any) -> str:
        html = read_page(self.client, reverse(f"admin:{name}", args=key), **query)
        bare = re.sub(r"<(script|style|select).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
        return " ".join(bare.split())


@pytest.fixture
def office() -> Office:
    return Office()


def test_a_list_has_names_and_a_rows_page_the_ids_beside_them(office: Office) -> None:
    words = {
        office.by_olga: "operator Olga Meier",
        "user:u-1": "Maya Lind",
        f"token:{office.token.id}": "token “nightly”",
        "switch": "switch",
    }
    for by, called in words.items():
        row = office.recalled(by)
        seen = office.read("guardrails_heldsend_changelist", q=row.action_id)
        assert f" {called} " in seen
        assert ":" not in by or by not in seen
        alone = called if called == by else f"{called} ({by})"
        assert f"Decided by {alone} " in office.read("guardrails_heldsend_change", row.pk)


def test_a_name_is_plain_text_and_its_hidden_characters_are_visible(office: Office) -> None:
    Account.objects.filter(id=office.maya.id).update(display_name="<b>Maya</b>\u202e")
    office.recalled("user:u-1")

    html = read_page(office.client, LIST)

    assert "&lt;b&gt;Maya&lt;/b&gt;⟨U+202E⟩" in html
    assert "<b>Maya" not in html


def test_a_list_takes_as_many_statements_for_many_rows_as_for_one(office: Office) -> None:
    client = office.client

    def statements() -> int:
        with (
            CaptureQueriesContext(connections["default"]) as ours,
            CaptureQueriesContext(connections["ledger"]) as ledgers,
        ):
            read_page(client, LIST)
        return len(ours) + len(ledgers)

    office.recalled("user:u-1")
    statements()
    few = statements()
    for number in range(10):
        token, _ = ServiceToken.issue(
            organisation=office.organisation, name=str(number), scopes=["chat"]
        )
        office.recalled(f"token:{token.id}")

    assert statements() == few


def test_the_history_of_policy_and_legal_holds_say_names(office: Office) -> None:
    author = changes.Author(name=office.by_olga, door="admin")
    erasure.set_legal_hold(
        tenant_id=office.organisation.id,
        on_behalf_of="u-1",
        reason="A claim.",
        actor_id=office.by_olga,
    )
    row = KillSwitch.objects.create(
        organisation=office.organisation,
        action_type="archive",
        why="A look.",
        thrown_by=office.by_olga,
    )
    changes.record_made([row], author=author)

    history = office.read("guardrails_policy_history", organisation=office.slug)
    kept = office.read("guardrails_ledger_legal_holds", organisation=office.slug)

    assert "· operator Olga Meier · through admin ·" in history
    assert "thrown by: operator Olga Meier" in history
    assert "Keeps the rows of user Maya Lind (u-1) since" in kept
    assert "set by operator Olga Meier ·" in kept
    assert office.by_olga not in history + kept
