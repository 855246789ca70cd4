"""Connecting and disconnecting on pages; over the API see `tests/integrations/api`."""

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from integrations.credentials import credentials
from integrations.models import Account, Credential, Membership
from tests.clients import log_in, log_in_superuser, read_page
from tests.clocks import HOUR, clock_off
from tests.integrations.providers.imap.box import Box
from tests.mail_world import PASSWORD, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]


def given(box: Box, **more: str) -> dict[str, str]:
    return {
        "user_id": "maya",
        "address": f"maya-{uuid4().hex[:8]}@office.test",
        "password": PASSWORD,
        "time_zone": "UTC",
        "imap": f"127.0.0.1:{box.world.imap}",
        "smtp": f"127.0.0.1:{box.world.smtp}",
        "smtp_security": "starttls",
        **more,
    }


def at(box: Box) -> str:
    address = reverse("admin:integrations_account_connect")
    return f"{address}?organisation={box.account.organisation_slug}"


def test_staff_see_what_can_be_done_before_they_connect(box: Box) -> None:
    client, asked = log_in("olga", "view_account", "add_account", "change_account"), given(box)
    assert at(box).partition("?")[0] in read_page(
        client, reverse("admin:integrations_account_changelist")
    )

    shown = client.post(at(box), asked).content.decode()

    assert "Send, answer and forward</strong>: grade C" in shown
    assert "Know who really sent a mail</strong>: not here" in shown
    assert PASSWORD not in shown
    assert not Account.objects.filter(address=asked["address"]).exists()
    offer = re.search(r'name="offer" value="([^"]+)"', shown)
    assert offer is not None

    with clock_off(HOUR):
        late = client.post(at(box), {"offer": offer[1]}).content.decode()
    assert "This took longer than ten minutes." in late
    assert not Account.objects.filter(address=asked["address"]).exists()

    answer = client.post(at(box), {"offer": offer[1]})

    account = Account.objects.get(address=asked["address"])
    assert answer["Location"] == (
        f"{reverse('admin:guardrails_policy_explain')}?account={account.pk}"
    )
    assert account.organisation_id == box.account.organisation_id
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD
    # A page that was left open by somebody else connects nothing.
    Credential.objects.filter(account=account).delete()
    other = log_in("omar", "view_account", "add_account")
    assert "Somebody else tried this account" in other.post(
        at(box), {"offer": offer[1]}
    ).content.decode().replace("&#x27;", "'")
    assert not Credential.objects.filter(account=account).exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"password": "wrong"}, "refused the sign-in"),
        ({"imap": "127.0.0.1:1"}, "does not answer at port 1"),
        ({"imap": ""}, "Name the mail server, too."),
        ({"imap": "127.0.0.1:x"}, "is no port"),
        ({"time_zone": "Mars"}, "is not a time zone"),
        ({"address": "nobody"}, "is no mail address"),
    ],
)
def test_what_goes_wrong_is_said_on_the_page(
    box: Box, change: dict[str, str], sentence: str
) -> None:
    client, before = log_in_superuser("root"), Account.objects.count()
    asked = given(box, **change)
    if "address" in change:
        asked |= {"imap": "", "smtp": ""}

    shown = client.post(at(box), asked).content.decode()

    assert sentence in shown
    assert 'name="offer"' not in shown
    assert Account.objects.count() == before


def test_an_account_is_disconnected_and_signed_in_again_from_its_page(box: Box) -> None:
    client = log_in("olga", "view_account", "add_account", "change_account")
    page = reverse("admin:integrations_account_change", args=[box.account.id])
    credentials.ask_to_sign_in(box.account.id)
    assert "Sign in again" in read_page(client, page)

    again = f"{at(box)}&account={box.account.id}"
    assert f'value="{box.address}"' in client.get(again).content.decode()
    asked = given(box, address=box.address, user_id=box.account.external_user_id)
    shown = client.post(again, asked).content.decode()
    offer = re.search(r'name="offer" value="([^"]+)"', shown)
    assert offer is not None
    client.post(at(box), {"offer": offer[1]})
    assert "Signed in." in read_page(client, page)
    assert Account.objects.filter(address=box.address).count() == 1

    client.post(reverse("admin:integrations_account_disconnect", args=[box.account.id]))

    assert "Not connected." in read_page(client, page)
    assert not Credential.objects.filter(account_id=box.account.id).exists()
    with box.world.client(box.address) as mailbox:  # the mailbox itself is as it was
        assert mailbox.select_folder("INBOX")[b"EXISTS"] == 0


def test_who_has_not_the_right_connects_and_disconnects_nothing(box: Box) -> None:
    client = log_in("vera", "view_account")

    assert client.get(at(box)).status_code == 403
    assert client.post(at(box), given(box)).status_code == 403
    button = reverse("admin:integrations_account_disconnect", args=[box.account.id])
    assert client.post(button).status_code == 403
    assert Credential.objects.filter(account_id=box.account.id).exists()


def test_staff_of_another_organisation_meet_none_of_it(box: Box) -> None:
    client = log_in("olga", "view_account", "add_account", "change_account")
    Membership.objects.all().delete()

    assert client.get(at(box)).status_code == 404
    button = reverse("admin:integrations_account_disconnect", args=[box.account.id])
    assert client.post(button).status_code == 404
