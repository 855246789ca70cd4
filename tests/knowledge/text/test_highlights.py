from typing import Any

import pytest
from hypothesis import given, strategies as st

from knowledge.contracts import SearchRequest
from knowledge.ingest.ingest import ingest
from knowledge.search.retrieval import search
from knowledge.text.highlights import SNIPPET_CHARS, START, STOP, snippet
from knowledge.text.lexemes import terms
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel


def highlighted(text: str, query: str, marked: str = "") -> list[str]:
    shown, places = snippet(text, marked, terms(query))
    return [shown[start:end] for start, end in places]


def test_words_are_marked_where_they_stand() -> None:
    assert highlighted("Réglée: the Contracts, contractors and a con.", "reglee contract con") == [
        *("Réglée", "Contracts", "contractors", "con"),
    ]
    assert highlighted("来週の会議室です", "会議室") == ["会議室"]
    assert highlighted("Nothing here", "else") == []


def test_the_part_with_most_of_them_is_shown() -> None:
    text = "Noodles. " + "word " * 200 + "the noodles on\nFriday with noodles " + "end " * 100
    shown, places = snippet(text, "", terms("noodles friday"))

    assert [shown[a:b] for a, b in places] == ["noodles", "Friday", "noodles"]
    assert "on Friday" in shown
    assert len(shown) <= SNIPPET_CHARS


def test_marks_of_another_text_are_left_aside() -> None:
    marked = f"the {START}Verträge{STOP} end"

    assert highlighted("the Verträge end", "vertragen", marked) == ["Verträge"]
    assert highlighted("<b>the</b> Verträge end", "vertragen", marked) == []


@given(st.text(max_size=600), st.text(max_size=40))
def test_every_place_is_inside_and_none_overlaps(text: str, query: str) -> None:
    shown, places = snippet(text, "", terms(query))

    ends = [0, *(edge for place in places for edge in place), len(shown)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in places)
    assert len(shown) <= SNIPPET_CHARS


@pytest.mark.django_db
def test_a_search_marks_other_forms_and_leaves_markup_as_text(model: ScriptedModel) -> None:
    owner = account()
    body = "<script>x</script> Bitte senden Sie die Verträge, die noch nicht da sind, und bald."
    ingest(account=owner, source_id="m1", item=email(subject="x", body_text=body), now=NOW)

    def found() -> Any:
        request = SearchRequest(account_ids=(owner.id,), query="Vertrags senden")
        [item] = search(request, now=NOW).items
        return item

    item = found()
    assert item.snippet.startswith("<script>x</script> Bitte")
    assert "senden" in [item.snippet[a:b] for a, b in item.highlights]
    assert found() == item

    body = "Bitte senden Sie die Verträge, die noch nicht da sind, und bald."
    later = email(subject="x", body_text=body, version=2, updated_at="2026-03-09T10:00:00Z")
    ingest(account=owner, source_id="m1", item=later, now=NOW)
    item = found()
    assert [item.snippet[a:b] for a, b in item.highlights] == ["senden", "Verträge"]
