"""The search column of items. What is found by words is what this writes."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db import transaction
from django.db.models.expressions import RawSQL

from knowledge.ingest import write_counts
from knowledge.models import Item
from knowledge.text.lexemes import indexed, indexed_facts, terms

INDEXED_CHARS = 100_000
AT_ONCE = 50  # items that are indexed again in one transaction
DESCRIBED_CHARS = 2_000
# What sources say of an item that people look for in words: “closed bugs of Anna's”.
FACTS = ("status", "priority", "type", "project_key", "labels", "components", "channel", "location")


def index(row: Item) -> RawSQL:
    """Make `search` and `languages` fit the row's texts; the caller saves both. What the server
    works `search` out of is returned too."""
    people, facts = describe(row.sender_name, row.metadata)
    found = indexed(
        title=row.title,
        summary=row.summary,
        text=row.text[:INDEXED_CHARS],
        people=people,
        facts=facts,
    )
    stemmed = "".join(
        ' || setweight(to_tsvector(%s::regconfig, %s), %s::"char")' for _ in found.stemmed
    )
    values = [part for language, weight, text in found.stemmed for part in (language, text, weight)]
    row.languages = list(found.languages)
    search = RawSQL(  # noqa: S611  # the statement is constant
        f"%s::tsvector{stemmed}", (found.plain, *values), output_field=SearchVectorField()
    )
    row.search = search
    return search


def index_facts(facts: str) -> RawSQL:
    """What makes `search` of a stored row fit these facts, where nothing else of it changed and its
    languages are known: a label more costs no look at its text. They stand behind it then."""
    return RawSQL(
        """ts_filter(search, '{a,b,c}') || %s::tsvector""",
        (indexed_facts(facts),),
        output_field=SearchVectorField(),
    )


def describe(sender_name: str, metadata: Mapping[str, Any]) -> tuple[str, str]:
    """Who has to do with an item, by name, and what its source says of it, as words to find it
    by. Of an address the part before the @."""
    people = [sender_name, _name(metadata.get("assignee")), *_attendees(metadata)]
    facts = [word for name in FACTS for word in _words(metadata.get(name))]
    return " ".join(filter(None, people))[:DESCRIBED_CHARS], " ".join(facts)[:DESCRIBED_CHARS]


def _attendees(metadata: Mapping[str, Any]) -> Iterator[str]:
    for one in metadata.get("attendees") or ():
        yield str(one.get("name") or "") or _name(one.get("email"))


def _name(person: object) -> str:
    return person.partition("@")[0] if isinstance(person, str) else ""


def _words(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one


def index_again() -> int:
    """Index the next items that were stored before languages were recognised; how many.

    Until then they are found by their words as they are written. Several may do this at once.
    """
    with transaction.atomic():
        rows = Item.objects.select_for_update(skip_locked=True).defer("search", "metadata")
        found = list(rows.filter(languages=None).order_by("pk")[:AT_ONCE])
        for row in found:
            index(row)
            row.save(update_fields=["search", "languages"])
        write_counts.count_writes(found)
    return len(found)


def is_behind() -> bool:
    """Whether there are such items."""
    return Item.objects.filter(languages=None).exists()


def words_query(text: str) -> SearchQuery:
    """What finds the items that hold every word of `text` as it is written."""
    every = " & ".join(f"({term.tsquery})" for term in terms(text))
    return SearchQuery(every, config="simple", search_type="raw")
