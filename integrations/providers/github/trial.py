"""Trying somebody's GitHub with a token: what Remit can do there and prove. Nothing is changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from integrations.network.answers import parse, rows
from integrations.ports.evidence import Ability
from integrations.providers.github.issues import Repository, Somebody
from integrations.providers.github.servers import GitHubServer
from integrations.providers.github.session import GitHubSession, repositories
from integrations.providers.trackers import trial
from integrations.providers.trackers.trial import Tried
from integrations.providers.trial_slots import slots

HOW = (
    "GitHub takes a personal access token: fine-grained with the permission Issues (read and "
    "write) for the repositories it is to be used in, or a classic one with the scope repo. It is "
    "made in the developer settings of the account there, and it runs out on a day of its own."
)


def try_server(server: GitHubServer, *, secret: str, only: Sequence[str] = ()) -> Tried:
    """Raises ProviderError with a sentence for people."""
    sign_in, slot = trial.sign_in("", secret), slots()
    with trial.trying(server.host, product="GitHub", token=HOW):
        session = GitHubSession(server, sign_in, slot, lambda: None)
        login = parse(Somebody, session.get("/user")).login
        session.server = replace(server, login=login, only=tuple(only))
        found = repositories(session)
        rows(session.get("/issues", {"filter": "all", "per_page": 1}))
    return Tried(
        host=server.host,
        server=session.server.to_json(),
        projects=tuple(one.full_name for one in found),
        abilities=tuple(_abilities(found)),
    )


def _abilities(found: Sequence[Repository]) -> Iterator[Ability]:
    none = "" if found else "This token shows no repository with issues."
    sorting = none or (
        "" if any(one.may_sort for one in found) else "This token may not do that in any of them."
    )
    yield trial.READ
    rows = (
        ("Create issues", none, trial.SEARCHED),
        ("Comment on issues", none, trial.SEARCHED),
        ("Change, close and reopen issues", none, trial.COMPARED),
        ("Set labels and assignees", sorting, trial.COMPARED),
    )
    for what, missing, why in rows:
        yield Ability(what=what, grade="" if missing else "C", why=missing or why)
    yield Ability(what="Set priorities and due dates", grade="", why="GitHub's issues have none.")
