"""Conditions are filled in field by field; what is submitted is exactly what is stored."""

import re
from typing import Any

import pytest
from django import forms
from django.db import connection
from django.test import Client
from django.urls import reverse

from guardrails.admin import schema_form
from guardrails.admin.policies import conditions_form
from guardrails.decide.conditions.base import Condition
from guardrails.decide.conditions.vocabulary import BY_KIND, CONDITIONS
from guardrails.models import AllowedAction, CeilingLimit
from tests.guardrails.forms import allowed_action_form
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"
HOURS = {
    "kind": "business_hours",
    "zone": "Europe/Stockholm",
    "start": "08:00",
    "end": "16:00",
    "days": ["mon", "fri"],
}


def filled(*kinds: str, **fields: Any) -> dict[str, Any]:
    """The list as a browser sends it: kinds in order, and fields such as `_0_domains`."""
    sent: dict[str, Any] = {"conditions": [str(number) for number in range(len(kinds))]}
    sent |= {f"conditions-{number}-kind": kind for number, kind in enumerate(kinds)}
    return sent | {re.sub(r"^_(\d+)_", r"conditions-\1-", k): v for k, v in fields.items()}


def post(client: Client, office: Office, /, row: Any = None, **data: Any) -> str:
    name = f"guardrails_allowedaction_{'change' if row else 'add'}"
    address = reverse(f"admin:{name}", args=[row.pk] if row else [])
    response = client.post(address, allowed_action_form(office, **data), follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


@pytest.mark.parametrize("kind", CONDITIONS, ids=conditions_form.kind_of)
def test_every_field_of_every_kind_can_be_filled_in(kind: type[Condition]) -> None:
    fields = schema_form.fields(kind, without=("kind",))
    properties = kind.model_json_schema()["properties"]
    assert list(fields) == [name for name in kind.model_fields if name != "kind"]
    assert kind.title
    assert conditions_form.about(kind)
    for name in fields:
        plain = schema_form._plain(properties[name], kind.model_json_schema().get("$defs", {}))
        assert plain.get("type") in {"string", "integer", "number", "boolean", "array"}, name


def test_conditions_are_stored_as_they_were_filled_in(office: Office, client: Client) -> None:
    sent = filled(
        "sender",
        "business_hours",
        "sender_authenticated",
        "first_contact",
        "thread",
        _0_addresses="",
        _0_domains="company.com\r\n\r\n client.com ",
        _1_zone="Europe/Stockholm",
        _1_start="08:00",
        _1_end="16:00",
        _1_days=["mon", "fri"],
        _3_first_contact="false",
        _4_min_messages="3",
    )

    post(client, office, **sent)

    stored = AllowedAction.objects.get().conditions
    assert stored == [
        {"kind": "sender", "domains": ["company.com", "client.com"]},
        HOURS,
        {"kind": "sender_authenticated"},
        {"kind": "first_contact", "first_contact": False},
        {"kind": "thread", "min_messages": 3},
    ]


def test_no_conditions_are_an_empty_list(office: Office, client: Client) -> None:
    post(client, office)
    assert AllowedAction.objects.get().conditions == []


def test_a_condition_that_means_the_same_stays_as_it_was_written(
    office: Office, client: Client
) -> None:
    short = {"kind": "business_hours", "zone": "Europe/Stockholm"}
    allowed_action = office.permit("archive", conditions=[short])
    whole = {"_0_start": "09:00", "_0_end": "17:00", "_0_zone": "Europe/Stockholm"}
    days = ["mon", "tue", "wed", "thu", "fri"]

    post(client, office, allowed_action, **filled("business_hours", **whole, _0_days=days))

    allowed_action.refresh_from_db()
    assert (allowed_action.conditions, allowed_action.approval_mode) == ([short], "ask")


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (filled("sender"), "Name at least one address or domain."),
        (filled("thread", _0_min_messages="two"), "Enter a whole number."),
        (filled("thread", _0_min_messages="0"), "greater than or equal to 1"),
        (filled("trigger"), "This field is required."),
        (filled("trigger", _0_any_of="fortune"), "fortune is not one of the available choices"),
        (
            filled("sender", _0_domains=f"company.com\n{HOSTILE}"),
            "&gt;” has no plain domain",
        ),
        (
            filled("business_hours", _0_zone="Mars/Base", _0_start="9", _0_end="17:00"),
            "Mars/Base is not one of the available choices",
        ),
        (
            filled(
                "business_hours", _0_zone="UTC", _0_start="18:00", _0_end="17:00", _0_days="mon"
            ),
            "Start must be before end, on one day.",
        ),
        (filled("max_recipients", _0_max="1"), "would refuse everything"),
        ({"conditions": "0", "conditions-0-kind": "invented"}, "Remove what cannot be read"),
        ({"conditions": "0", "conditions-0-stored": "{"}, "Remove what cannot be read"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(
    office: Office, client: Client, sent: dict[str, Any], sentence: str
) -> None:
    text = post(client, office, **sent)

    assert sentence in text
    assert HOSTILE not in text
    assert not AllowedAction.objects.exists()


def test_an_error_belongs_to_its_field(office: Office, client: Client) -> None:
    text = post(client, office, **filled("thread", _0_min_messages="two"))

    (field,) = re.findall(r'<input[^>]*name="conditions-0-min_messages"[^>]*>', text)
    assert 'aria-invalid="true"' in field
    assert "id_conditions-0-min_messages_error" in field
    assert 'id="id_conditions-0-min_messages_error"' in text


def test_a_condition_is_added_without_losing_what_was_typed(office: Office, client: Client) -> None:
    sent = filled("sender", _0_domains="half typed")

    text = post(
        client,
        office,
        **sent,
        **{"conditions-add": "1", "conditions-kind": "business_hours", "approval_mode": "never"},
    )

    assert "half typed" in text
    assert 'name="conditions-1-zone"' in text
    assert 'value="09:00"' in text
    assert re.search(r'<option value="never" selected', text)
    assert "Please correct" not in text
    assert 'aria-invalid="true"' not in text
    assert not AllowedAction.objects.exists()


def test_a_condition_is_removed_from_the_middle(office: Office, client: Client) -> None:
    allowed_action = office.permit("archive", conditions=[{"kind": "sender_authenticated"}])
    sent = filled("sender_authenticated", "thread", _1_min_messages="7")

    text = post(client, office, allowed_action, **sent, **{"conditions-remove": "0"})

    assert 'name="conditions-1-min_messages" value="7"' in text
    assert 'name="conditions-0-kind"' not in text
    allowed_action.refresh_from_db()
    assert allowed_action.conditions == [{"kind": "sender_authenticated"}]


def test_nothing_is_added_without_a_kind(office: Office, client: Client) -> None:
    for kind in ("", "invented"):
        text = post(client, office, **{"conditions-add": "1", "conditions-kind": kind})
        assert 'name="conditions-0-kind"' not in text


@pytest.mark.parametrize("raw", ['[{"kind": "gone", "x": "<b>"}]', '"thread"', '[{"kind": 5}]'])
def test_what_cannot_be_read_is_shown_and_can_be_removed(
    office: Office, client: Client, raw: str
) -> None:
    allowed_action = office.permit("archive")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE guardrails_allowedaction SET conditions = %s WHERE id = %s",
            [raw, allowed_action.pk],
        )
    address = reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk])

    shown = client.get(address).content.decode()
    (stored,) = re.findall(r'name="conditions-0-stored" value="([^"]*)"', shown)
    kept = post(
        client, office, allowed_action, **{"conditions": "0", "conditions-0-stored": stored}
    )

    assert "A condition that cannot be read" in shown
    assert "<b>" not in shown
    assert "Remove what cannot be read" in kept
    post(client, office, allowed_action)
    allowed_action.refresh_from_db()
    assert allowed_action.conditions == []


