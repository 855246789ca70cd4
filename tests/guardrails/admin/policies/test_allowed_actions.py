"""What operators see and do in the admin, without a browser."""

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.learn import skills
from guardrails.models import (
    AllowedAction,
    Approval,
    LearnedPattern,
    PatternAction,
    Skill,
    TargetGroup,
)
from guardrails.policies.changes import Author
from tests.clients import log_in, read_page
from tests.guardrails.approvals import ask
from tests.guardrails.forms import allowed_action_form
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"


def page(client: Client, name: str, *args: object, **query: Any) -> str:
    return read_page(client, reverse(f"admin:guardrails_{name}", args=args), **query)


def post(client: Client, address: str, /, *args: object, **data: Any) -> Any:
    return client.post(reverse(f"admin:guardrails_{address}", args=args), data, follow=True)


# --- allowed actions -----------------------------------------------------------


def test_an_allowed_action_is_added(office: Office, client: Client) -> None:
    given = {
        "conditions": "0",
        "conditions-0-kind": "sender",
        "conditions-0-domains": "company.com",
    }
    response = post(client, "allowedaction_add", **allowed_action_form(office, **given))

    assert response.status_code == 200
    assert AllowedAction.objects.get().conditions == [
        {"kind": "sender", "domains": ["company.com"]}
    ]
    listed = page(client, "allowedaction_changelist", account__id__exact=office.mailbox.pk)
    assert "Archive a mail" in listed
    assert "sender" in listed


def test_groups_are_listed(office: Office, client: Client) -> None:
    TargetGroup.objects.create(account=office.mailbox, name="Thread status", cardinality="single")
    assert "One at a time" in page(client, "targetgroup_changelist")


# --- patterns --------------------------------------------------------------------------


@pytest.fixture
def pattern(office: Office) -> LearnedPattern:
    found = LearnedPattern.objects.create(
        account=office.mailbox,
        name="Weekly",
        list_id="weekly",
        reason=HOSTILE,
        tried_at=timezone.now(),
    )
    PatternAction.objects.create(pattern=found, action_type="archive")
    return found


def choose(client: Client, pattern: LearnedPattern, action: str) -> None:
    post(client, "learnedpattern_changelist", action=action, _selected_action=[pattern.pk])
    pattern.refresh_from_db()


def test_an_operator_approves_and_suspends(client: Client, pattern: LearnedPattern) -> None:
    choose(client, pattern, "approve")
    assert (pattern.state, pattern.approved_by) == ("approved", "operator:olga")
    choose(client, pattern, "suspend")
    assert pattern.state == "suspended"


def test_what_was_not_tried_on_past_mail_is_not_approved(
    client: Client, pattern: LearnedPattern
) -> None:
    LearnedPattern.objects.update(tried_at=None)
    assert "Not tried yet." in page(client, "learnedpattern_change", pattern.pk)
    choose(client, pattern, "approve")
    assert pattern.state == "proposed"


def test_what_was_learned_without_enough_evidence_is_not_approved(
    client: Client, pattern: LearnedPattern
) -> None:
    LearnedPattern.objects.update(proposed_by="chat")
    sentence = "A learned pattern needs 3 like mails that a person treated so: here it is 0."
    shown = page(client, "learnedpattern_change", pattern.pk)
    assert sentence in shown
    assert 'value="approve"' not in shown

    chosen = {"action": "approve", "_selected_action": [pattern.pk]}
    for answer in (
        post(client, "learnedpattern_changelist", **chosen),
        post(client, "learnedpattern_decide", pattern.pk, word="approve"),
    ):
        assert f"“Weekly” does not act. {sentence}" in answer.content.decode()
        pattern.refresh_from_db()
        assert pattern.state == "proposed"

    LearnedPattern.objects.update(proposed_by="operator")
    assert 'value="approve"' in page(client, "learnedpattern_change", pattern.pk)


