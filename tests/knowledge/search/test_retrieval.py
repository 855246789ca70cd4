import unicodedata
import uuid
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from django.db import connection

from integrations.contracts import AccountRef, AnyItem
from integrations.llm import llm
from integrations.models import Organisation
from knowledge import tasks
from knowledge.contracts import FoundEntity, SearchRequest, SearchResult
from knowledge.ingest.ingest import forget, ingest
from knowledge.models import ChunkVector, Item
from knowledge.search import graph, queries, statements
from knowledge.search.retrieval import VECTOR_SECONDS, get_items, search
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import NOW, account, document, email, event, issue
from tests.model_server import ScriptedModel, scripted_model

pytestmark = pytest.mark.django_db


def take(owner: AccountRef, item: AnyItem) -> uuid.UUID:
    outcome = ingest(account=owner, source_id=item.id, item=item, now=NOW)
    assert outcome.item_id is not None
    return outcome.item_id


def find(*owners: AccountRef, query: str = "", **more: Any) -> SearchResult:
    request = SearchRequest(
        account_ids=tuple(owner.id for owner in owners),
        query=query,
        time_zone="Europe/Stockholm",
        **more,
    )
    return search(request, now=NOW)


def ids(result: SearchResult) -> list[str]:
    return [item.source_id for item in result.items]


@pytest.fixture
def mailbox(model: ScriptedModel) -> AccountRef:
    """Two Johns, five mails."""
    owner = account()
    take(owner, email(id="proposal", body_text="The customer portal, in three steps."))
    take(owner, email(id="lunch", subject="Lunch", body_text="Noodles on Friday?"))
    doe = {"from": "johnd@client.com", "from_name": "John Doe"}
    take(owner, email(id="invoice", subject="Invoice 7", body_text="Please pay.", **doe))
    take(owner, email(id="contract", subject="Contract", body_text="About PROJ-123.", **doe))
    ann = {"from": "ann@client.com", "from_name": "Ann Berg", "to": ["john@company.com"]}
    take(owner, email(id="hello", subject="Hello", body_text="Nice to meet you.", **ann))
    return owner


def test_an_item_is_found_by_its_words_with_its_best_passage(mailbox: AccountRef) -> None:
    item = find(mailbox, query="noodles").items[0]

    assert (item.source_id, item.title, item.text) == ("lunch", "Lunch", "Noodles on Friday?")
    assert (item.sender_name, item.sender_address) == ("John Smith", "john@company.com")
    assert item.summary == "About Lunch."
    assert item.content_type == "email"
    assert item.occurred_at == datetime(2026, 3, 9, 9, tzinfo=UTC)
    assert item.metadata["to"] == ["maya@company.com"]
    assert item.relevance == 1.0


def test_a_question_in_plain_words_finds_what_it_is_about(mailbox: AccountRef) -> None:
    assert ids(find(mailbox, query="What did John say about the customer portal?"))[0] == "proposal"


def test_the_first_is_the_most_relevant_and_none_is_beyond_one(mailbox: AccountRef) -> None:
    relevance = [item.relevance for item in find(mailbox, query="john invoice pay").items]

    assert relevance == sorted(relevance, reverse=True)
    assert all(0 < share <= 1 for share in relevance)


def test_what_has_nothing_to_do_with_the_question_is_not_found(mailbox: AccountRef) -> None:
    assert ids(find(mailbox, query="submarine")) == []


def test_a_passage_is_found_by_its_vector_alone(settings: Any) -> None:
    owner = account(source="gdrive")
    first, second = " ".join(f"w{n}" for n in range(590)), "golden gate " * 20 + "end"
    with scripted_model(settings, {READER: summarised}):
        take(owner, document(content_text=f"{first}\n\n{second}"))
        Item.objects.update(search="")  # no words are left in the search column
        [item] = find(owner, query="golden gate").items

    assert item.text.endswith(second)


def test_an_issue_key_finds_the_issue_before_those_that_mention_it(model: ScriptedModel) -> None:
    mail, tracker = account(), account(source="jira")
    take(mail, email(subject="PROJ-123 PROJ-123", body_text="PROJ-123"))
    take(tracker, issue(id="i1", key="PROJ-123"))
    take(tracker, issue(id="i2", key="PROJ-124", summary="Other"))

    assert ids(find(mail, tracker, query="proj-123?"))[:2] == ["i1", "m1"]


def test_an_address_finds_the_mail_from_and_to_it(mailbox: AccountRef) -> None:
    assert set(ids(find(mailbox, query="ANN@client.com"))[:1]) == {"hello"}
    assert set(ids(find(mailbox, query="<john@company.com>"))[:3]) == {"proposal", "lunch", "hello"}


def test_without_words_the_newest_items_are_found(model: ScriptedModel) -> None:
    owner = account()
    for day in (3, 1, 2):
        take(owner, email(id=f"day{day}", date=f"2026-03-0{day}T09:00:00Z"))
    asked = len(model.embedded())

    assert ids(find(owner, limit=2)) == ["day3", "day2"]
    assert len(model.embedded()) == asked