def test_every_stored_condition_is_shown_in_its_fields(office: Office, client: Client) -> None:
    allowed_action = office.permit(
        "archive", conditions=[HOURS, {"kind": "sender", "domains": ["a.com"]}]
    )
    address = reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk])

    text = client.get(address).content.decode()

    assert re.search(r'<option value="Europe/Stockholm" selected', text)
    assert len(re.findall(r'name="conditions-0-days"[^>]*" checked', text)) == 2
    assert re.search(r'<textarea name="conditions-1-domains"[^>]*>\s*a.com</textarea>', text)
    assert "{&quot;kind&quot;" not in text


def test_the_ceiling_has_the_same_list(office: Office, client: Client) -> None:
    address = reverse("admin:guardrails_ceilinglimit_add")
    values = {
        "organisation": office.organisation.pk,
        "action_type": "send_email",
        "at_most": "auto",
        "hold_seconds": "0",
        "note": "",
    }
    client.post(address, values | filled("recipient_domain", _0_domains="company.com"))
    assert CeilingLimit.objects.get(organisation=office.organisation).conditions == [
        {"kind": "recipient_domain", "domains": ["company.com"]}
    ]


def test_kinds_and_forms_are_one(office: Office) -> None:
    for kind, model in BY_KIND.items():
        form = conditions_form.ConditionForm(model, "x")
        assert all(isinstance(field, forms.Field) for field in form.fields.values())
        assert conditions_form.kind_of(model) == kind
