"""A trial of calendars at Google with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.credentials.oauth import Tokens
from integrations.exceptions import NotPermitted, Rejected
from integrations.providers.google.servers import READ_EVENTS
from integrations.providers.google_calendar import trial
from integrations.providers.google_calendar.connectable import CONNECTABLE
from tests.google_calendar_world import ADDRESS, TEAM, TOKEN, GoogleCalendar
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def tokens(*scopes: str) -> Tokens:
    return Tokens(access=TOKEN, refresh="r", expires_at=timezone.now(), scopes=scopes)


def test_what_is_there_is_said_before_anything_is_stored(google: GoogleCalendar) -> None:
    google.calendars[TEAM] = "reader"
    tried = trial.try_account(tokens(*trial.SCOPES), address=ADDRESS.upper(), api=google.api)

    assert tried.calendars == ("Nora", "Team")
    assert {one.grade for one in tried.abilities} == {"A"}
    assert (tried.servers, google.writes) == ({"api": google.api, "ends_at": ""}, [])


def test_half_a_yes_another_user_and_an_api_that_is_off_are_said(google: GoogleCalendar) -> None:
    with pytest.raises(Rejected, match="read the calendars and change the user's own"):
        trial.try_account(tokens(READ_EVENTS), address=ADDRESS, api=google.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}, and tom@office.test"):
        trial.try_account(tokens(), address="tom@office.test", api=google.api)
    google.refuse = [Refuse(403, {"error": {"errors": [{"reason": "accessNotConfigured"}]}})]
    with pytest.raises(NotPermitted, match="Is the Google Calendar API switched on"):
        trial.try_account(tokens(), address=ADDRESS, api=google.api)
    google.calendars = {TEAM: "owner"}
    with pytest.raises(Rejected):
        trial.try_account(tokens(), address=ADDRESS, api=google.api)


def test_google_is_asked_for_no_more_than_is_needed() -> None:
    consent = CONNECTABLE.consent
    assert consent is not None
    assert [one.rpartition("/")[2] for one in consent.scopes] == [
        "calendar.calendarlist.readonly",
        "calendar.events.readonly",
        "calendar.events.owned",
    ]
