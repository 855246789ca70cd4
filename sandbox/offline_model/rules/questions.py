"""Questions: which rule answers one, and, where none does, what a search finds, quoted."""

import re
from collections.abc import Generator, Sequence
from datetime import datetime

from sandbox.offline_model.language import (
    content_words,
    counted,
    listed,
    quoted,
    sentences,
    word_set,
    words,
)
from sandbox.offline_model.rules import agenda, counting, dates, filters, item_facts, passages
from sandbox.offline_model.rules.asked import KIND_WORDS, Asked
from sandbox.offline_model.rules.ingest import summary
from sandbox.offline_model.rules.wording import NEAREST, NO_ANSWER, say
from sandbox.offline_model.script import Results, Script, call, play, side_by_side
from sandbox.offline_model.transcript import (
    Call,
    Json,
    Reply,
    Transcript,
    as_objects,
    as_text,
    said_in,
    sender_of,
)

MOST_QUOTED = 3
IN_TEXTS = ("how_much", "how_many", "how_long", "when")
SOURCE_WORDS = {
    "gmail": word_set("mail mails email emails e-mail e-mails inbox message messages"),
    "gdrive": word_set("document documents doc docs file files drive spreadsheet"),
    "calendar": word_set("calendar meeting meetings event events appointment agenda"),
    "jira": word_set("jira issue issues task tasks ticket tickets bug bugs"),
    "slack": word_set("slack chat chats channel channels"),
}
SOURCE_NAMES = {
    "gmail": "mail",
    "gdrive": "documents",
    "calendar": "calendar",
    "jira": "issues",
    "slack": "chat",
}
# What else holds things of that kind.
ALIKE = {
    "gmail": ("gmail", "outlook", "mailbox"),
    "calendar": ("calendar", "calendar_file"),
    "jira": ("jira", "github"),
}
TIME_FILTERS = (
    ("today", re.compile(r"\btoday\b", re.IGNORECASE)),
    ("yesterday", re.compile(r"\byesterday\b", re.IGNORECASE)),
    ("last_week", re.compile(r"\b(?:last|past|this) (?:week|7 days|seven days)\b", re.IGNORECASE)),
    ("last_month", re.compile(r"\b(?:last|past|this) (?:month|30 days)\b", re.IGNORECASE)),
)
_OPENING = word_set(
    """which what when where who whose how find show search list look is are was were do does
    did has have any tell summarise summarize"""
)
_ASKING = word_set(
    """find show search list look tell summarise summarize many much anything something
    say says said write wrote written mention mentions mentioned send sent get got"""
)
_WHAT = re.compile(r"(?:what(?:'s)? (?:is|are|was)|was (?:ist|sind|war))\b", re.IGNORECASE)
_ALL_SOURCE_WORDS = frozenset[str]().union(*SOURCE_WORDS.values())
_JOINED = re.compile(r"\b(?:and|or)\b|[,&]", re.IGNORECASE)


def is_question(request: str) -> bool:
    first = next(iter(words(request)), "").casefold()
    return first in _OPENING or request.rstrip().endswith("?")


def next_reply(transcript: Transcript) -> Reply:
    return play(script(transcript, transcript.request), transcript)


def script(transcript: Transcript, request: str) -> Script:
    """The answer to a question, by the first rule that has one."""
    asked, now, tools = Asked(request), transcript.now, transcript.tools
    span = dates.span_in(request, now=now)
    if "read_calendar" in tools and agenda.is_about(asked, span):
        return (yield from agenda.answer(asked, span, now=now))
    if "list_items" in tools:
        wanted = filters.read(asked, now=now)
        counts = asked.kind == "how_many" and bool(asked.types)
        lists = asked.kind == "" and not asked.keys and wanted.says_something
        if (counts or lists or wanted.by) and not wanted.left:
            return (yield from counting.answer(asked, wanted, only_count=counts))
    if "open_item" in tools and (asked.kind or asked.fact):
        return (yield from _one_item(asked, request, now=now))
    found = yield Reply(calls=searches(request))
    items = [item for result in found for item in as_objects(result.data.get("items"))]
    if _WHAT.match(request) and items and not item_facts.meant(asked, items):
        return _nearest(asked, items)
    return _answer(found, request)


def _one_item(asked: Asked, request: str, *, now: datetime) -> Script:
    """A fact of one item; else the sentence of one that holds the answer; else what was found,
    with the word that no answer was."""
    fact, types = item_facts.fact_of(asked)
    counts = asked.kind == "how_many" and asked.unit in KIND_WORDS  # by topic, which is no filter
    types = types or (asked.types if counts else ())
    if asked.keys:
        opened = yield side_by_side(
            *(call("open_item", item_id=key) for key in asked.keys[:MOST_QUOTED])
        )
        items = [result.data for result in opened if result.success]
        said = [item_facts.answer(asked, fact, [item], now=now) for item in items] if fact else []
        if any(said):
            return "\n".join(filter(None, said))
        if not items:
            return NO_ANSWER[asked.german] + " " + quoted(opened[0].refusal, limit=200)
    else:
        found = yield call("retrieve_context", query=asked.query, types=list(types))
        items = list(as_objects(found[0].data.get("items")))
        if not found[0].success:
            return _answer(found, request)
        meant = item_facts.meant(asked, items, sure=item_facts.needed(fact))
        if fact and (said_one := item_facts.answer(asked, fact, meant, now=now)):
            return said_one
        if types and not items:
            found = yield call("retrieve_context", query=asked.query)
            items = list(as_objects(found[0].data.get("items")))
    if asked.kind in IN_TEXTS and not counts and fact not in ("sent", "updated"):
        texts = yield from _opened(items)
        if answer := passages.best(asked, texts):
            return passages.render(asked, answer)
    if not items:
        return say(asked.german, "nothing", query=quoted(asked.query), where="")
    return _nearest(asked, items)


