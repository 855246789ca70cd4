"""What the issue reader is asked about a new issue: its component, a listed label, its priority,
and whether it repeats another one. Nothing of it is done until a person takes it up, and what the
user cannot set at the issue's provider is not suggested, but for an issue that it repeats: that is
said where nothing can be linked, too.

What it may repeat is found by search, in its own account. An issue that an action of the
assistant's own made is known by the ledger.
"""

from collections.abc import Mapping, Sequence

from agents.context import prompts
from agents.inbound.triage import Arrival, Brief
from agents.journal.suggestions import Seen
from agents.tools import suggest
from agents.tools.suggest import NewIssue
from agents.turns import roster
from integrations.contracts import Issue
from integrations.ports.issues import Sorting
from knowledge.contracts import FoundItem, SearchRequest
from knowledge.search import projects, retrieval
from knowledge.search.listing import ENDED

TEXT_LIMIT = 3000  # characters of the description
MOST_LIKE = 5  # issues that it may repeat
MOST_CHOICES = 60  # of components or labels
PRIORITIES = ("highest", "high", "medium", "low", "lowest")


def brief(arrival: Arrival, issue: Issue) -> Brief | None:
    """None where nothing is to be asked."""
    if arrival.kind != "created" or not arrival.permitted:
        return None
    if issue.status.casefold() in ENDED:
        return None
    present = arrival.as_it_is(issue)
    if present is None:
        return None
    issue, settable = present, arrival.reader.settable(present)
    like = [] if issue.duplicate_of else _find_like(arrival, issue)
    new = NewIssue(
        seen=Seen(object_id=issue.key, revision=issue.revision, basis=""),
        now={"priority": issue.priority or ""},
        components=_within(settable, "components", _list_components(arrival, issue)),
        labels=_within(settable, "labels", _list_labels(arrival, issue)),
        priorities=_within(settable, "priority", _list_priorities(issue)),
        duplicates={one.object_id: _summary(one) for one in like},
        can_link="duplicate_of" in settable,
    )
    if not new.choices:
        return None
    tool = suggest.offer_triage(new)
    return Brief(
        agent=roster.ISSUE_READER,
        item_id=issue.id,
        also=issue.key,
        request=prompts.render_arrival(
            {
                "issue_key": issue.key,
                "project": issue.project_key,
                "type": issue.type,
                "summary": issue.summary,
                "text": (issue.description or "")[:TEXT_LIMIT],
                "priority": issue.priority,
                "labels": list(issue.labels),
                "components": list(issue.components),
                "may_repeat": [
                    {
                        "key": one.object_id,
                        "summary": _summary(one),
                        "status": one.metadata.get("status"),
                        "text": one.snippet,
                    }
                    for one in like
                ],
            }
        ),
        tools={tool.name: tool},
    )


def _within(
    settable: Mapping[Sorting, Sequence[str] | None], name: Sorting, choices: Sequence[str]
) -> list[str]:
    """Those of the choices that the provider takes."""
    offered = settable.get(name, ())
    return [one for one in choices if offered is None or one in offered]


def _list_components(arrival: Arrival, issue: Issue) -> list[str]:
    if issue.components:
        return []
    found = projects.list_components(account_id=arrival.account.id, project_key=issue.project_key)
    return list(found[:MOST_CHOICES])


def _list_labels(arrival: Arrival, issue: Issue) -> list[str]:
    """Those that the policy lists: an operator picked them."""
    if issue.labels:
        return []
    targets = [one for each in arrival.permitted for one in each.targets if one.kind == "label"]
    return list(dict.fromkeys(one.id for one in targets))[:MOST_CHOICES]


def _list_priorities(issue: Issue) -> list[str]:
    """None where the issue has none: some trackers have none."""
    return [one for one in PRIORITIES if one != issue.priority] if issue.priority else []


def _find_like(arrival: Arrival, issue: Issue) -> list[FoundItem]:
    """Issues of the same account that say the like, the likest first."""
    found = retrieval.search(
        SearchRequest(
            account_ids=(arrival.account.id,),
            query=issue.summary,
            content_types=("issue",),
            limit=MOST_LIKE + 1,
        ),
        now=arrival.now,
    )
    return [one for one in found.items if one.source_id != issue.id][:MOST_LIKE]


def _summary(found: FoundItem) -> str:
    """Its title begins with its key."""
    return found.title.removeprefix(found.object_id).strip()
