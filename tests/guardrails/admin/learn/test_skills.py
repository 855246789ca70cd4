"""Skills in the admin: versions, what differs between them, and proposals of the agent."""

import pytest
from django.test import Client
from django.urls import reverse

from guardrails.admin.learn import skill_page
from guardrails.learn import skills
from guardrails.models import Skill
from guardrails.policies.changes import Author
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OLGA = Author(name="operator:olga", door="admin")
OLD = "Be kind.\nBe brief."
NEW = "Be kind.\r\nBe <b>bold</b>\u200b.\r\nBe brief."


def publish(office: Office, content: str) -> Skill:
    return skills.publish(
        organisation_id=office.organisation.pk,
        account_id=office.mailbox.pk,
        name="visits",
        description="Visits.",
        content=content,
        author=OLGA,
    )


def propose(office: Office, content: str) -> Skill:
    found = skills.propose(
        office.ref(office.mailbox),
        name="visits",
        description="Visits.",
        content=content,
        reason="The <b>boss</b> wants it.",
        proposed_by="webhook",
        author=Author(name="agent:mail_reader", door="agent"),
    )
    return Skill.objects.get(account=office.mailbox, version=found.version)


def page(client: Client, row: Skill, **query: str) -> str:
    return read_page(client, reverse("admin:guardrails_skill_change", args=[row.pk]), **query)


def decide(client: Client, row: Skill, word: str) -> str:
    address = reverse("admin:guardrails_skill_decide", args=[row.pk])
    text: str = client.post(address, {"word": word}, follow=True).content.decode()
    row.refresh_from_db()
    return text


def test_two_versions_line_by_line(office: Office) -> None:
    old, new = publish(office, OLD), publish(office, NEW)

    assert [(line.kind, line.text) for line in skill_page.compare(old, new)] == [
        ("same", "Description: Visits."),
        ("same", ""),
        ("same", "Be kind."),
        ("added", "Be <b>bold</b>⟨U+200B⟩."),
        ("same", "Be brief."),
    ]
    assert {line.kind for line in skill_page.compare(None, old)} == {"added"}


def test_the_page_compares_what_is_chosen_and_escapes_it(office: Office, client: Client) -> None:
    old, new = publish(office, OLD), publish(office, NEW)

    shown = page(client, new)
    assert "From version 1 to version 2" in shown
    assert "<ins>Be &lt;b&gt;bold&lt;/b&gt;⟨U+200B⟩.</ins>" in shown
    back = page(client, old, **{"from": "2", "to": "1"})
    assert "From version 2 to version 1" in back
    assert "<del>Be &lt;b&gt;bold&lt;/b&gt;⟨U+200B⟩.</del>" in back
    assert "From version 1 to version 2" in page(client, new, **{"from": "x", "to": "99"})


def test_an_operator_approves_a_proposal_of_the_agent(office: Office, client: Client) -> None:
    publish(office, OLD)
    row = propose(office, NEW)

    shown = page(client, row)
    assert "Nobody asked for it." in shown
    assert "The &lt;b&gt;boss&lt;/b&gt; wants it." in shown
    assert "Agents may load this version." in decide(client, row, "approve")
    assert (row.state, row.decided_by) == ("published", "operator:olga")
    assert 'value="approve"' not in page(client, row)
    assert "Nothing changed" in decide(client, row, "reject")
    assert row.state == "published"


def test_an_overtaken_proposal_can_only_be_rejected(office: Office, client: Client) -> None:
    row = propose(office, NEW)
    publish(office, OLD)

    shown = page(client, row)
    assert "A newer version is out." in shown
    assert 'value="approve"' not in shown
    assert "Nothing changed" in decide(client, row, "approve")
    assert row.state == "proposed"
    decide(client, row, "reject")
    assert (row.state, row.decided_by) == ("rejected", "operator:olga")


def test_nobody_decides_without_the_right_or_by_a_link(office: Office, client: Client) -> None:
    row = propose(office, NEW)
    address = reverse("admin:guardrails_skill_decide", args=[row.pk])
    assert client.get(address).status_code == 405
    client = log_in("omar")
    assert client.post(address, {"word": "approve"}).status_code == 403
    row.refresh_from_db()
    assert row.state == "proposed"