def _nearest(asked: Asked, items: Sequence[Json]) -> str:
    lines = [f"- {_quoted_item(item)}" for item in items[:MOST_QUOTED]]
    return "\n".join([NO_ANSWER[asked.german] + NEAREST[asked.german], *lines])


def _opened(items: list[Json]) -> Generator[Reply, Results, list[Json]]:
    """The first of these items, whole, part by part."""
    names = [as_text(item.get("id")) for item in items[: passages.MOST_OPENED]]
    if not names:
        return []
    first = yield side_by_side(*(call("open_item", item_id=name) for name in names))
    texts = [result.data for result in first if result.success]
    more = [
        call("open_item", item_id=as_text(text.get("id")), part=part)
        for text in texts
        for part in range(2, min(_parts(text), passages.MOST_PARTS) + 1)
    ]
    if more:
        others = yield side_by_side(*more)
        texts += [result.data for result in others if result.success]
    return texts


def _parts(text: Json) -> int:
    last = as_text(text.get("part")).rpartition(" ")[2]
    return int(last) if last.isdigit() else 1


def searches(request: str) -> tuple[Call, ...]:
    """One search; one for each source when the question joins several (“mails and issues”)."""
    arguments: Json = {"query": _query(request)}
    for time_filter, pattern in TIME_FILTERS:
        if pattern.search(request):
            arguments["time_filter"] = time_filter
    sources, joined = _sources(request)
    if not sources:
        groups = [arguments]
    elif joined:
        groups = [arguments | {"sources": _alike([source])} for source in sources]
    else:
        groups = [arguments | {"sources": _alike(sources)}]
    return tuple(Call(name="retrieve_context", arguments=group) for group in groups)


def _alike(sources: list[str]) -> list[str]:
    return [other for source in sources for other in ALIKE.get(source, (source,))]


def _sources(request: str) -> tuple[list[str], bool]:
    """The sources named, in order, and whether the question joins two of them."""
    named: dict[str, int] = {}
    joined = False
    for match in re.finditer(r"[\w-]+", request):
        source = next((s for s, ws in SOURCE_WORDS.items() if match[0].casefold() in ws), None)
        if source is None:
            continue
        if named and source not in named:
            joined = joined or bool(_JOINED.search(request, max(named.values()), match.start()))
        named[source] = match.end()
    return list(named), joined


def _query(request: str) -> str:
    """The words that carry meaning, less those that name a source; where none are left,
    those as well, and at last the whole request."""
    text = request
    for _, pattern in TIME_FILTERS:
        text = pattern.sub(" ", text)
    left = (
        content_words(text, without=_ASKING | _ALL_SOURCE_WORDS)
        or content_words(text, without=_ASKING)
        or words(request)
    )
    return " ".join(left)[:300] or "everything"


def _answer(results: Results, request: str) -> str:
    failures = [
        f"I could not search{_in_sources(result.call)}. {quoted(result.refusal, limit=400)}"
        for result in results
        if not result.success
    ]
    # Side by side searches may find one item twice; the best of each come first.
    found = [as_objects(result.data.get("items")) for result in results]
    deepest = max((len(items) for items in found), default=0)
    in_turn = (items[rank] for rank in range(deepest) for items in found if rank < len(items))
    items = list({as_text(item.get("id")): item for item in in_turn}.values())
    if items:
        head = f"I found {counted(len(items), 'item')}."
        lines = [f"- {_quoted_item(item)}" for item in items[:MOST_QUOTED]]
        rest = " The first three:" if len(items) > MOST_QUOTED else ""
        return "\n".join([*failures, head + rest, *lines])
    if failures:
        return "\n".join(failures)
    asked = results[0].call
    where = listed([SOURCE_NAMES.get(s, s) for s in _sources(request)[0]])
    query = quoted(as_text(asked.arguments.get("query")))
    return f"I found nothing about “{query}”" + (f" in your {where}." if where else ".")


def _in_sources(call: Call) -> str:
    sources = call.arguments.get("sources")
    given = [as_text(source) for source in sources] if isinstance(sources, list) else []
    named = [SOURCE_NAMES[source] for source in given if source in SOURCE_NAMES]
    return f" your {listed(named)}" if named else ""


def _quoted_item(item: Json) -> str:
    sender = quoted(as_text(sender_of(item).get("name")))
    by = f" from {sender}" if sender else ""
    day = _day(as_text(item.get("date")))
    on = f", {day}" if day else ""
    first = next(iter(sentences(summary(title=said_in(item), body=said_in(item)))), "")
    said = f": {quoted(first, limit=160)}" if first else ""
    number = item.get("n")
    citation = f" [{number}]" if isinstance(number, int) else ""
    return f"“{quoted(as_text(item.get('title')), limit=120)}”{by}{on}{said}{citation}"


def _day(date: str) -> str:
    """“20 Nov 2026 09:30 UTC+01:00”; nothing when it is no date with a zone."""
    moment = dates.moment(date)
    return f"{moment.day} {moment:%b %Y %H:%M} {moment.tzname()}" if moment else ""
