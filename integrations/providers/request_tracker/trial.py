"""Trying somebody's Request Tracker with a token: what Remit can do there and prove. Nothing is
changed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from integrations.exceptions import Rejected
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.request_tracker.listing import queue_of, queues
from integrations.providers.request_tracker.servers import RequestTracker, read_base
from integrations.providers.request_tracker.session import RtSession
from integrations.providers.request_tracker.tickets import RawQueue, User
from integrations.providers.trackers import trial
from integrations.providers.trackers.trial import Tried
from integrations.providers.trial_slots import slots

HOW = (
    "Request Tracker takes an authentication token, made since RT 5 under "
    "“Logged in as”, Settings, Auth Tokens. Its user needs the right to see the queues."
)
SAME = (
    "RT itself refuses a change of a ticket that is another one by now. It takes each field by "
    "itself, so Remit looks afterwards whether all of them are as they are to be."
)
LOOKED_AT = 20  # queues
_TOKEN = re.compile(r"[0-9]{1,4}-([0-9]{1,18})-[0-9A-Fa-f]{16,128}")


def try_server(url: str, *, secret: str, only: Sequence[str] = ()) -> Tried:
    """Raises ProviderError with a sentence for people."""
    server = RequestTracker(base=read_base(url))
    token = _TOKEN.fullmatch(secret.strip())
    if token is None:
        raise Rejected(f"This is no token of Request Tracker. {HOW}")
    sign_in, slot = trial.sign_in("", secret.strip()), slots()
    with trial.trying(server.host, product="Request Tracker", token=HOW):
        session = RtSession(server, sign_in, slot, lambda: None)
        me = parse(User, session.get(f"/user/{token[1]}"))
        session.server = replace(server, me=me.Name, only=tuple(only))
        names = sorted(queues(session).values())
        looked_at = [queue_of(session, name) for name in names[:LOOKED_AT]]
    return Tried(
        host=server.host,
        server=session.server.to_json(),
        projects=tuple(names),
        abilities=tuple(_abilities(looked_at)),
    )


def _abilities(found: Sequence[RawQueue]) -> Iterator[Ability]:
    none = "" if found else "This token shows no queue."
    creating = none or (
        "" if any(one.may_create for one in found) else "This user may create no ticket anywhere."
    )
    labelling = none or (
        ""
        if any(one.labelled for one in found)
        else "No queue has a custom field “Labels” or “Tags”. An assignee can be set."
    )
    yield trial.READ
    rows = (
        ("Create issues", "C", creating, trial.SEARCHED),
        ("Comment on issues", "C", none, trial.SEARCHED),
        ("Change, close and reopen issues", "B", none, SAME),
        ("Set labels and assignees", "B", labelling, SAME),
        ("Set priorities and due dates", "B", none, SAME),
    )
    for what, grade, missing, why in rows:
        yield Ability(what=what, grade="" if missing else grade, why=missing or why)
