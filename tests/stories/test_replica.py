"""Pages, searches and exports from a replica, against two real servers, one of which follows the
other."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connections, router
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from audit.formats import stored
from audit.models import ExecutedAgentAction
from integrations.contracts import AccountRef
from integrations.database import replicas
from integrations.models import Account, Delivery, Organisation, ServiceToken
from integrations.web.stale import HEADER, PIN
from knowledge.ingest import write_counts
from knowledge.models import Item
from tests.audit.entries import append_action
from tests.clients import log_in_superuser
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import account, email, take
from tests.model_server import scripted_model
from tests.replica_world import World, leading_to, running_pair

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger", "replica"], transaction=True),
]


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[World]:
    with (
        django_db_blocker.unblock(),
        running_pair(tmp_path_factory.mktemp("pair")) as world,
        leading_to(world.primary, world.replica),
    ):
        yield world


@pytest.fixture
def world(pair: World, settings: Any) -> Iterator[World]:
    """Both run, and a page may be ten minutes old."""
    settings.REPLICA_LAG_SECONDS, settings.SEARCH_CACHE_SECONDS = 600, 0
    pair.start()
    pair.resume()
    replicas.standby.forget()
    with scripted_model(settings, {READER: summarised}):
        yield pair


@pytest.fixture
def owner(world: World) -> AccountRef:
    return account()


@pytest.fixture
def client(owner: AccountRef) -> APIClient:
    organisation = Organisation.objects.get(pk=owner.organisation_id)
    _, plain = ServiceToken.issue(
        organisation=organisation, name="t", scopes=["chat", "audit:read"]
    )
    return APIClient(headers={"Authorization": f"Bearer {plain}"})


def search(client: APIClient, **headers: str) -> Any:
    body = {"user_id": "maya", "query": ""}
    return client.post("/api/v1/search", body, format="json", headers=headers)


def titles(answer: Any) -> set[str]:
    assert answer.status_code == 200, answer.content
    return {item["title"] for item in answer.json()["items"]}


def store(owner: AccountRef, name: str) -> None:
    take(owner, email(id=name, subject=name))


def count(ask: Callable[[], Any]) -> dict[str, int]:
    """Statements on each connection while this is asked."""
    names = ("default", "ledger", replicas.REPLICA)
    captures = {name: CaptureQueriesContext(connections[name]) for name in names}
    for capture in captures.values():
        capture.__enter__()
    try:
        ask()
    finally:
        for capture in captures.values():
            capture.__exit__(None, None, None)
    return {name: len(capture) for name, capture in captures.items()}


def test_a_search_finds_what_the_replica_has_and_says_of_when_it_is(
    world: World, owner: AccountRef, client: APIClient
) -> None:
    store(owner, "one")
    world.catch_up()
    world.pause()
    store(owner, "two")

    old = search(client)
    fresh = search(client, cache_control="no-cache")
    world.resume()
    world.catch_up()
    replicas.standby.forget()
    new = search(client)

    assert titles(old) == {"one"}
    assert (titles(fresh), HEADER in fresh.headers) == ({"one", "two"}, False)
    assert titles(new) == {"one", "two"}
    assert old.headers[HEADER] < new.headers[HEADER]


def test_who_may_ask_is_never_stale(world: World, owner: AccountRef, client: APIClient) -> None:
    store(owner, "one")
    world.catch_up()
    world.pause()
    Account.objects.filter(pk=owner.id).update(external_user_id="somebody else")

    moved = search(client)
    ServiceToken.objects.filter(organisation_id=owner.organisation_id).delete()
    revoked = search(client)

    assert (moved.status_code, revoked.status_code) == (404, 401)


def test_only_what_is_listed_is_read_from_a_replica(world: World) -> None:
    with replicas.marked():
        found = {
            model._meta.label_lower
            for model in apps.get_models()
            if router.db_for_read(model) == replicas.REPLICA
        }
        written = {router.db_for_write(model) for model in apps.get_models()}

    assert written == {"default", "ledger"}
    assert found == {
        *("audit.savedfilter", "audit.executedagentaction", "audit.ledgerpayload"),
        *("audit.actionartifact", "audit.ledgerpolicy", "audit.leaf", "audit.checkpoint"),
        *("audit.signingkey", "audit.anchor", "audit.anchortoken"),
        *("knowledge.item", "knowledge.itemfile", "knowledge.occurrence", "knowledge.chunk"),
        *("knowledge.chunkvector", "knowledge.embeddingmodel", "knowledge.syncrun"),
        *("knowledge.entity", "knowledge.mention", "knowledge.writecount"),
        *("knowledge.syncsource", "knowledge.syncfailure", "knowledge.largeaccount"),
        *("agents.turn", "agents.step", "agents.toolcall", "agents.conversation"),
        *("agents.message", "agents.suggestion", "agents.dailydigest", "agents.pastmail"),
        *("integrations.delivery", "integrations.modelcall", "guardrails.patternhit"),
    }
    assert {router.db_for_read(model) for model in apps.get_models()} == {"default", "ledger"}


@pytest.mark.parametrize("which", ["replica", "primary"])
def test_nothing_is_written_through_the_alias_of_a_replica(world: World, which: str) -> None:
    address = world.replica if which == "replica" else world.primary
    organisation = Organisation(slug=f"o-{uuid4()}", name="Test")
    with (
        leading_to(world.primary, address),
        pytest.raises(DatabaseError, match="read-only transaction"),
    ):
        organisation.save(using=replicas.REPLICA)


def test_an_address_that_is_no_standby_is_passed_over(
    world: World, owner: AccountRef, client: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    store(owner, "one")
    with leading_to(world.primary, world.primary):
        answer = search(client)

    assert (titles(answer), HEADER in answer.headers) == ({"one"}, False)
    assert passed_over(caplog) == ["not_a_standby"]


def passed_over(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.__dict__["code"]
        for record in caplog.records
        if record.message == "replica.passed_over"
    ]


def test_a_replica_that_is_too_far_behind_is_passed_over(
    world: World,
    owner: AccountRef,
    client: APIClient,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.REPLICA_LAG_SECONDS = 0
    world.pause()
    store(owner, "one")

    answers = [search(client), search(client)]

    assert [titles(answer) for answer in answers] == [{"one"}, {"one"}]
    assert passed_over(caplog) == ["behind"]  # it is left alone then


def test_a_replica_that_is_down_is_passed_over(
    world: World, owner: AccountRef, client: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    store(owner, "one")
    world.stop()

    answer = search(client)

    assert (titles(answer), HEADER in answer.headers) == ({"one"}, False)
    assert passed_over(caplog) == ["OperationalError"]


def test_the_primary_answers_where_a_replica_dies_in_the_middle(
    world: World,
    owner: AccountRef,
    client: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store(owner, "one")
    world.catch_up()
    world.pause()
    store(owner, "two")
    whole, calls = write_counts.load_write_counts, []

    def dying(account_ids: Any) -> Any:
        calls.append(router.db_for_read(Item))
        found = whole(account_ids)
        world.stop()
        return found

    monkeypatch.setattr(write_counts, "load_write_counts", dying)
    answer = search(client)

    assert calls == [replicas.REPLICA, "default"]
    assert (titles(answer), HEADER in answer.headers) == ({"one", "two"}, False)
    assert len(passed_over(caplog)) == 1


@pytest.mark.parametrize(
    ("address", "moved"),
    [
        ("/admin/?organisation={slug}", 5),
        ("/admin/find/?q={word}", 4),
        ("/admin/integrations/delivery/", 3),
        # Of an organisation that is named: one that is looked for depends on how many there are.
        ("/admin/audit/executedagentaction/?tenant_id={tenant}", 4),
        ("/admin/agents/turn/", 1),
    ],
)
def test_statements_of_a_page_move_to_the_replica(
    world: World, owner: AccountRef, address: str, moved: int
) -> None:
    slug = Organisation.objects.get(pk=owner.organisation_id).slug
    word = f"word{uuid4().hex}"  # in no other test's rows
    store(owner, word)
    append_action(tenant_id=owner.organisation_id)
    operator = log_in_superuser(f"olga-{uuid4()}")
    world.catch_up()
    url = address.format(slug=slug, word=word, tenant=owner.organisation_id)
    operator.get(url)  # what a process finds out once
    replicas.standby.forget()

    beside = count(lambda: operator.get(url))
    alone = count(lambda: operator.get(url, headers={"cache-control": "no-cache"}))

    # One statement on each says how far they are.
    assert (beside["replica"] - 1, alone["replica"]) == (moved, 0)
    assert beside["default"] - 1 + beside["ledger"] + moved == alone["default"] + alone["ledger"]


def test_a_page_says_of_when_it_is_and_who_wrote_reads_what_they_wrote(
    world: World, owner: AccountRef
) -> None:
    operator = log_in_superuser(f"olga-{uuid4()}")
    url = f"/admin/?organisation={Organisation.objects.get(pk=owner.organisation_id).slug}"
    world.catch_up()
    world.pause()
    Delivery.objects.create(
        organisation_id=owner.organisation_id,
        account_id=owner.id,
        webhook_id=str(uuid4()),
        kind="created",
        source="gmail",
        source_id="mail-1",
        body={},
        state="skipped",
        reason="unchanged",
    )

    old = operator.get(url).content.decode()
    operator.post("/admin/find/")
    pinned = operator.cookies[PIN]
    new = operator.get(url).content.decode()

    assert "As of " in old
    assert "Nothing in it was new." not in old
    assert (pinned.value, pinned["max-age"], pinned["httponly"]) == ("1", 601, True)
    assert "As of " not in new
    assert "Nothing in it was new." in new


def export(client: APIClient) -> Any:
    return client.get("/api/v1/ledger/export?format=jsonl")


def rows_of(lines: list[str]) -> list[str]:
    return [line for line in lines if '"ledger.export"' not in line]


def test_an_export_from_a_replica_is_the_one_of_the_primary(
    world: World, owner: AccountRef, client: APIClient
) -> None:
    for _ in range(3):
        append_action(tenant_id=owner.organisation_id)
    found: list[Any] = []

    counted = count(lambda: found.append(b"".join(export(client)).decode().splitlines()))
    with leading_to(world.primary):
        again = b"".join(export(client)).decode().splitlines()

    *rows, last = found[0]
    manifest = json.loads(last)["manifest"]
    assert (manifest["rows"], manifest["sealed"]) == (6, 0)
    assert len(rows) == 6
    assert rows == again[:6]
    assert counted[replicas.REPLICA] >= 1


def test_an_export_waits_for_no_replica_that_does_not_come(
    world: World, owner: AccountRef, client: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    world.pause()
    append_action(tenant_id=owner.organisation_id)

    lines = b"".join(export(client)).decode().splitlines()

    assert json.loads(lines[-1])["manifest"]["rows"] == 2
    assert passed_over(caplog) == ["behind"]


def test_an_export_goes_on_with_the_primary_where_the_replica_dies(
    world: World,
    owner: AccountRef,
    client: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(stored, "PAGE", 2)
    for _ in range(5):
        append_action(tenant_id=owner.organisation_id)
    chunks = iter(export(client))
    first = next(chunks)
    world.stop()
    append_action(tenant_id=owner.organisation_id)  # behind its snapshot

    lines = (first + b"".join(chunks)).decode().splitlines()

    assert json.loads(lines[-1])["manifest"]["rows"] == len(lines) - 1 == 10
    assert len({json.loads(line)["id"] for line in lines[:-1]}) == 10
    assert len(passed_over(caplog)) == 1
    ends = ExecutedAgentAction.objects.filter(
        tenant_id=owner.organisation_id, action_type="ledger.export"
    )
    assert list(ends.order_by("id").values_list("status", flat=True)) == ["pending", "succeeded"]