def test_a_changed_pattern_waits_for_approval_again(
    office: Office, client: Client, pattern: LearnedPattern
) -> None:
    choose(client, pattern, "approve")
    (only,) = pattern.actions.all()
    form = {
        "account": office.mailbox.pk,
        "name": "Weekly",
        "sender_address": "",
        "sender_domain": "",
        "list_id": "another",
        "subject": "",
        "content_type": "email",
        "reason": HOSTILE,
        "actions-TOTAL_FORMS": 1,
        "actions-INITIAL_FORMS": 1,
        "actions-0-id": only.pk,
        "actions-0-pattern": pattern.pk,
        "actions-0-order": 0,
        "actions-0-action_type": "archive",
    }
    post(client, "learnedpattern_change", pattern.pk, **form)
    pattern.refresh_from_db()
    assert (pattern.list_id, pattern.state, pattern.approved_by) == ("another", "proposed", "")


def test_a_pattern_page_shows_hostile_text_as_text(client: Client, pattern: LearnedPattern) -> None:
    text = page(client, "learnedpattern_change", pattern.pk)
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


# --- skills ----------------------------------------------------------------------------


def test_an_edited_skill_is_a_new_version(office: Office, client: Client) -> None:
    form = {
        "organisation": office.organisation.pk,
        "account": "",
        "name": "invoices",
        "description": "Invoices.",
        "content": "One.",
        "enabled": "on",
    }
    post(client, "skill_add", **form)
    first = Skill.objects.get()
    edited = {"description": "Invoices.", "content": "Two.", "enabled": "on"}
    post(client, "skill_change", first.pk, **edited)
    versions = Skill.objects.order_by("version").values_list("version", "content")
    assert list(versions) == [(1, "One."), (2, "Two.")]
    post(client, "skill_change", first.pk, description="Invoices.", content="One.")
    first.refresh_from_db()
    assert (first.enabled, Skill.objects.count()) == (False, 2)
    assert "invoices" in page(client, "skill_changelist")


def test_a_skill_version_cannot_be_deleted(office: Office, client: Client) -> None:
    skill = skills.publish(
        organisation_id=office.organisation.id,
        account_id=None,
        name="x",
        description="d",
        content="c",
        author=Author(name="test", door="command"),
    )
    address = reverse("admin:guardrails_skill_delete", args=[skill.pk])
    assert client.post(address, {"post": "yes"}).status_code == 403


# --- approvals -------------------------------------------------------------------------


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    wish = {
        "project_key": "PROJ",
        "summary": "Setup CI/CD",
        "type": "task",
        "description": f"{HOSTILE} zero\u200bwidth",
    }
    origin = replace(CHAT, reason="I am <b>sure</b>.")
    return ask(office, "create_jira_task", wish, origin=origin)


def test_the_card_shows_targets_first_and_everything_in_full(
    client: Client, waiting: Approval
) -> None:
    text = page(client, "approval_change", waiting.pk)

    assert "Create a task in PROJ</h2>" in text
    assert "<bdi>“Setup CI/CD”</bdi>" in text
    assert text.index("Whom and what it reaches") < text.index("In full")
    assert "on the list of what is permitted" in text
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; zero⟨U+200B⟩width" in text
    assert "I am &lt;b&gt;sure&lt;/b&gt;." in text
    assert "(not evidence)" in text


def decide(client: Client, approval: Approval, **data: Any) -> Any:
    return post(client, "approval_decide", approval.pk, **({"digest": approval.digest} | data))


def test_an_operator_confirms(office: Office, client: Client, waiting: Approval) -> None:
    response = decide(client, waiting, word="confirm")

    assert "Create a task in PROJ: “Setup CI/CD”: Done." in response.content.decode()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.decided_by) == ("executed", "operator:olga")
    assert len(office.calls()) == 1
    assert 'value="confirm"' not in page(client, "approval_change", waiting.pk)


def test_an_operator_rejects(office: Office, client: Client, waiting: Approval) -> None:
    decide(client, waiting, word="reject", reason="Not now.")

    waiting.refresh_from_db()
    assert (waiting.state, waiting.decision_reason) == ("rejected", "Not now.")
    assert recorded(waiting.action_id)[-1].actor_type == "admin"
    assert (
        "rejected by operator olga at" in decide(client, waiting, word="confirm").content.decode()
    )
    assert office.calls() == []


