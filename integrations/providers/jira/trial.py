"""Trying somebody's Jira with a token: what Remit can do there and prove. Nothing is changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from integrations.exceptions import NotPermitted
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.jira import listing
from integrations.providers.jira.issues import Person
from integrations.providers.jira.servers import JiraServer, read_base
from integrations.providers.jira.session import JiraSession, limited
from integrations.providers.trackers import trial
from integrations.providers.trackers.session import Slot, TrackerSession
from integrations.providers.trackers.trial import Tried
from integrations.providers.trial_slots import slots

HOW = (
    "Jira Cloud takes the user's mail address with an API token, made in the security settings of "
    "the Atlassian account; Data Center takes a personal access token, made in the user's profile."
)
RIGHTS = ("CREATE_ISSUES", "ADD_COMMENTS", "EDIT_ISSUES", "TRANSITION_ISSUES", "ASSIGN_ISSUES")


def try_server(url: str, *, user_name: str, secret: str, only: Sequence[str] = ()) -> Tried:
    """Raises ProviderError with a sentence for people."""
    base = read_base(url)
    sign_in, slot = trial.sign_in(user_name, secret), slots()
    server = JiraServer(base=base)
    with trial.trying(server.host, product="Jira", token=HOW):
        server = replace(server, is_cloud=_is_cloud(base, slot))
        session = JiraSession(server, sign_in, slot, lambda: None)
        me = parse(Person, session.get("/myself"))
        session.server = replace(
            server, me=me.accountId if server.is_cloud else me.name, only=tuple(only)
        )
        found = listing.projects(session)
        rights = session.get("/mypermissions", {"permissions": ",".join(RIGHTS)})
    return Tried(
        host=server.host,
        server=session.server.to_json(),
        projects=tuple(one.key for one in found),
        abilities=tuple(_abilities(bool(found), _granted(rights))),
    )


def _is_cloud(base: str, slot: Slot) -> bool:
    """As the server says of itself to anybody. Nothing secret is sent. One that says nothing to
    strangers is a data center."""
    anonymous = TrackerSession(
        f"{base}/rest/api/2", {"Accept": "application/json"}, limited=limited, slot=slot
    )
    try:
        said = anonymous.get("/serverInfo")
    except NotPermitted:
        return False
    return isinstance(said, dict) and said.get("deploymentType") == "Cloud"


def _granted(data: Any) -> frozenset[str]:
    rights = data.get("permissions", {}) if isinstance(data, dict) else {}
    return frozenset(
        name
        for name, one in rights.items()
        if isinstance(one, Mapping) and one.get("havePermission")
    )


def _abilities(has_projects: bool, granted: frozenset[str]) -> Iterator[Ability]:
    yield trial.READ
    rows: tuple[tuple[str, set[str], str], ...] = (
        ("Create issues", {"CREATE_ISSUES"}, trial.SEARCHED),
        ("Comment on issues", {"ADD_COMMENTS"}, trial.SEARCHED),
        (
            "Change, close and reopen issues",
            {"EDIT_ISSUES", "TRANSITION_ISSUES"},
            f"{trial.COMPARED} A status is a step of the project's workflow; where no step leads "
            "there, Remit refuses.",
        ),
        ("Set labels and assignees", {"EDIT_ISSUES", "ASSIGN_ISSUES"}, trial.COMPARED),
        ("Set priorities and due dates", {"EDIT_ISSUES"}, trial.COMPARED),
    )
    for what, needed, why in rows:
        missing = "" if has_projects else "This token shows no project."
        if not needed <= granted:
            missing = missing or "This user may not do that in any project."
        yield Ability(what=what, grade="" if missing else "C", why=missing or why)