def test_nothing_of_another_account_is_found(mailbox: AccountRef, model: ScriptedModel) -> None:
    organisation = Organisation.objects.get(pk=mailbox.organisation_id)
    neighbour = account(user="omar", organisation=organisation)
    take(neighbour, email(id="secret", subject="Noodles", **{"from": "john@company.com"}))

    assert ids(find(mailbox, query="noodles")) == ["lunch"]
    assert ids(find(neighbour, query="noodles john@company.com")) == ["secret"]
    assert find(neighbour, query="x", entity="John").entities == (
        FoundEntity(kind="person", name="John Smith", address="john@company.com", mentions=1),
    )


def test_without_an_account_nothing_is_found_and_nobody_is_asked(
    model: ScriptedModel, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert find(query="noodles") == SearchResult(items=(), entities=())
    assert model.requests == []


def test_deleted_items_are_not_found(mailbox: AccountRef) -> None:
    forget(account=mailbox, source_id="lunch", at=NOW)

    assert ids(find(mailbox, query="noodles")) == []


def test_sources_types_and_excluded_ids_narrow_the_search(model: ScriptedModel) -> None:
    mail, drive, calendar = (account(source=s) for s in ("gmail", "gdrive", "calendar"))
    excluded = take(mail, email(subject="Portal"))
    take(mail, email(id="m2", subject="Portal"))
    take(drive, document(name="Portal"))
    take(calendar, event(title="Portal"))

    def found(**filters: Any) -> list[str]:
        return sorted(ids(find(mail, drive, calendar, query="portal", **filters)))

    assert found() == ["d1", "e1", "m1", "m2"]
    assert found(sources=("gmail", "gdrive")) == ["d1", "m1", "m2"]
    assert found(content_types=("event",)) == ["e1"]
    assert found(excluded_ids=(excluded,)) == ["d1", "e1", "m2"]


def test_time_is_the_users_own(model: ScriptedModel) -> None:
    owner = account()
    # Stockholm is an hour ahead: the 10th begins at 23:00 UTC on the 9th.
    take(owner, email(id="yesterday", date="2026-03-09T22:59:59Z"))
    take(owner, email(id="today", date="2026-03-09T23:00:00Z"))
    take(owner, email(id="tonight", date="2026-03-10T22:00:00Z"))

    assert ids(find(owner, time_filter="today")) == ["tonight", "today"]
    assert ids(find(owner, time_filter="yesterday")) == ["yesterday"]
    assert ids(find(owner, time_filter="last_week")) == ["tonight", "today", "yesterday"]
    since = datetime(2026, 3, 9, 23, tzinfo=UTC)
    assert ids(find(owner, time_filter="custom", since=since, until=NOW)) == ["today"]


def test_an_entity_is_named_by_any_part_of_its_name(mailbox: AccountRef) -> None:
    result = find(mailbox, query="mail", entity="john")

    assert result.entities == (
        FoundEntity(kind="person", name="John Smith", address="john@company.com", mentions=2),
        FoundEntity(kind="person", name="John Doe", address="johnd@client.com", mentions=2),
    )


@pytest.mark.parametrize(
    "entity",
    ["John Doe", "johnd@client.com", "John Doe (johnd@client.com) - 2 recent emails"],
)
def test_an_entity_filter_keeps_the_items_from_to_and_about_it(
    mailbox: AccountRef, entity: str
) -> None:
    result = find(mailbox, entity=entity)

    assert set(ids(result)) == {"invoice", "contract"}
    assert [found.address for found in result.entities] == ["johnd@client.com"]


def test_what_fits_the_query_comes_before_the_rest_of_a_persons_items(
    mailbox: AccountRef,
) -> None:
    found = ids(find(mailbox, query="customer portal", entity="John Smith"))

    assert found[0] == "proposal"
    assert set(found) == {"proposal", "lunch", "hello"}


def test_an_entity_filter_finds_what_was_written_to_a_person(mailbox: AccountRef) -> None:
    assert set(ids(find(mailbox, entity="John Smith"))) == {"proposal", "lunch", "hello"}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_a_person_is_found_however_accents_are_written(
    model: ScriptedModel, form: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"]
) -> None:
    owner, name = account(), "José Álvarez"
    take(owner, email(**{"from": "jose@x.example", "from_name": unicodedata.normalize(form, name)}))

    result = find(owner, query="", entity=unicodedata.normalize(asked, name))

    assert [item.sender_address for item in result.items] == ["jose@x.example"]
    assert [entity.address for entity in result.entities] == ["jose@x.example"]


@pytest.mark.parametrize("entity", ["Nobody", "x@y.example", "???"])
def test_an_entity_filter_that_names_nobody_finds_nothing(mailbox: AccountRef, entity: str) -> None:
    assert find(mailbox, query="portal", entity=entity) == SearchResult(items=(), entities=())


def test_the_people_a_query_names_are_found_and_counted_inside_the_filters(
    mailbox: AccountRef,
) -> None:
    result = find(mailbox, query="Create tasks from John Smith's proposal", time_filter="last_week")
    before = find(mailbox, query="john smith", time_filter="today")

    assert result.entities[0] == FoundEntity(
        kind="person", name="John Smith", address="john@company.com", mentions=2
    )
    assert before.entities == ()


def test_a_person_called_by_name_in_a_text_does_not_add_another_john(settings: Any) -> None:
    reply = {"summary": "x", "entities": [{"type": "person", "name": "John", "email": None}]}
    owner = account()
    with scripted_model(settings, {READER: [reply, reply]}):
        take(owner, email())
        take(owner, email(id="m2", **{"from": "ann@client.com", "from_name": "Ann"}))
        entities = find(owner, query="", entity="John").entities

    assert entities == (
        FoundEntity(kind="person", name="John Smith", address="john@company.com", mentions=1),
    )


@pytest.mark.parametrize(
    "query", ["' OR 1=1 --", "a & | ! <-> b:*", '"', "(((", "\x00", "100%", "%s %(x)s", "²", "👍"]
)
def test_no_query_breaks_the_statement(mailbox: AccountRef, query: str) -> None:
    assert find(mailbox, query=query, entity=query).items == ()
    find(mailbox, query=query)


def test_words_alone_decide_when_no_vector_can_be_had(
    mailbox: AccountRef, model: ScriptedModel
) -> None:
    model.fail_embeddings = 500
    model.patience.clear()

    assert ids(find(mailbox, query="noodles")) == ["lunch"]
    # However long it hangs, nobody waits for it any longer.
    assert 0 < max(model.patience) <= VECTOR_SECONDS


def test_vectors_of_another_model_are_not_compared(mailbox: AccountRef) -> None:
    ChunkVector.objects.update(model="another")
    Item.objects.update(title="", summary="", text="", search="")

    assert ids(find(mailbox, query="noodles")) == []


def test_a_big_account_is_searched_through_the_index(
    mailbox: AccountRef, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SEARCH_CACHE_SECONDS = 0
    before = find(mailbox, query="noodles portal invoice")
    monkeypatch.setattr(queries, "EXACT_VECTORS", 0)
    monkeypatch.setattr(statements, "FEW_ITEMS", -1)
    monkeypatch.setattr(statements, "SOME_ITEMS", -1)
    assert find(mailbox, query="noodles portal invoice") == before
    assert graph.mark_large() == 1
    tasks.move_into_graph()

    assert find(mailbox, query="noodles portal invoice") == before


@pytest.mark.parametrize("size", [2, 12])
def test_the_number_of_queries_is_fixed(
    model: ScriptedModel, django_assert_num_queries: Any, size: int
) -> None:
    owner = account()
    for number in range(size):
        take(owner, email(id=f"m{number}", to=[f"p{number}@company.com"]))

    # The write counts; in one way settings of the transaction, items and entities.
    with django_assert_num_queries(4):
        assert len(find(owner, query="proposal john", entity="John", limit=50).items) == size


def test_items_are_got_by_id_in_order_and_only_inside_the_wall(
    mailbox: AccountRef, model: ScriptedModel, django_assert_num_queries: Any
) -> None:
    foreign = take(account(), email())
    own = {item.source_id: item.id for item in find(mailbox).items}
    forget(account=mailbox, source_id="hello", at=NOW)
    wanted = [own["lunch"], foreign, own["hello"], uuid.uuid4(), own["proposal"], own["lunch"]]

    with django_assert_num_queries(1):
        found = get_items(account_ids=[mailbox.id], ids=wanted)

    assert [item.source_id for item in found] == ["lunch", "proposal"]
    assert found[1].text == "The customer portal, in three steps."
    assert get_items(account_ids=[], ids=wanted) == ()


def test_the_search_column_takes_the_longest_text(model: ScriptedModel) -> None:
    owner = account(source="gdrive")
    # Letters of four bytes, in words of two parts that are each indexed, none twice.
    letters = [chr(0x1D400 + n) for n in range(300) if chr(0x1D400 + n).isalpha()]
    words = " ".join(f"{a}{b}-{b}{c}" for a in letters for b in letters for c in letters[:1])
    take(owner, document(content_text=words))

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_size(search) > 0 FROM knowledge_item")
        assert cursor.fetchone() == (True,)


def test_the_model_that_embeds_the_question_is_the_one_of_the_items(
    mailbox: AccountRef, model: ScriptedModel
) -> None:
    find(mailbox, query="noodles")

    path, body = model.requests[-1]
    assert path.endswith("/embeddings")
    assert body["model"] == llm.embedding_model_name()