def test_who_may_only_look_reads_conditions_in_words(office: Office) -> None:
    pattern = LearnedPattern.objects.create(
        account=office.mailbox, name="News", sender_domain="news.example"
    )
    PatternAction.objects.create(
        pattern=pattern, action_type="classify", arguments={"label_id": "label_fyi"}
    )
    conditions = [{"kind": "sender", "domains": ["company.com"]}]
    row = office.permit("archive", conditions=conditions)
    rights = ("view_allowedaction", "view_learnedpattern", "view_patternaction")
    watching = log_in("otto", *rights)

    text = page(watching, "allowedaction_change", row.pk)
    assert "The mail is from somebody at company.com." in text
    assert "&quot;kind&quot;" not in text
    text = page(watching, "learnedpattern_change", pattern.pk)
    assert "label_fyi" in text
    assert "&quot;label_id&quot;" not in text


@pytest.mark.parametrize("data", [{"word": "maybe"}, {}, {"word": "confirm", "digest": ""}])
def test_an_unclear_word_decides_nothing(
    client: Client, waiting: Approval, data: dict[str, Any]
) -> None:
    decide(client, waiting, **data)
    waiting.refresh_from_db()
    assert waiting.state == "pending"


def test_deciding_takes_a_post_with_a_token_by_somebody_who_may(
    office: Office, client: Client, waiting: Approval
) -> None:
    address = reverse("admin:guardrails_approval_decide", args=[waiting.pk])
    assert client.get(address).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="olga"))
    body = {"word": "confirm", "digest": waiting.digest}
    assert strict.post(address, body).status_code == 403
    watching = log_in("otto", "view_approval")
    assert watching.post(address, body).status_code == 403
    assert 'value="confirm"' not in page(watching, "approval_change", waiting.pk)
    assert Client().post(address, body).status_code == 302
    waiting.refresh_from_db()
    assert (waiting.state, office.calls()) == ("pending", [])


def test_nothing_of_an_approval_can_be_edited(client: Client, waiting: Approval) -> None:
    address = reverse("admin:guardrails_approval_change", args=[waiting.pk])
    assert client.post(address, {"state": "approved"}).status_code == 403
    assert client.get(reverse("admin:guardrails_approval_add")).status_code == 403


def test_what_waits_comes_first(office: Office, client: Client, waiting: Approval) -> None:
    later = Approval.objects.get(pk=waiting.pk)
    later.pk, later.action_id = uuid4(), uuid4()
    later.state, later.decided_at = "rejected", timezone.now()
    later.description = "A later one"
    later.save(force_insert=True)

    text = page(client, "approval_changelist")

    assert text.index("Create a task in PROJ") < text.index("A later one")
    filtered = page(client, "approval_changelist", state__exact="pending")
    assert "A later one" not in filtered


@pytest.mark.parametrize("name", ["allowedaction", "targetgroup", "learnedpattern", "skill"])
def test_every_form_has_help_for_every_field(office: Office, client: Client, name: str) -> None:
    text = page(client, f"{name}_add")
    form = {
        "allowedaction": AllowedAction,
        "targetgroup": TargetGroup,
        "learnedpattern": LearnedPattern,
        "skill": Skill,
    }[name]
    for field in form._meta.get_fields():
        if re.search(rf'name="{field.name}"', text) and field.name != "id":
            assert getattr(field, "help_text", ""), field.name


@pytest.mark.parametrize("number", [1, 30])
def test_lists_take_the_same_queries_whatever_their_length(
    office: Office, client: Client, django_assert_max_num_queries: Any, number: int
) -> None:
    for index in range(number):
        office.list_target("classify", "label", f"label_{index}")
        LearnedPattern.objects.create(
            account=office.mailbox, name=f"P{index}", list_id=f"list-{index}"
        )
    for name in ("allowedactionoption", "learnedpattern", "approval", "skill", "allowedaction"):
        with django_assert_max_num_queries(9):
            page(client, f"{name}_changelist")
