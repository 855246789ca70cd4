"""A trial of calendars at Microsoft with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected, SignInNeeded
from integrations.providers.microsoft_calendar import trial
from tests.microsoft_calendar_world import ADDRESS, BOSS, TEAM, TOKEN, OutlookCalendar

pytestmark = pytest.mark.django_db


def tokens(*scopes: str, access: str = TOKEN) -> Tokens:
    return Tokens(access=access, refresh="r", expires_at=timezone.now(), scopes=scopes)


@pytest.mark.parametrize("scopes", [(), trial.SCOPES[:2], ("calendars.readwrite", "User.Read")])
def test_what_is_there_is_said_before_anything_is_stored_and_no_more_is_asked_for(
    outlook: OutlookCalendar, scopes: tuple[str, ...]
) -> None:
    outlook.calendars[TEAM] = ("Team", ADDRESS, False)
    outlook.calendars[BOSS] = ("Boss", "boss@office.test", True)
    tried = trial.try_account(tokens(*scopes), address=ADDRESS.upper(), api=outlook.api)

    assert tried.calendars == ("Calendar", "Team")
    assert [one.grade for one in tried.abilities] == ["A", "A", "B", "A"]
    assert (tried.servers, outlook.writes) == ({"api": outlook.api, "ends_at": ""}, [])
    assert [one.rpartition("/")[2] for one in trial.SCOPES] == [
        *("Calendars.ReadWrite", "User.Read", "offline_access")
    ]


def test_half_a_yes_another_user_and_a_token_that_is_not_taken_are_said(
    outlook: OutlookCalendar,
) -> None:
    with pytest.raises(Rejected, match="read and change the calendars"):
        trial.try_account(tokens("User.Read"), address=ADDRESS, api=outlook.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}"):
        trial.try_account(tokens(), address="tom@office.test", api=outlook.api)
    with pytest.raises(SignInNeeded, match="does not show these calendars"):
        trial.try_account(tokens(access="old"), address=ADDRESS, api=outlook.api)
    outlook.calendars = {BOSS: ("Boss", "boss@office.test", True)}
    with pytest.raises(Rejected):
        trial.try_account(tokens(), address=ADDRESS, api=outlook.api)
