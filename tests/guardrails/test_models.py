"""What the database may hold: nothing invalid, whichever door it comes through."""

import json
from typing import Any

import pytest
from django.core import serializers
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from guardrails.learn import patterns
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    CeilingLimit,
    LearnedPattern,
    PatternAction,
    TargetGroup,
)
from guardrails.policies import presets
from guardrails.policies.thread_states import THREAD_STATUS
from integrations.contracts import Named
from integrations.models import Account

pytestmark = pytest.mark.django_db

UNKNOWN = [{"kind": "invented"}]


def listed(mailbox: Account, **changes: Any) -> AllowedActionOption:
    values: dict[str, Any] = {
        "account": mailbox,
        "action_type": "classify",
        "source": "gmail",
        "kind": "label",
        "external_id": "label_fyi",
        "name": "FYI",
    }
    return AllowedActionOption(**(values | changes))


# --- conditions ------------------------------------------------------------------------


def test_an_unknown_condition_is_refused_by_save(mailbox: Account) -> None:
    with pytest.raises(ValidationError, match="invented"):
        AllowedAction.objects.create(account=mailbox, action_type="archive", conditions=UNKNOWN)


def test_an_unknown_condition_is_refused_by_update(mailbox: Account) -> None:
    AllowedAction.objects.create(account=mailbox, action_type="archive")
    with pytest.raises(ValidationError, match="invented"):
        AllowedAction.objects.update(conditions=UNKNOWN)


def test_an_unknown_condition_is_refused_by_bulk_writes(mailbox: Account) -> None:
    row = AllowedAction(account=mailbox, action_type="archive", conditions=UNKNOWN)
    with pytest.raises(ValidationError, match="invented"):
        AllowedAction.objects.bulk_create([row])
    kept = AllowedAction.objects.create(account=mailbox, action_type="archive")
    kept.conditions = UNKNOWN
    with pytest.raises(ValidationError, match="invented"):
        AllowedAction.objects.bulk_update([kept], ["conditions"])


def test_an_unknown_condition_is_refused_by_fixtures(mailbox: Account) -> None:
    kept = AllowedAction.objects.create(account=mailbox, action_type="archive")
    (record,) = json.loads(serializers.serialize("json", [kept]))
    record["fields"]["conditions"] = UNKNOWN
    (loaded,) = serializers.deserialize("json", json.dumps([record]))
    with pytest.raises(ValidationError, match="invented"):
        loaded.save()


