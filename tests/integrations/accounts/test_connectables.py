"""What each provider brings so that people connect accounts there."""

from uuid import uuid4

import pytest

from integrations import models
from integrations.accounts import connectables, reads, writes
from integrations.admin.connect_forms import ConnectForm
from integrations.admin.connecting import describe_connection
from integrations.exceptions import Rejected
from integrations.ports.registry import BY_SOURCE, PROVIDER_OF


@pytest.mark.parametrize("source", connectables.ALL)
def test_a_form_asks_for_what_its_provider_wants_and_for_nothing_of_another(source: str) -> None:
    wanted, form = connectables.of(source), ConnectForm(source)
    shown = {one.name for one in (*form.basic(), *form.servers())}
    named = {"user_name", "url", "imap", "smtp", "projects", "readers"}

    assert shown == set(form.fields)
    assert shown & named == wanted.asked.keys()
    assert (wanted.begin is None) is (wanted.consent is not None) is ("password" not in shown)
    assert [one.name for one in wanted.asked.values() if one.missing] == [
        name for name in wanted.asked if form.fields[name].required
    ]


def test_what_people_connect_is_watched_and_written_to_where_its_source_says_so() -> None:
    for source in connectables.ALL:
        name = PROVIDER_OF[source].name
        assert name in reads.SEALED
        assert (name in reads.READERS) is PROVIDER_OF[source].is_asked
        assert (name in writes.WRITERS) is BY_SOURCE[source].is_writable
        assert BY_SOURCE[source].is_watched


def test_a_source_and_an_account_name_one_pace() -> None:
    """A source that is longer would not fit into the row that processes share. All of Google's
    are called by its name alone, and Microsoft's."""
    longest = models.Upstream._meta.get_field("name").max_length or 0

    several = ("google_", "microsoft_")
    names = {one.split("_")[0] if one.startswith(several) else one for one in connectables.ALL}
    assert all(len(f"{one} {uuid4()}") <= longest for one in names)


@pytest.mark.django_db
def test_a_webhook_is_offered_where_there_is_one_alone() -> None:
    """Request Tracker has none, mailboxes and calendars neither."""
    organisation = models.Organisation.objects.create(slug="acme", name="Acme")
    offered = {
        source
        for source in connectables.ALL
        if describe_connection(
            models.Account.objects.create(
                organisation=organisation, external_user_id="maya", source=source
            )
        )["push"]
    }

    assert offered == {"github_issues", "jira_issues"}


def test_nobody_connects_a_source_of_the_data_service() -> None:
    with pytest.raises(Rejected):
        connectables.of("gmail")
