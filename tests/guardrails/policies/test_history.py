"""The history of policy as people read it."""

import pytest
from django.test import Client

from guardrails.models import AllowedAction, AllowedActionOption, TargetGroup
from guardrails.policies import changes, history
from guardrails.policies.changes import Author
from guardrails.policies.history import FieldChange, differences
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PAGE = "/admin/guardrails/allowedaction/history/"
OLGA = Author(name="operator:olga", door="admin")
HOSTILE = "<script>alert(1)</script>\u202e"


def rename(office: Office, name: str) -> None:
    row = office.list_target("classify", "label", "label_fyi", "FYI")
    with changes.recording(AllowedActionOption, [row.pk], author=OLGA):
        AllowedActionOption.objects.filter(pk=row.pk).update(name=name)


def test_a_change_is_named_field_by_field(office: Office) -> None:
    rename(office, "News")
    (change,) = history.history(organisation_id=office.organisation.id).changes
    assert (change.verb, change.kind, change.door) == ("changed", "target", "admin")
    assert (change.who, change.account_id) == ("operator olga", office.mailbox.id)
    assert change.fields == (FieldChange(name="name", before="FYI", after="News"),)


def test_a_group_is_named_by_its_name(office: Office) -> None:
    group = TargetGroup.objects.create(account=office.mailbox, name="Thread status")
    row = office.list_target("classify", "label", "label_fyi", "FYI")
    with changes.recording(AllowedActionOption, [row.pk], author=OLGA):
        AllowedActionOption.objects.filter(pk=row.pk).update(group=group)

    (change,) = history.history(organisation_id=office.organisation.id).changes
    assert change.fields == (FieldChange(name="group", before="empty", after="Thread status"),)


def test_a_new_row_tells_what_it_says_and_no_more() -> None:
    new = {"id": "1", "enabled": True, "note": "", "conditions": [], "mode": "ask"}
    assert [(one.name, one.before, one.after) for one in differences(None, new)] == [
        ("enabled", None, "yes"),
        ("mode", None, "ask"),
    ]
    assert [one.after for one in differences(new, None)] == [None] * 4


def test_actions_and_times_of_a_pattern_are_put_in_words() -> None:
    new = {
        "account_id": "00000000-0000-4000-8000-000000000001",
        "actions": [["classify", {"label_id": "label_fyi"}], ["archive", {}]],
        "digest": "aa",
        "expires_at": "2026-11-21T21:45:32.401041+01:00",
    }
    assert [(one.name, one.after) for one in differences(None, new)] == [
        ("actions", "Label a mail (label id label_fyi); Archive a mail"),
        ("expires at", "2026-11-21 20:45:32 UTC"),
    ]


def test_the_page_shows_the_history_of_one_organisation_as_plain_text(
    office: Office, client: Client
) -> None:
    rename(office, HOSTILE)
    text = read_page(client, PAGE, organisation=office.organisation.slug)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩" in text
    assert HOSTILE not in text
    assert "through admin" in text
    assert f"For {office.mailbox}".replace("'", "&#x27;") in text


def test_the_page_is_for_those_who_may_see_allowed_actions(office: Office) -> None:
    assert log_in("stan").get(PAGE).status_code == 403
    assert log_in("rita", "view_allowedaction").get(PAGE).status_code == 200


def test_older_changes_are_a_page_further(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 2)
    rows = [office.list_target("classify", "label", f"label_{number}") for number in range(3)]
    changes.record_made(rows, author=OLGA)
    organisation_id = office.organisation.id
    first = history.history(organisation_id=organisation_id)
    second = history.history(organisation_id=organisation_id, before=first.before)
    assert [len(first.changes), len(second.changes), second.before] == [2, 1, None]
    other = history.history(organisation_id=organisation_id, account_id=office.tracker.id)
    assert other.changes == ()


def test_allowed_actions_are_named_by_their_name(office: Office) -> None:
    changes.record_made([office.permit("archive")], author=OLGA)
    (change,) = history.history(organisation_id=office.organisation.id).changes
    assert change.name == str(AllowedAction.objects.get())
