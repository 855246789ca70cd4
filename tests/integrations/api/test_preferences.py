"""A user's preferences over the API, and in the admin."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from integrations.models import Account, Organisation, ServiceToken, UserPreferences
from integrations.models.preferences import find_zones, load_preferences
from tests.clients import log_in, log_in_superuser

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/preferences"


@pytest.fixture
def organisation() -> Organisation:
    found = Organisation.objects.create(slug="default", name="Default")
    for source, zone in (("gmail", "Europe/Stockholm"), ("jira", "Asia/Tokyo")):
        Account.objects.create(
            organisation=found,
            external_user_id="maya",
            source=source,
            display_name="Maya Lindqvist",
            time_zone=zone,
        )
    return found


def token_of(organisation: Organisation, **more: Any) -> str:
    fields = {"name": "web", "scopes": ["chat"]} | more
    return ServiceToken.issue(organisation=organisation, **fields)[1]


def call(token: str, body: object = None, *, user: str = "maya") -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{ADDRESS}?user_id={user}"
    if body is None:
        return Client().get(address, headers=headers)
    return Client().patch(
        address, json.dumps(body), content_type="application/json", headers=headers
    )


def test_who_has_said_nothing_has_name_and_zone_of_the_account_connected_first(
    organisation: Organisation,
) -> None:
    answer = call(token_of(organisation))

    assert answer.status_code == 200
    usual = {"start": "08:00", "end": "18:00"}
    assert answer.json() == {
        "user_id": "maya",
        "name": "",
        "language": "",
        "time_zone": "",
        "working_hours": {},
        "signature": "",
        "known_senders": [],
        "daily_digest": None,
        "in_effect": {
            "name": "Maya Lindqvist",
            "time_zone": "Europe/Stockholm",
            "working_hours": dict.fromkeys(
                ("monday", "tuesday", "wednesday", "thursday", "friday"), usual
            ),
            "daily_digest": False,
        },
    }
    assert not UserPreferences.objects.exists()


def test_what_is_named_is_changed_and_the_rest_stays(organisation: Organisation) -> None:
    token = token_of(organisation)
    hours = {"monday": {"start": "09:00", "end": "15:30"}}

    first = call(token, {"language": "DE-at", "signature": "Maya\nBerg & Co", "name": "Dr. Maya"})
    second = call(token, {"time_zone": "Europe/Vienna", "working_hours": hours})

    assert (first.status_code, second.status_code) == (200, 200)
    said = second.json()
    assert (said["name"], said["language"], said["signature"]) == (
        "Dr. Maya",
        "de-AT",
        "Maya\nBerg & Co",
    )
    assert said["in_effect"] == {
        "name": "Dr. Maya",
        "time_zone": "Europe/Vienna",
        "working_hours": hours,
        "daily_digest": False,
    }
    assert UserPreferences.objects.count() == 1
    assert call(token, {"daily_digest": True}).json()["in_effect"]["daily_digest"] is True
    known = call(token, {"known_senders": ["Tom@Client.com", "ann@client.com", "tom@client.com"]})
    assert known.json()["known_senders"] == ["ann@client.com", "tom@client.com"]
    assert call(token, {"working_hours": {}}).json()["working_hours"] == {}
    assert call(token, {"time_zone": ""}).json()["in_effect"]["time_zone"] == "Europe/Stockholm"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"language": "german"}, "language"),
        ({"name": "Maya\u202e"}, "name"),
        ({"name": "Maya\nBerg"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"signature": "x" * 1001}, "signature"),
        ({"signature": "Maya\u0007"}, "signature"),
        ({"working_hours": {"monday": {"start": "17:00", "end": "09:00"}}}, "working_hours"),
        ({"working_hours": {"someday": {"start": "09:00", "end": "17:00"}}}, "working_hours"),
        ({"known_senders": ["Tom <tom@client.com>"]}, "known_senders"),
        ({"known_senders": ["client.com"]}, "known_senders"),
        ({"known_senders": ["a@b.example"] * 501}, "known_senders"),
        ({"user_id": "omar"}, "user_id"),
        ({"name": 7}, "name"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(
    organisation: Organisation, body: dict[str, Any], field: str
) -> None:
    answer = call(token_of(organisation), body)

    assert answer.status_code == 400
    assert field in json.dumps(answer.json())
    assert not UserPreferences.objects.exists()


def test_nobody_elses_preferences_are_read_or_changed(organisation: Organisation) -> None:
    Account.objects.create(organisation=organisation, external_user_id="omar", source="gmail")
    other = Organisation.objects.create(slug="other", name="Other")
    Account.objects.create(organisation=other, external_user_id="maya", source="gmail")
    mayas, theirs = token_of(organisation, user_ids=["maya"]), token_of(other)
    UserPreferences.objects.create(organisation=other, external_user_id="maya", name="Theirs")

    for answer in (call(mayas, user="omar"), call(mayas, {"name": "x"}, user="omar")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_user")
    assert call(token_of(organisation), {"name": "x"}, user="nobody").status_code == 404
    assert call(mayas).json()["name"] == ""
    assert call(theirs).json()["name"] == "Theirs"
    assert UserPreferences.objects.count() == 1
    assert call(token_of(organisation, scopes=["sync"])).status_code == 403


def test_zones_are_the_users_own_or_those_of_their_first_account(
    organisation: Organisation,
) -> None:
    for user in ("omar", "hannah"):
        Account.objects.create(
            organisation=organisation, external_user_id=user, source="gmail", time_zone="Asia/Tokyo"
        )
    UserPreferences.objects.create(
        organisation=organisation, external_user_id="omar", time_zone="Europe/Rome"
    )

    found = find_zones(organisation.id, ["maya", "omar", "hannah", "nobody"])

    assert found == {"maya": "Europe/Stockholm", "omar": "Europe/Rome", "hannah": "Asia/Tokyo"}


def test_an_operator_edits_them_in_the_admin(organisation: Organisation) -> None:
    client = log_in_superuser("olga")
    form = {
        "organisation": str(organisation.id),
        "external_user_id": "maya",
        "name": "Maya",
        "language": "FR",
        "time_zone": "Europe/Paris",
        "signature": "Maya\r\nBerg & Co",
        "known_senders": "tom@client.com, Ann@client.com\r\n\r\nzoe@client.com\r\n",
        "monday": "09:00 - 17:30",
        "tuesday": "9 to 5",
    }
    address = reverse("admin:integrations_userpreferences_add")

    empty = client.get(address).context["adminform"].form
    offered = empty.fields["external_user_id"].widget.choices
    assert list(offered) == [("", "Choose a user"), ("maya", "Maya Lindqvist (maya)")]
    assert empty.initial["organisation"] == organisation.id
    refused = client.post(address, form | {"time_zone": "Europe/Nowhere"})
    assert "is not a time zone" in refused.content.decode()
    refused = client.post(address, form | {"known_senders": "tom@client.com\r\nzoe"})
    assert "Write plain addresses" in refused.content.decode()
    refused = client.post(address, form)
    assert "Write from when to when" in refused.content.decode()
    assert client.post(address, form | {"tuesday": "09:00\u201312:00"}).status_code == 302

    row = UserPreferences.objects.get()
    assert (row.language, row.signature) == ("fr", "Maya\nBerg & Co")
    assert row.known_senders == ["ann@client.com", "tom@client.com", "zoe@client.com"]
    assert row.working_hours == {
        "monday": {"start": "09:00", "end": "17:30"},
        "tuesday": {"start": "09:00", "end": "12:00"},
    }
    change = reverse("admin:integrations_userpreferences_change", args=[row.pk])
    assert 'value="09:00-17:30"' in client.get(change).content.decode()
    assert client.post(change, form | {"tuesday": "", "name": ""}).status_code == 302
    found = load_preferences(organisation.id, "maya")
    assert (found.name, list(found.working_hours)) == ("", ["monday"])
    assert log_in("guest").get(change).status_code == 403
