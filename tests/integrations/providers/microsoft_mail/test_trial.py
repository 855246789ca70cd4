"""A trial of a mailbox at Microsoft with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected, SignInNeeded
from integrations.providers.microsoft_mail import trial
from tests.microsoft_world import ADDRESS, TOKEN, Outlook

pytestmark = pytest.mark.django_db


def tokens(*scopes: str, access: str = TOKEN) -> Tokens:
    return Tokens(access=access, refresh="r", expires_at=timezone.now(), scopes=scopes)


@pytest.mark.parametrize(
    "scopes", [(), trial.SCOPES[:3], ("mail.readwrite", "mail.send", "User.Read")]
)
def test_what_can_be_done_there_is_said_with_how_surely_and_no_more_is_asked_for(
    outlook: Outlook, scopes: tuple[str, ...]
) -> None:
    outlook.receive("Lunch")
    tried = trial.try_account(tokens(*scopes), address=ADDRESS, api=outlook.api)

    assert (tried.mails, tried.servers["folders"]) == (1, outlook.folders)
    assert [one.grade for one in tried.abilities] == ["A", "B", "B", "B", "B", "C", "B", ""]
    assert [one.rpartition("/")[2] for one in trial.SCOPES] == [
        *("Mail.ReadWrite", "Mail.Send", "User.Read", "offline_access")
    ]


def test_half_a_yes_another_user_and_a_token_that_is_not_taken_are_said(outlook: Outlook) -> None:
    with pytest.raises(Rejected, match="read, change and send"):
        trial.try_account(tokens("Mail.ReadWrite", "User.Read"), address=ADDRESS, api=outlook.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}"):
        trial.try_account(tokens(), address="tom@office.test", api=outlook.api)
    with pytest.raises(SignInNeeded, match="does not show this mailbox"):
        trial.try_account(tokens(access="old"), address=ADDRESS, api=outlook.api)
