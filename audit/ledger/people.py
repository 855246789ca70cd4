"""Those whom rows name by id, as the apps above this one know them: what they are called, and whose
rows each may meet.

A row keeps ids, which stay good when somebody is renamed or leaves. Names are for people's pages
alone: exports and proofs hold ids. They are text that others chose, for the page to escape.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from audit.contracts import Recorded
from audit.models import ExecutedAgentAction

Principal = tuple[UUID | None, str]
"""A principal in its organisation; None: in the whole installation."""
Names = Mapping[Principal, str]
"""By organisation and principal: `user:…`, `token:…`, `operator:…`, `custom:…` for an agent that
the organisation made. Who is not in it is gone, or was never known."""
Row = ExecutedAgentAction | Recorded
Find = Callable[[Collection[Principal], UUID | None], Names]
Met = Callable[[Any], tuple[UUID, ...] | None]

AGENTS = {"mcp": "over MCP"}  # whose ids are no words
USER = "user:"
COMMAND = "command line,"  # which a name follows


@dataclass
class _Apps:
    find: Find = field(default=lambda wanted, first_of: {})
    met: Met = field(default=lambda user: ())


_apps = _Apps()


def know(*, find: Find, met: Met) -> None:
    """From now on those wanted, and the first people of an organisation, are called what `find`
    says, and somebody who is logged in meets the rows of the organisations that `met` says."""
    _apps.find, _apps.met = find, met


def list_met(user: Any) -> tuple[UUID, ...] | None:
    """Whose rows somebody may meet; None: everybody's."""
    return _apps.met(user)


def find_names(rows: Iterable[Row], *, first_of: UUID | None = None, user_id: str = "") -> Names:
    """The names of all whom these rows name, and of the first people of an organisation and one
    more. As many queries for many rows as for one."""
    wanted: set[Principal] = {
        (row.tenant_id, one) for row in rows for one in _principals(row) if ":" in one
    }
    if first_of and user_id:
        wanted.add((first_of, f"{USER}{user_id}"))
    return _apps.find(wanted, first_of) if wanted or first_of else {}


def find(wanted: Iterable[Principal]) -> Names:
    """The names of those of them who have one. As many queries for many as for one; none for
    nobody."""
    asked = {one for one in wanted if ":" in one[1]}
    return _apps.find(asked, None) if asked else {}


def name_each(wanted: Iterable[Principal]) -> Names:
    """Each of these in words, for pages of other rows than the ledger's. As many queries for many
    as for one."""
    each = set(wanted)
    names = find(each)
    return {(of, principal): call(of, principal, names) for of, principal in each}


def name_one(of: UUID | None, principal: str) -> str:
    return name_each([(of, principal)])[of, principal]


def _principals(row: Row) -> Iterator[str]:
    yield from (row.actor_id, row.agent_id, row.approved_by, f"{USER}{row.on_behalf_of}")
    if isinstance(row, Recorded):
        said = row.payload
        yield str(said.get("edited_by", ""))
        yield from (f"{USER}{said.get(name, '')}" for name in ("as_user", "edited_as"))


def offer(names: Names, tenant_id: UUID | None, chosen: str) -> list[tuple[str, str]]:
    """The people among those who are known, by name, each as id and label (two may have one name),
    and who is chosen, whom perhaps nobody knows."""
    known = {chosen: chosen} if chosen else {}
    for (of, one), name in names.items():
        if of == tenant_id and one.startswith(USER):
            known[one.removeprefix(USER)] = name
    offered = [(id, with_id(name, id)) for id, name in known.items()]
    return sorted(offered, key=lambda one: one[1].casefold())


def who(row: Row, names: Names) -> str:
    """Who acted: an agent and who set it to work, a person, a token, or a part of Remit."""
    by = call(row.tenant_id, row.actor_id, names)
    if row.actor_type == "agent":
        agent_id = row.agent_id or ("" if ":" in row.actor_id else row.actor_id)
        agent = _call_agent(row.tenant_id, agent_id, names)
        return agent if row.actor_id in ("", agent_id) else f"{agent}, {by}"
    if ":" not in row.actor_id:
        by = f"{row.actor_type} {by}".strip()
    return by[:1].upper() + by[1:]


def _call_agent(of: UUID | None, agent_id: str, names: Names) -> str:
    if agent_id.startswith("custom:"):
        name = names.get((of, agent_id), "")
        return f"Agent “{name}”" if name else "A deleted agent"
    return f"Agent {AGENTS.get(agent_id, agent_id.replace('_', ' '))}".strip()


def call(of: UUID | None, principal: str, names: Names) -> str:
    """A principal of an organisation in English words; the id stands for a person who has no
    name."""
    return " ".join(filter(None, split(of, principal, names)))


def split(of: UUID | None, principal: str, names: Names) -> tuple[str, str]:
    """The same as two parts: a word of Remit's own, which a page may translate, and what follows
    it, which others chose. Either may be empty."""
    kind, _, id = principal.partition(":")
    name = names.get((of, principal), "")
    if kind == "token" and id:
        return ("token", f"“{name}”") if name else ("a deleted token", "")
    if kind == "agent":
        agent = _call_agent(of, id, names)
        return "", agent[:1].lower() + agent[1:]
    if not id:
        return principal.replace("_", " "), ""
    if kind == "user":
        return "", name or id
    word = COMMAND if kind == "command" else kind
    called = name or id
    return word, "" if called == kind else called  # the first member of staff is “operator”


def call_user(of: UUID, id: str, names: Names) -> str:
    return call(of, f"{USER}{id}", names) if id else ""


def with_id(words: str, id: str) -> str:
    """For auditors, who need the id beside the name."""
    return words if words == id else f"{words} ({id})"
