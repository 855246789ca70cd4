"""No condition is stored that is not understood or fits no action, whichever door it takes."""

import json
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.core import serializers
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import transaction
from django.db.migrations.state import ProjectState
from django.db.models import Model, Value
from django.http import QueryDict

from guardrails.admin.policies.allowed_actions import AllowedActionForm
from guardrails.models import AllowedAction, AllowedActionOption, CeilingLimit
from guardrails.policies import files as policy_files, text as policy_text
from guardrails.policies.text import PolicyFileError
from integrations.models import Account

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

UNKNOWN = [{"kind": "invented"}]
WRONG = [{"kind": "age", "min_hours": 2, "max_hours": 1}]
UNFIT = [{"kind": "notice", "min_hours": 24}]
SAYS = "invented|more than|is about when an event starts"


def row(mailbox: Account, raw: Any = None) -> AllowedAction:
    return AllowedAction(account=mailbox, action_type="archive", conditions=raw or [])


def kept(mailbox: Account, raw: Any = None) -> AllowedAction:
    found = row(mailbox)
    found.save()
    found.conditions = raw or []
    return found


def record(row: Model, **fields: Any) -> dict[str, Any]:
    """The row as a fixture has it, with other fields."""
    (found,) = json.loads(serializers.serialize("json", [row]))
    return {**found, "fields": found["fields"] | fields}


