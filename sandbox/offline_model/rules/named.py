"""Which item or person a command means: found by a search, and asked where it may be several.

A script of these returns what was found, or the sentence that says why nothing was.
"""

import re
from collections.abc import Generator, Sequence
from typing import Any

from sandbox.offline_model.language import ADDRESS, content_words, quoted
from sandbox.offline_model.rules.asked import KEY, KIND_WORDS
from sandbox.offline_model.rules.concepts import concepts_of
from sandbox.offline_model.rules.people import chosen, people_called
from sandbox.offline_model.script import Results, call
from sandbox.offline_model.transcript import Json, Reply, as_objects, as_text, said_in
from sandbox.offline_model.vectors import stem

MOST = 10
MOST_OPTIONS = 6
_TITLE = re.compile(r"[“„«\"]\s*([^“”„«»\"]{1,200}?)\s*[”“»\"]")
Finding = Generator[Reply, Results, Any]


def titles_in(text: str) -> list[str]:
    """What stands in quotation marks."""
    return [found.strip() for found in _TITLE.findall(text)]


def without_titles(text: str) -> str:
    return _TITLE.sub(" ", text)


def item(which: str, kind: str) -> Finding:
    """The one item of a kind (issue, event, document) that the words mean; a text where there is
    none. An issue is meant by its key, others by their title or by words of it."""
    if key := KEY.search(which):
        return {"key": key[0], "id": key[0], "title": key[0]}
    titles = titles_in(which)
    words = content_words(titles[0] if titles else which, without=KIND_WORDS)
    if not words:
        return f"Which {kind} do you mean? Please name its title."
    [found] = yield call("retrieve_context", query=" ".join(words)[:300], types=[kind], limit=MOST)
    if not found.success:
        return f"I could not search. {quoted(found.refusal, limit=400)}"
    alike = _best(as_objects(found.data.get("items")), titles[:1] or [" ".join(words)], kind)
    if not alike:
        return f"I found no {kind} that matches “{quoted(' '.join(words))}”."
    if len(alike) == 1:
        return alike[0]
    options = [_option(one) for one in alike[:MOST_OPTIONS]]
    answer = yield from ask(f"Which {kind} do you mean?", options)
    return alike[options.index(answer)] if answer else f"I could not tell which {kind} you mean."


def person(name: str) -> Finding:
    """The address of who is meant, in a list, from the mails they wrote; a text where nobody is."""
    if addresses := ADDRESS.findall(name):
        return addresses
    [found] = yield call(
        "retrieve_context", query=name, entity_filter=name, sources=["gmail"], limit=12
    )
    people = people_called(name, found)
    if not people:
        return f"I found no mail of {quoted(name)}. Please give the whole address."
    if len(people) == 1:
        return [people[0].address]
    answer = yield from ask(f"Which {quoted(name)} did you mean?", [one.option for one in people])
    known = {one.option: one.address for one in people}
    return [known[answer]] if answer else f"I could not tell which {quoted(name)} you mean."


def ask(question: str, options: Sequence[str]) -> Generator[Reply, Results, str | None]:
    """The option that the user chooses; None where the answer means none or several."""
    [asked] = yield call("ask_user", question=question, options=list(options))
    return chosen(as_text(asked.data.get("answer")), list(options))


def _best(items: Sequence[Json], wanted: Sequence[str], kind: str) -> list[Json]:
    """Those of the kind that hold most of the words, in the title before the text; all that are
    alike in both, but of one title only the first."""
    stems = frozenset(form for one in concepts_of(wanted[0]) for form in one.forms)

    def rank(one: Json) -> tuple[bool, int, int]:
        title = as_text(one.get("title"))
        whole = f"{title} {said_in(one)}"
        is_it = title.casefold() == wanted[0].casefold()
        return is_it, len(stems & _stems(title)), len(stems & _stems(whole))

    rated = [(rank(one), one) for one in items if one.get("type") == kind]
    best = max((rated_by for rated_by, _ in rated), default=(False, 0, 0))
    if not any(best):
        return []
    first = {as_text(one.get("title")): one for by, one in reversed(rated) if by == best}
    return [*first.values()][::-1]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold())}


def _option(one: Json) -> str:
    key, title = as_text(one.get("key")), quoted(as_text(one.get("title")), limit=120)
    return title if not key or title.startswith(key) else f"{key} {title}"
