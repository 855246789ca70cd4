"""“How many …?”, “Which issues are due this week?”: what fits exact filters, counted or listed."""

from collections.abc import Sequence

from sandbox.offline_model.language import quoted
from sandbox.offline_model.rules import dates
from sandbox.offline_model.rules.asked import Asked
from sandbox.offline_model.rules.filters import Wanted
from sandbox.offline_model.rules.item_facts import cite, title_of
from sandbox.offline_model.rules.wording import say
from sandbox.offline_model.script import Script, call, side_by_side
from sandbox.offline_model.transcript import Json, Result, as_objects, as_text, sender_of

LISTED = 5
MOST = 50


def answer(asked: Asked, wanted: Wanted, *, only_count: bool) -> Script:
    """Count or list what fits."""
    filters = wanted.filters
    by = wanted.by or ("priority" if wanted.priority else "")
    limit = MOST if by else LISTED
    listing = call("list_items", **filters, limit=limit)
    if not by:
        [listed] = yield listing
        return _counted(asked, listed, only_count=only_count)
    grouped, listed = yield side_by_side(call("list_items", **filters, count_by=by), listing)
    failed = next((one for one in (grouped, listed) if not one.success), None)
    if failed is not None:
        return _failed(asked, failed)
    groups = as_objects(grouped.data.get("groups"))
    if wanted.by:
        return _by_group(asked, groups, as_objects(listed.data.get("items")))
    value = wanted.priority
    total = sum(_number(group.get("count")) for group in groups if _is(group.get("value"), value))
    fitting = [one for one in as_objects(listed.data.get("items")) if _is(one.get(by), value)]
    return _total(asked, total, fitting[:LISTED], only_count=only_count)


def _is(found: object, value: str) -> bool:
    return as_text(found).casefold() == value


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _failed(asked: Asked, result: Result) -> str:
    return say(asked.german, "not_searched", where="", reason=quoted(result.refusal, limit=400))


def _counted(asked: Asked, listed: Result, *, only_count: bool) -> str:
    if not listed.success:
        return _failed(asked, listed)
    items = as_objects(listed.data.get("items"))
    return _total(asked, _number(listed.data.get("total")), items, only_count=only_count)


def _by_group(asked: Asked, groups: Sequence[Json], items: Sequence[Json]) -> str:
    total = sum(_number(group.get("count")) for group in groups)
    lines = [
        f"- {quoted(as_text(group.get('value')))}: {_number(group.get('count'))}"
        for group in groups
    ]
    cited = "".join(cite(item) for item in items[:2])
    return "\n".join([_head(asked, total) + cited, *lines])


def _total(asked: Asked, total: int, items: Sequence[Json], *, only_count: bool) -> str:
    if not total:
        return say(asked.german, "none", what=_what(asked))
    lines = [line_of(item, asked.german) for item in items[: 3 if only_count else LISTED]]
    more = say(asked.german, "newest") if total > len(lines) else ""
    return "\n".join([_head(asked, total) + more, *lines])


def _head(asked: Asked, total: int) -> str:
    are = "gibt" if asked.german else ("is" if total == 1 else "are")
    return say(asked.german, "count", are=are, count=total, what=_what(asked, total))


_NOUNS = {
    "issue": (("issue", "issues"), ("Vorgang", "Vorgänge")),
    "email": (("mail", "mails"), ("Mail", "Mails")),
    "document": (("document", "documents"), ("Dokument", "Dokumente")),
    "event": (("event", "events"), ("Termin", "Termine")),
}
_ANY = (("item", "items"), ("Eintrag", "Einträge"))


def _what(asked: Asked, total: int = 0) -> str:
    kind = asked.types[0] if len(asked.types) == 1 else ""
    return " " + _NOUNS.get(kind, _ANY)[asked.german][total != 1]


def line_of(item: Json, german: bool) -> str:
    """One item of a list with what one wants to know of its kind."""
    sender = sender_of(item)
    when = dates.moment(item.get("date"))
    said = [as_text(item.get("status")), as_text(item.get("assignee"))]
    due = as_text(item.get("due_date"))
    said += [("fällig " if german else "due ") + due] if due else []
    if item.get("type") in ("email", "message"):
        said = [as_text(sender.get("name")) or as_text(sender.get("address"))]
    if when and item.get("type") != "issue":
        said.append(dates.show(when, german))
    facts = ", ".join(quoted(part) for part in said if part)
    return f"- “{title_of(item)}”" + (f": {facts}" if facts else "") + cite(item)
