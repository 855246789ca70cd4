"""Targets are picked from what the account has, and what it does not have is refused."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from guardrails.models import AllowedActionOption, TargetGroup
from integrations.models import Account, ProviderResource
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ADD = "admin:guardrails_allowedactionoption_add"
RTL = "فواتير العملاء"
HIDDEN = "Invoices\u202eevil"


def where(account: Account, action_type: str = "classify", kind: str = "label") -> str:
    return f"{reverse(ADD)}?account={account.pk}&action_type={action_type}&kind={kind}"


def save(client: Client, address: str, **given: Any) -> str:
    """Presses save; the page that comes."""
    return str(client.post(address, given, follow=True).content.decode())


def know(account: Account, *names: str, resource_type: str = "label") -> None:
    """Puts these into the catalogue, as it would have been read."""
    for number, name in enumerate(names, 1):
        ProviderResource.objects.create(
            account=account, resource_type=resource_type, external_id=f"id-{number}", name=name
        )


def test_a_name_is_saved_as_its_id_and_one_that_does_not_exist_is_refused(
    office: Office, client: Client
) -> None:
    refused = save(client, where(office.mailbox), target="Newsletter of yesterday")
    assert "is not among the labels of this account" in refused
    assert "make it at the provider first and save again" in refused
    assert 'value="Newsletter of yesterday"' in refused  # nothing is lost
    assert not AllowedActionOption.objects.exists()

    save(client, where(office.mailbox), target="fyi ")
    row = AllowedActionOption.objects.get()
    assert (row.external_id, row.name, row.source) == ("label_fyi", "FYI", "gmail")
    assert "“FYI” is listed for this already." in save(
        client, where(office.mailbox), target="label_fyi"
    )
    assert office.calls() == []


def test_while_the_provider_is_away_known_names_are_picked_and_new_ones_wait(
    office: Office, client: Client
) -> None:
    office.faults(error_rate=1.0)
    never_read = save(client, where(office.mailbox), target="FYI")
    assert "The labels of this account were not read yet" in never_read
    assert not AllowedActionOption.objects.exists()

    know(office.mailbox, "Known")
    refused = save(client, where(office.mailbox), target="New", _read_lists="1")
    assert "The provider does not answer now." in refused
    assert 'value="New"' in refused
    assert "save again later" in save(client, where(office.mailbox), target="New")
    save(client, where(office.mailbox), target="Known")
    assert AllowedActionOption.objects.get().external_id == "id-1"


def test_what_this_process_cannot_ask_is_asked_by_the_next_sweep(
    office: Office, client: Client, settings: Any
) -> None:
    settings.CREDENTIALS_PRIVATE_KEY = ""
    mailbox = Account.objects.create(
        organisation=office.organisation, external_user_id="own", source="imap", address="a@b.test"
    )
    Account.objects.filter(pk=mailbox.pk).update(lists_due_at="2030-01-01T00:00Z")
    assert "They are being read again" in save(client, where(mailbox), target="Urgent")
    mailbox.refresh_from_db()
    assert mailbox.lists_due_at is None


def test_only_what_fits_is_asked_for(office: Office, client: Client) -> None:
    page = read_page(client, reverse(ADD), account=office.mailbox.pk)
    assert "action_type=classify&amp;kind=label" in page
    assert "create_jira_task" not in page  # it is a mailbox
    one = read_page(client, where(office.mailbox))
    assert 'name="target"' in one
    assert '<option value="FYI">' in one  # read when the form is opened
    assert 'name="group"' not in one  # the account has none
    for other in ("source", "external_id", "resource_type", "kind", "name"):
        assert f'name="{other}"' not in one
    TargetGroup.objects.create(account=office.mailbox, name="Status")
    assert 'name="group"' in read_page(client, where(office.mailbox))
    # An action that the account has not leads back to the choice.
    assert 'name="target"' not in read_page(client, where(office.mailbox, "create_jira_task"))


def test_a_loose_address_is_explained_and_a_plain_one_kept(office: Office, client: Client) -> None:
    to = where(office.mailbox, "send_email", "recipient")
    assert "is not one plain address" in save(client, to, target="Ada <ada@client.com>")
    save(client, to, target="ada@CLIENT.com")
    assert AllowedActionOption.objects.get().external_id == "ada@client.com"


def test_names_that_several_have_or_that_hide_something_are_picked_by_id(
    office: Office, client: Client
) -> None:
    office.faults(error_rate=1.0)
    know(office.mailbox, "Twice", RTL, HIDDEN, "Urgent", "URGENT")
    ProviderResource.objects.create(
        account=office.mailbox, resource_type="label", external_id="other", name="Twice"
    )
    page = read_page(client, where(office.mailbox))
    assert '<option value="other">Twice (other)</option>' in page
    assert f'<option value="{RTL}">{RTL}</option>' in page
    assert '<option value="id-3">Invoices⟨U+202E⟩evil (id-3)</option>' in page
    assert "2 labels are called “Twice”" in save(client, where(office.mailbox), target="Twice")
    save(client, where(office.mailbox), target="other")
    save(client, where(office.mailbox), target=RTL)
    save(client, where(office.mailbox), target="URGENT")  # as it stands, not as it sounds
    assert sorted(AllowedActionOption.objects.values_list("external_id", flat=True)) == [
        "id-2",
        "id-5",
        "other",
    ]


def test_an_assignee_is_somebody_of_the_account_s_projects(office: Office, client: Client) -> None:
    office.work("PROJ", "tom@company.com")
    to = where(office.tracker, "create_jira_task", "assignee")
    assert "is not among the people" in save(client, to, target="eve@evil.test")
    save(client, to, target="tom@company.com")
    assert AllowedActionOption.objects.get().external_id == "tom@company.com"


def test_another_organisations_account_offers_and_takes_nothing(office: Office) -> None:
    bound = log_in("rita", "add_allowedactionoption", "view_allowedactionoption")
    stranger = Account.objects.create(
        organisation=type(office.organisation).objects.create(slug="other", name="Other"),
        external_user_id="x",
        source="gmail",
    )
    know(stranger, "Secret name")
    assert "Secret name" not in bound.get(where(stranger)).content.decode()
    save(bound, where(stranger), target="Secret name")
    assert not AllowedActionOption.objects.exists()


def test_an_existing_target_keeps_its_identity_unless_another_is_picked(
    office: Office, client: Client
) -> None:
    gone = office.list_target("classify", "label", "label_nowhere", "Gone")
    group = TargetGroup.objects.create(account=office.mailbox, name="Status")
    change = reverse("admin:guardrails_allowedactionoption_change", args=[gone.pk])

    save(client, change, target="Gone", group=group.pk)
    gone.refresh_from_db()
    assert (gone.external_id, gone.group) == ("label_nowhere", group)
    save(client, change, target="FYI", group=group.pk)
    gone.refresh_from_db()
    assert (gone.external_id, gone.name) == ("label_fyi", "FYI")


def test_names_are_taken_over_from_the_provider(office: Office, client: Client) -> None:
    renamed = office.list_target("classify", "label", "label_fyi", "Old name")
    gone = office.list_target("classify", "label", "label_nowhere", "Gone")

    text = save(
        client,
        reverse("admin:guardrails_allowedactionoption_changelist"),
        action="refresh_names",
        _selected_action=[renamed.pk, gone.pk],
    )

    assert "“Old name” is now called “FYI”." in text
    assert "“Gone” is gone" in text
    renamed.refresh_from_db()
    assert renamed.name == "FYI"
