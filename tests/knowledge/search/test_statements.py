"""Every filter of a search, alone and with the others, against a plain look at every item."""

import random
import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings, strategies as st

from integrations.contracts import AccountRef
from integrations.llm import llm
from integrations.models import Organisation
from knowledge import tasks
from knowledge.contracts import SearchRequest
from knowledge.ingest.ingest import ingest
from knowledge.models import ChunkVector, Item
from knowledge.search import graph, queries, statements
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, document, email, event
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

DAYS = (0, 1, 5, 20, 40)
PEOPLE = ("ann@client.com", "bo@client.com")


class Office:
    """Two people's accounts; every item is about noodles."""

    def __init__(self) -> None:
        organisation = Organisation.objects.create(slug=f"o-{uuid.uuid4()}", name="Test")
        self.accounts: list[AccountRef] = []
        for user in ("maya", "omar"):
            for source in ("gmail", "gdrive", "calendar"):
                self.accounts.append(account(user=user, source=source, organisation=organisation))
        for owner in self.accounts:
            for day in DAYS:
                self._store(owner, day)
        self.items = list(Item.objects.all())
        self.senders = dict(Item.objects.values_list("id", "identifiers"))

    def _store(self, owner: AccountRef, day: int) -> None:
        at = NOW - timedelta(days=day)
        when = at.isoformat()
        item: Any
        if owner.source == "gmail":
            item = email(id=f"m{day}", subject="Noodles", date=when, **{"from": PEOPLE[day % 2]})
        elif owner.source == "gdrive":
            item = document(id=f"d{day}", name="Noodles", modified_at=when)
        else:
            # It ends after a day has begun that it did not begin in.
            item = event(
                id=f"e{day}",
                title="Noodles",
                start=when,
                end=(at + timedelta(hours=20)).isoformat(),
            )
        ingest(account=owner, source_id=item.id, item=item, now=NOW)

    def expected(
        self, request: SearchRequest, since: datetime | None, until: datetime | None
    ) -> Any:
        return {item.id for item in self.items if self._fits(item, request, since, until)}

    def _fits(
        self, item: Item, request: SearchRequest, since: datetime | None, until: datetime | None
    ) -> bool:
        end = item.occurred_at
        if item.content_type == "event":
            end += timedelta(hours=20)
        in_time = (until is None or item.occurred_at < until) and (
            since is None or item.occurred_at >= since or end > since
        )
        return (
            item.account_id in request.account_ids
            and (not request.sources or item.source in request.sources)
            and (not request.content_types or item.content_type in request.content_types)
            and item.id not in request.excluded_ids
            and in_time
            and (not request.entity or request.entity in item.identifiers)
        )


@pytest.fixture
def office(model: ScriptedModel) -> Office:
    return Office()


@pytest.mark.slow
@pytest.mark.parametrize("indexed", [False, True], ids=["compared", "indexed"])
def test_filters_leave_what_fits_all_of_them(
    office: Office, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    if indexed:
        monkeypatch.setattr(queries, "EXACT_VECTORS", 0)
        monkeypatch.setattr(queries, "EXACT_ITEMS", 0)
        monkeypatch.setattr(statements, "FEW_ITEMS", -1)
        monkeypatch.setattr(statements, "SOME_ITEMS", -1)
        graph.mark_large()
        tasks.move_into_graph()
        assert not ChunkVector.objects.filter(in_graph=False).exists()
    owners = [owner.id for owner in office.accounts]
    ids = [item.id for item in office.items]
    moments = st.sampled_from([None, *(NOW - timedelta(days=day, hours=3) for day in DAYS)])

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        accounts=st.sets(st.sampled_from(owners), min_size=1),
        sources=st.sets(st.sampled_from(["gmail", "gdrive", "calendar"])),
        types=st.sets(st.sampled_from(["email", "document", "event"])),
        excluded=st.sets(st.sampled_from(ids), max_size=20),
        span=st.tuples(moments, moments),
        entity=st.sampled_from(["", "", *PEOPLE]),
        query=st.sampled_from(["noodles", "", "noodle"]),
    )
    def check(
        accounts: set[uuid.UUID],
        sources: set[str],
        types: set[str],
        excluded: set[uuid.UUID],
        span: tuple[datetime | None, datetime | None],
        entity: str,
        query: str,
    ) -> None:
        since, until = span
        request = SearchRequest(
            account_ids=tuple(accounts),
            query=query,
            sources=tuple(sources),
            content_types=tuple(types),
            time_filter="custom" if since or until else None,
            since=since,
            until=until,
            entity=entity,
            excluded_ids=tuple(excluded),
            limit=50,
        )

        found = [item.id for item in search(request, now=NOW).items]

        assert len(found) == len(set(found))
        assert set(found) == office.expected(request, since, until)

    check()


@pytest.mark.slow
def test_a_small_account_among_many_vectors_gets_all_its_results(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,500 vectors of others lie nearer: more than a scan of the index goes through here."""
    small, big = account(), account(user="big")
    for number in range(15):
        mail = email(id=f"m{number}", subject="Rice", body_text=f"Rice {number}.")
        ingest(account=small, source_id=mail.id, item=mail, now=NOW)
    mail = email(id="big", subject="Noodles", body_text="Noodles.")
    ingest(account=big, source_id="big", item=mail, now=NOW)
    near = ChunkVector.objects.get(account_id=big.id)
    chance = random.Random(5)
    values = [float(value) for value in near.vector]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL hnsw.max_scan_tuples = 1000")
        cursor.execute(
            "INSERT INTO knowledge_chunk (item_id, position, text, digest)"
            " SELECT %s, n, 'noodles', 'x' FROM generate_series(1, 2500) n RETURNING id",
            [near.item_id],
        )
        chunks = [row[0] for row in cursor.fetchall()]
        columns = "(chunk_id, item_id, account_id, model, vector)"
        with cursor.copy(f"COPY knowledge_chunkvector {columns} FROM STDIN") as out:
            for chunk in chunks:
                vector = [value + chance.gauss(0, 0.02) for value in values]
                out.write_row((chunk, near.item_id, big.id, near.model, str(vector)))
    monkeypatch.setattr(queries, "MAX_DISTANCE", 2)
    monkeypatch.setattr(llm, "embed", lambda *_, **__: [values])
    Item.objects.update(search="")  # by vectors alone
    request = SearchRequest(account_ids=(small.id,), query="noodles", limit=15)

    found = search(request, now=NOW).items

    assert {item.source_id for item in found} == {f"m{number}" for number in range(15)}