@pytest.mark.parametrize("raw", [{}, "thread", None, 7, [None], [[]], [{"kind": {}}]])
def test_conditions_of_any_other_shape_are_refused_in_words(mailbox: Account, raw: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        AllowedAction.objects.create(account=mailbox, action_type="archive", conditions=raw)
    assert "conditions" in caught.value.message_dict


@pytest.mark.parametrize(
    ("action_type", "condition"),
    [
        ("archive", {"kind": "max_recipients", "max": 3}),
        ("archive", {"kind": "recipient_domain", "domains": ["x.com"]}),
        ("create_jira_task", {"kind": "sender_authenticated"}),
        ("create_jira_task", {"kind": "thread"}),
        ("archive", {"kind": "sum_per_day", "field": "amount", "max": 500}),
    ],
)
def test_a_condition_that_could_never_hold_is_refused(
    mailbox: Account, action_type: str, condition: dict[str, Any]
) -> None:
    if action_type == "create_jira_task":
        mailbox.source = "jira"
        mailbox.save()
    with pytest.raises(ValidationError, match="would refuse everything"):
        AllowedAction.objects.create(
            account=mailbox, action_type=action_type, conditions=[condition]
        )


# --- allowed actions and targets -----------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"action_type": "delete_everything"},
        {"action_type": "create_jira_task"},
        {"action_type": "archive", "resource_type": "issue"},
        {"action_type": "archive", "approval_mode": "yes"},
        {"action_type": "archive", "approval_mode": "draft_only"},
    ],
)
def test_an_allowed_action_that_grants_nothing_is_refused(
    mailbox: Account, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        AllowedAction.objects.create(account=mailbox, **changes)


def test_an_allowed_action_exists_once(mailbox: Account) -> None:
    AllowedAction.objects.create(account=mailbox, action_type="archive")
    with pytest.raises(ValidationError):
        AllowedAction.objects.create(account=mailbox, action_type="archive")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO guardrails_allowedaction (id, account_id, action_type, resource_type, "
            "enabled, approval_mode, conditions, created_at, updated_at) "
            "SELECT gen_random_uuid(), account_id, action_type, resource_type, enabled, "
            "approval_mode, conditions, now(), now() FROM guardrails_allowedaction"
        )


def test_a_target_exists_once(mailbox: Account) -> None:
    listed(mailbox).save()
    with pytest.raises(ValidationError):
        listed(mailbox, name="Another name").save()
    listed(mailbox, resource_type="email").save()


@pytest.mark.parametrize(
    "changes",
    [
        {"action_type": "archive"},
        {"kind": "recipient", "external_id": "a@x.com"},
        {"source": "jira"},
        {"external_id": ""},
        {"external_id": "label fyi"},
        {"external_id": "label_\u200bfyi"},
        {"name": ""},
        {"name": "F\u202eYI"},
        {"action_type": "send_email", "kind": "recipient", "external_id": "Ada <a@x.com>"},
        {"action_type": "send_email", "kind": "recipient", "external_id": "а@x.com"},  # noqa: RUF001
        {"action_type": "send_email", "kind": "recipient_domain", "external_id": "*.x.com"},
        {"action_type": "send_email", "kind": "recipient_domain", "external_id": "@x.com"},
    ],
)
def test_a_target_that_could_never_match_is_refused(
    mailbox: Account, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        listed(mailbox, **changes).save()


def test_a_name_may_have_emoji_and_a_wrong_one_is_called_wrong_itself(mailbox: Account) -> None:
    listed(mailbox, name="\u2764\ufe0f Family").save()
    with pytest.raises(ValidationError) as refused:
        listed(mailbox, external_id="label_x", name="F\u202eYI").save()
    told = ["The name contains the hidden character U+202E."]
    assert refused.value.message_dict == {"name": told}


def test_a_target_is_stored_in_the_form_that_is_compared(mailbox: Account) -> None:
    listed_target = listed(
        mailbox, action_type="send_email", kind="recipient_domain", external_id="Company.COM"
    )
    listed_target.save()
    listed_target.refresh_from_db()
    assert listed_target.external_id == "company.com"


def test_a_group_of_another_account_is_refused(mailbox: Account) -> None:
    other = Account.objects.create(
        organisation=mailbox.organisation, external_user_id="omar", source="gmail"
    )
    group = TargetGroup.objects.create(account=other, name="Status")
    with pytest.raises(ValidationError, match="another account"):
        listed(mailbox, group=group).save()


def test_the_thread_status_preset_resolves_names_to_ids(mailbox: Account) -> None:
    labels = [Named(id=f"L{n}", name=name) for n, name in enumerate(THREAD_STATUS)]
    for _ in range(2):
        group = presets.thread_status(account_id=mailbox.id, labels=labels)
    assert group.cardinality == "single"
    found = group.listed_targets.order_by("external_id").values_list("external_id", "name")
    assert list(found) == [
        ("L0", "To Reply"),
        ("L1", "Awaiting Reply"),
        ("L2", "FYI"),
        ("L3", "Actioned"),
    ]
    with pytest.raises(ValueError, match="Actioned"):
        presets.thread_status(account_id=mailbox.id, labels=labels[:3])


# --- patterns --------------------------------------------------------------------------


def pattern(mailbox: Account, **changes: Any) -> LearnedPattern:
    values = {"account": mailbox, "name": "Weekly", "list_id": "weekly.example"}
    return LearnedPattern(**(values | changes))


def test_a_pattern_must_name_a_sender_or_a_list(mailbox: Account) -> None:
    with pytest.raises(ValidationError, match="Name the sender"):
        pattern(mailbox, list_id="", subject="Invoice 7").save()
    pattern(mailbox).save()
    with pytest.raises(IntegrityError), transaction.atomic():
        LearnedPattern.objects.update(list_id="")


@pytest.mark.parametrize(
    "changes",
    [
        {"sender_address": "Boss <boss@company.com>"},
        {"sender_address": "boss"},
        {"sender_domain": "@company.com"},
        {"sender_domain": "company.com.evil.com/"},
        {"list_id": "a\nb"},
    ],
)
def test_a_pattern_with_a_loose_matcher_is_refused(
    mailbox: Account, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        pattern(mailbox, **changes).save()


def test_a_pattern_that_matches_the_same_exists_once(mailbox: Account) -> None:
    pattern(mailbox, sender_domain="Company.com", subject="Invoice 17").save()
    with pytest.raises(ValidationError):
        pattern(mailbox, sender_domain="company.com", subject="RE: invoice 18", name="x").save()
    pattern(mailbox, sender_domain="company.com").save()
    assert len({row.digest for row in LearnedPattern.objects.all()}) == 2


def test_a_pattern_acts_only_after_a_person_approved_it(mailbox: Account) -> None:
    found = pattern(mailbox)
    found.save()
    assert found.state == "proposed"
    with pytest.raises((ValidationError, IntegrityError)), transaction.atomic():
        pattern(mailbox, list_id="other", state="approved").save()
    assert not patterns.approve(pattern_id=found.id, by="operator:olga", now=timezone.now())
    LearnedPattern.objects.update(tried_at=timezone.now())
    assert patterns.approve(pattern_id=found.id, by="operator:olga", now=timezone.now())
    assert patterns.suspend(pattern_id=found.id, why="Enough.", now=timezone.now())
    assert not patterns.suspend(pattern_id=found.id, why="Again.", now=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.suspended_why) == ("suspended", "Enough.")


@pytest.mark.parametrize(
    ("action_type", "arguments"),
    [
        ("send_email", {"to": ["a@x.com"], "subject": "s", "body": "b"}),
        ("draft", {}),
        ("create_jira_task", {}),
        ("nothing", {}),
        ("classify", {}),
        ("classify", {"label_id": "label fyi"}),
        ("classify", {"label_id": "label_fyi", "email_id": "mail-1"}),
        ("archive", {"label_id": "label_fyi"}),
        ("archive", []),
        ("archive", None),
    ],
)
def test_a_pattern_action_that_could_not_run_is_refused(
    mailbox: Account, action_type: str, arguments: Any
) -> None:
    found = pattern(mailbox)
    found.save()
    with pytest.raises(ValidationError):
        PatternAction.objects.create(pattern=found, action_type=action_type, arguments=arguments)


def test_a_pattern_action_holds_arguments_without_the_item(mailbox: Account) -> None:
    found = pattern(mailbox)
    found.save()
    PatternAction.objects.create(pattern=found, order=0, action_type="archive")
    PatternAction.objects.create(
        pattern=found, order=1, action_type="classify", arguments={"label_id": "label_fyi"}
    )
    with pytest.raises(ValidationError):
        PatternAction.objects.create(pattern=found, order=1, action_type="archive")


# --- the ceiling -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"at_most": "auto"}, "Name the conditions"),
        ({"at_most": "draft_only"}, "Name an action that has a draft"),
        ({"action_type": "archive", "at_most": "draft_only"}, "Name an action that has a draft"),
        ({"at_most": "auto", "hold_seconds": 10**6}, "less than or equal to 604800"),
        ({"at_most": "never", "conditions": [{"kind": "thread"}]}, "needs no conditions"),
        ({"conditions": [{"kind": "invented"}]}, "is not a condition"),
        ({"conditions": [{"kind": "max_recipients", "max": 1}]}, "Name an action that it fits"),
        ({"conditions": [{"kind": "thread"}]}, "Name an action that it fits"),
        (
            {"action_type": "archive", "conditions": [{"kind": "max_recipients", "max": 1}]},
            "cannot be judged for “Archive a mail”",
        ),
        ({"action_type": "invented"}, "is not a valid choice"),
    ],
)
def test_a_ceiling_limit_that_makes_no_sense_is_refused(
    mailbox: Account, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        CeilingLimit.objects.create(organisation=mailbox.organisation, **fields)


def test_a_ceiling_limit_is_kept(mailbox: Account) -> None:
    row = CeilingLimit.objects.create(
        organisation=mailbox.organisation,
        action_type="send_email",
        at_most="auto",
        conditions=[{"kind": "recipient_domain", "domains": ["company.com"]}],
    )
    assert str(row) == "Send a mail · Only under these conditions"