def load(records: list[dict[str, Any]]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(records, file)
        file.flush()
        call_command("loaddata", file.name, verbosity=0)


def historical() -> Any:
    """The model as a data migration has it, without the code of the real one."""
    return ProjectState.from_apps(apps).apps.get_model("guardrails", "AllowedAction")


def by_save(mailbox: Account, raw: Any) -> None:
    row(mailbox, raw).save()


def by_create(mailbox: Account, raw: Any) -> None:
    AllowedAction.objects.create(account=mailbox, action_type="archive", conditions=raw)


def by_related_create(mailbox: Account, raw: Any) -> None:
    mailbox.allowed_actions.create(action_type="archive", conditions=raw)


def by_update_or_create(mailbox: Account, raw: Any) -> None:
    kept(mailbox)
    AllowedAction.objects.update_or_create(account=mailbox, defaults={"conditions": raw})


def by_bulk_create(mailbox: Account, raw: Any) -> None:
    AllowedAction.objects.bulk_create([row(mailbox, raw)])


def by_bulk_create_of_a_queryset(mailbox: Account, raw: Any) -> None:
    AllowedAction.objects.all().bulk_create([row(mailbox, raw)])


def by_bulk_update(mailbox: Account, raw: Any) -> None:
    AllowedAction.objects.bulk_update([kept(mailbox, raw)], ["conditions"])


def by_update(mailbox: Account, raw: Any) -> None:
    kept(mailbox)
    AllowedAction.objects.filter(account=mailbox).update(conditions=raw)


def by_related_update(mailbox: Account, raw: Any) -> None:
    kept(mailbox)
    mailbox.allowed_actions.update(conditions=raw)


def by_historical_create(mailbox: Account, raw: Any) -> None:
    historical().objects.create(account_id=mailbox.pk, action_type="archive", conditions=raw)


def by_historical_bulk_create(mailbox: Account, raw: Any) -> None:
    model = historical()
    model.objects.bulk_create([model(account_id=mailbox.pk, action_type="archive", conditions=raw)])


def by_historical_update(mailbox: Account, raw: Any) -> None:
    kept(mailbox)
    historical().objects.update(conditions=raw)


def by_historical_bulk_update(mailbox: Account, raw: Any) -> None:
    kept(mailbox)
    old = historical().objects.get()
    old.conditions = raw
    historical().objects.bulk_update([old], ["conditions"])


def by_loaddata(mailbox: Account, raw: Any) -> None:
    load([record(kept(mailbox), conditions=raw)])


DOORS = [
    by_save,
    by_create,
    by_related_create,
    by_update_or_create,
    by_bulk_create,
    by_bulk_create_of_a_queryset,
    by_bulk_update,
    by_update,
    by_related_update,
    by_historical_create,
    by_historical_bulk_create,
    by_historical_update,
    by_historical_bulk_update,
    by_loaddata,
]


@pytest.mark.parametrize("raw", [UNKNOWN, WRONG, UNFIT])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_it(
    mailbox: Account, door: Callable[[Account, Any], None], raw: Any
) -> None:
    with pytest.raises(ValidationError, match=SAYS), transaction.atomic():
        door(mailbox, raw)
    assert not AllowedAction.objects.exclude(conditions=[]).exists()


@pytest.mark.parametrize("door", DOORS)
def test_every_door_lets_a_sound_one_through(
    mailbox: Account, door: Callable[[Account, Any], None]
) -> None:
    sound = [{"kind": "sender_authenticated"}]
    door(mailbox, sound)
    assert AllowedAction.objects.get().conditions == sound


@pytest.mark.parametrize("raw", [UNKNOWN, WRONG])
def test_where_no_row_is_at_hand_it_is_still_understood(mailbox: Account, raw: Any) -> None:
    """Expressions, and code of one's own that stores a fixture without `loaddata`."""
    row = kept(mailbox)
    (loaded,) = serializers.deserialize("json", json.dumps([record(row, conditions=raw)]))
    with pytest.raises(ValidationError, match=SAYS), transaction.atomic():
        loaded.save()
    with pytest.raises(ValidationError, match=SAYS), transaction.atomic():
        AllowedAction.objects.update(conditions=Value(raw, row._meta.get_field("conditions")))


def test_loaddata_takes_rows_that_refer_to_later_ones(mailbox: Account) -> None:
    row = kept(mailbox)
    records = [record(row), record(mailbox)]
    Account.objects.all().delete()
    load(records)
    assert AllowedAction.objects.get().account_id == row.account_id


def test_loaddata_loads_all_or_nothing_in_the_form_that_is_compared(mailbox: Account) -> None:
    company = AllowedActionOption(
        account=mailbox,
        action_type="send_email",
        source="gmail",
        kind="recipient_domain",
        external_id="Company.COM",
        name="Us",
    )
    every = AllowedActionOption(
        account=mailbox,
        action_type="send_email",
        source="gmail",
        kind="recipient_domain",
        external_id="*.company.com",
        name="All of us",
    )
    with pytest.raises(ValidationError, match="company"):
        load([record(company), record(every)])
    assert not AllowedActionOption.objects.exists()
    load([record(company)])
    assert AllowedActionOption.objects.get().external_id == "company.com"


def test_another_action_that_a_condition_does_not_fit_is_refused(mailbox: Account) -> None:
    sound = [{"kind": "age", "max_hours": 24}]
    AllowedAction.objects.create(account=mailbox, action_type="archive", conditions=sound)
    with pytest.raises(ValidationError, match="cannot be judged"):
        AllowedAction.objects.update(action_type="delete_draft")
    assert AllowedAction.objects.get().action_type == "archive"


def test_the_ceiling_refuses_it_too(mailbox: Account) -> None:
    tenant = mailbox.organisation
    for raw in (UNKNOWN, WRONG, UNFIT):
        with pytest.raises(ValidationError, match=SAYS):
            CeilingLimit.objects.create(
                organisation=tenant, action_type="archive", conditions=raw, at_most="ask"
            )
    with pytest.raises(ValidationError, match="Name an action that it fits"):
        CeilingLimit.objects.create(organisation=tenant, conditions=UNFIT, at_most="ask")


@pytest.mark.parametrize("raw", [UNKNOWN, WRONG, UNFIT])
def test_a_policy_file_with_it_is_refused(mailbox: Account, raw: Any) -> None:
    text = json.dumps(
        {
            "version": 1,
            "allowed_actions": [{"action": "archive", "mode": "auto", "conditions": raw}],
        }
    )
    with pytest.raises(PolicyFileError, match=SAYS):
        policy_files.whole(mailbox, policy_text.read(text))
    assert not AllowedAction.objects.exists()


def test_the_form_of_the_admin_says_which_condition_cannot_be_judged(mailbox: Account) -> None:
    data = QueryDict(mutable=True)
    data.update(
        {
            "account": str(mailbox.pk),
            "action_type": "archive",
            "approval_mode": "auto",
            "hold_seconds": "0",
            "conditions": "0",
            "conditions-0-kind": "notice",
            "conditions-0-min_hours": "24",
        }
    )
    form = AllowedActionForm(data)
    assert "“notice” cannot be judged for “Archive a mail”" in str(form.errors)
