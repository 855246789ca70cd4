import uuid
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_q.models import OrmQ

from integrations.contracts import AccountRef
from integrations.llm import llm
from integrations.models import Account
from knowledge.models import Item, SyncSource
from tests.commands import run_command
from tests.knowledge.office import account
from tests.offline_model_server import running_offline_model
from tests.sandbox_server import KEY, running_sandbox

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> list[str]:
    return run_command("first_sync", *arguments).splitlines()


@pytest.fixture(autouse=True)
def nobody_else() -> None:
    """The command looks after every account that there is."""
    Account.objects.all().delete()


@pytest.fixture
def omar(settings: Any) -> Iterator[AccountRef]:
    """A calendar at a running sandbox, read with the offline model."""
    owner = account(user="omar", source="calendar")
    with running_sandbox() as sandbox, running_offline_model() as url:
        settings.DATA_SERVICES = {owner.organisation_slug: sandbox.url}
        settings.DATA_SERVICE_KEYS = {owner.organisation_slug: KEY}
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "offline", url
        llm._client.cache_clear()
        yield owner
        llm._client().close()
        llm._client.cache_clear()


def test_it_reads_here_and_says_how_much(omar: AccountRef) -> None:
    lines = run("--inline")

    count = Item.objects.count()
    assert count > 0
    assert lines == [f"omar · Google Calendar: {count} read · done"]
    assert not OrmQ.objects.exists()


def test_what_was_read_already_is_left_alone_unless_it_is_named(omar: AccountRef) -> None:
    run("--inline")
    count = Item.objects.count()

    assert run("--inline") == ["Every account has been read already."]
    assert run("--inline", "--account", str(omar.id)) == [
        f"omar · Google Calendar: {count} read, {count} known already · done"
    ]


def test_it_reads_as_many_days_back_as_are_given(omar: AccountRef) -> None:
    run("--inline", "--days", "1")

    assert (timezone.now() - SyncSource.objects.get().since).days == 1
    for wrong in ("0", "3651"):
        with pytest.raises(CommandError, match="Give 1 to 3650 days"):
            run("--days", wrong)


def test_it_queues_one_task_an_account() -> None:
    account()

    assert run() == ["Accounts queued: 1."]
    assert OrmQ.objects.count() == SyncSource.objects.filter(state="queued").count() == 1


def test_a_sync_that_failed_is_said_and_is_an_error(settings: Any) -> None:
    account()
    settings.DATA_SERVICE_KEYS = {}
    out = StringIO()

    with pytest.raises(CommandError, match="Not every account"):
        call_command("first_sync", "--inline", stdout=out)

    assert out.getvalue() == (
        "maya · Gmail: 0 read · The data service refused the credential. Check DATA_SERVICE_KEYS.\n"
    )


def test_an_unknown_account_is_said() -> None:
    with pytest.raises(CommandError, match="There is no account"):
        run("--account", str(uuid.uuid4()))
