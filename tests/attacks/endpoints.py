"""Ids of another tenant, and of another user of the same tenant, at every endpoint: the same
answer as for an id that nobody has. What the model looks for is looked for in the user's own
things alone."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import httpx

from agents.models import Message, ToolCall
from integrations.models import Account, ServiceToken
from knowledge.models import Item
from tests.attacks.case import Story
from tests.attacks.desk import Desk, neighbour
from tests.attacks.replay import ask_to_send
from tests.attacks.tenants import FOREIGN
from tests.model_server import calls


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """`thing` makes one at a desk and gives its id; `ask` asks for it. With an own one the model
    is asked too (`speaks`), and the provider is called so often (`calls`)."""

    name: str
    thing: Callable[[Desk], str]
    ask: Callable[[Desk, str], httpx.Response]
    speaks: bool = False
    calls: int = 0


def user(desk: Desk) -> str:
    return desk.user_id


def conversation(desk: Desk) -> str:
    return str(greeted(desk)["session_id"])


def turn(desk: Desk) -> str:
    return str(greeted(desk)["turn_id"])


def greeted(desk: Desk) -> dict[str, Any]:
    with desk.obeyed(chat=["Hello."]):
        return desk.say("Hello")


def action(desk: Desk) -> str:
    ask_to_send(desk)
    return str(desk.rows()[0].action_id)


def sync(desk: Desk) -> str:
    body = {"user_id": desk.user_id, "sources": ["gmail"]}
    return str(desk.request("POST", "/api/v1/sync", json=body).json()["id"])


def of(method: str, path: str) -> Callable[[Desk, str], httpx.Response]:
    return lambda desk, id: desk.request(method, path.format(id=id))


def search(desk: Desk, id: str) -> httpx.Response:
    body = {"user_id": id, "query": "Hello"}
    return desk.request("POST", "/api/v1/search", json=body)


def chat(field: str, *, many: bool = False) -> Callable[[Desk, str], httpx.Response]:
    def ask(desk: Desk, id: str) -> httpx.Response:
        body = {"user_id": desk.user_id, "message": "Hello", field: [id] if many else id}
        return desk.request("POST", "/api/v1/chat", json=body)

    return ask


ENDPOINTS = (
    Endpoint(name="a user in a chat", thing=user, ask=chat("user_id"), speaks=True),
    Endpoint(
        name="an action confirmed in a chat",
        thing=ask_to_send,
        ask=chat("confirm_actions", many=True),
        speaks=True,
        calls=1,
    ),
    Endpoint(
        name="an action rejected in a chat",
        thing=ask_to_send,
        ask=chat("reject_actions", many=True),
        speaks=True,
    ),
    Endpoint(name="an approval", thing=ask_to_send, ask=lambda d, id: d.decide(id), calls=1),
    Endpoint(name="approvals", thing=user, ask=of("GET", "/api/v1/approvals?user_id={id}")),
    Endpoint(name="a policy", thing=user, ask=of("GET", "/api/v1/policy?user_id={id}")),
    Endpoint(
        name="an effective policy",
        thing=user,
        ask=of("GET", "/api/v1/policy/effective?user_id={id}"),
    ),
    Endpoint(name="sessions", thing=user, ask=of("GET", "/api/v1/conversations?user_id={id}")),
    Endpoint(name="a session", thing=conversation, ask=of("GET", "/api/v1/conversations/{id}")),
    Endpoint(
        name="a session deleted",
        thing=conversation,
        ask=of("DELETE", "/api/v1/conversations/{id}"),
    ),
    Endpoint(name="a turn", thing=turn, ask=of("GET", "/api/v1/turns/{id}")),
    Endpoint(name="a search", thing=user, ask=search),
    Endpoint(name="a sync", thing=sync, ask=of("GET", "/api/v1/sync/{id}")),
    Endpoint(name="a sync cancelled", thing=sync, ask=of("POST", "/api/v1/sync/{id}/cancel")),
    Endpoint(name="an action in the ledger", thing=action, ask=of("GET", "/api/v1/ledger/{id}")),
)


def colleague(desk: Desk) -> Desk:
    """Another user of the same tenant, with a token for this user alone."""
    name = f"colleague-{uuid4().hex[:8]}"
    organisation = desk.office.organisation
    Account.objects.create(organisation=organisation, external_user_id=name, source="gmail")
    _, token = ServiceToken.issue(
        organisation=organisation,
        name="colleague",
        scopes=ServiceToken.Scope.values,
        user_ids=[name],
    )
    return replace(desk, token=token, office=replace(desk.office, user_id=name))


def nobody(id: str) -> str:
    """An id of the same form that nobody has."""
    try:
        UUID(id)
    except ValueError:
        return f"user-{uuid4().hex[:8]}"
    return str(uuid4())


def asked_for(endpoint: Endpoint, who: Callable[[Desk], Desk]) -> Callable[[Desk], None]:
    def attack(desk: Desk) -> None:
        asker = who(desk)
        owner = desk if who is colleague else neighbour(desk)
        id = endpoint.thing(owner)
        with desk.obeyed():
            found, unknown = endpoint.ask(asker, id), endpoint.ask(asker, nobody(id))
        assert (found.status_code, found.json()) == (unknown.status_code, unknown.json())
        nothing: tuple[Any, ...] = ([], {"items": [], "next_cursor": None})
        assert found.json() in nothing or found.status_code == 404, found.text
        assert owner.calls() == []
        assert [card["state"] for card in owner.cards()] in ([], ["pending"])

    return attack


def own(endpoint: Endpoint) -> Callable[[Desk], None]:
    def twin(desk: Desk) -> None:
        id = endpoint.thing(desk)
        with desk.obeyed(chat=["Hello."] if endpoint.speaks else ()):
            answer = endpoint.ask(desk, id)
        assert answer.is_success, answer.text

    return twin


def tokens(change: str) -> Callable[[Desk], None]:
    """A token that is not, or no longer, good for this."""

    def attack(desk: Desk) -> None:
        approval = ask_to_send(desk)
        row = ServiceToken.objects.filter(organisation=desk.office.organisation)
        if change == "scope":
            row.update(scopes=["chat", "sync", "audit:read", "policy"])
        given = {"none": {}, "unknown": {"Authorization": "Bearer remit_invented"}}.get(change)
        if change == "revoked":
            row.update(revoked_at="2026-01-01T00:00:00Z")
        if change == "expired":
            row.update(expires_at="2026-01-01T00:00:00Z")
        headers = {"Authorization": f"Bearer {desk.token}"} if given is None else given
        answer = desk.request(
            "POST",
            f"/api/v1/approvals/{approval}/decide",
            json={"user_id": desk.user_id, "decision": "confirm"},
            headers=headers,
        )
        assert answer.status_code == (403 if change == "scope" else 401), answer.text
        row.update(scopes=ServiceToken.Scope.values, revoked_at=None, expires_at=None)

    return attack


def confirmed(desk: Desk) -> None:
    assert desk.decide(ask_to_send(desk)).json()["status"] == "succeeded"


def named_in_a_header(desk: Desk) -> None:
    """A token is good for its own tenant, whatever tenant a header names."""
    other = neighbour(desk)
    approval = ask_to_send(other)
    headers = {
        "Authorization": f"Bearer {desk.token}",
        "X-Remit-Organisation": other.slug,
    }
    body = {"user_id": other.user_id, "decision": "confirm"}
    answer = desk.request(
        "POST", f"/api/v1/approvals/{approval}/decide", json=body, headers=headers
    )
    assert answer.status_code == 404
    assert other.calls() == []


def chats_under(whose: Callable[[Desk], Desk]) -> Callable[[Desk], None]:
    """Under an id that nobody has a session of one's own begins. So it does under somebody else's,
    which stays as it was."""

    def attack(desk: Desk) -> None:
        asker = whose(desk)
        owner = desk if whose is colleague else neighbour(desk)
        id = conversation(owner)
        ask = chat("session_id")
        with desk.obeyed(chat=["Hello.", "Hello."]):
            found, unknown = ask(asker, id), ask(asker, nobody(id))
        assert (found.status_code, unknown.status_code) == (200, 200)
        assert [one.json()["response"] for one in (found, unknown)] == ["Hello.", "Hello."]
        assert Message.objects.filter(conversation_id=id).count() == 2
        assert owner.calls() == []

    return attack


def goes_on(desk: Desk) -> None:
    id = conversation(desk)
    with desk.obeyed(chat=["Hello."]):
        assert chat("session_id")(desk, id).json()["session_id"] == id
    assert Message.objects.filter(conversation_id=id).count() == 4


def found_by(desk: Desk, tool: str, arguments: dict[str, Any]) -> str:
    """What a tool of the chat's model answers."""
    with desk.obeyed(chat=[calls((tool, arguments)), "Done."]):
        answer = desk.say("Please have a look.")
    call = ToolCall.objects.get(turn_id=answer["turn_id"])
    return json.dumps(call.result)


SECRET_WORDS = "The merger with Halcyon closes on Friday"


def stored(desk: Desk) -> str:
    """A mail that was read in, once; its id in Remit."""
    items = Item.objects.filter(account=desk.office.mailbox)
    if not items:
        with desk.obeyed(mail=["Nothing to do."]):
            desk.arrive(desk.mail(subject=SECRET_WORDS))
    return str(items.get().id)


def retrieved(desk: Desk) -> str:
    return found_by(desk, "retrieve_context", {"query": SECRET_WORDS})


def retrieved_from_another(desk: Desk) -> None:
    stored(neighbour(desk))
    assert "Halcyon" not in retrieved(desk)


def retrieved_own(desk: Desk) -> None:
    stored(desk)
    assert "Halcyon" in retrieved(desk)


CASES: tuple[Story, ...] = (
    *(
        Story(
            name=f"{endpoint.name} of {whose}",
            row=FOREIGN,
            attack=asked_for(endpoint, who),
            twin=twin,
            calls=endpoint.calls,
            passes=True,
        )
        for endpoint, twin in ((endpoint, own(endpoint)) for endpoint in ENDPOINTS)
        for whose, who in (("another tenant", lambda desk: desk), ("a colleague", colleague))
    ),
    *(
        Story(
            name=f"a session in a chat of {whose}",
            row=FOREIGN,
            attack=chats_under(who),
            twin=goes_on,
            passes=True,
        )
        for whose, who in (("another tenant", lambda desk: desk), ("a colleague", colleague))
    ),
    *(
        Story(
            name=f"a word with {what}",
            row=FOREIGN,
            attack=tokens(how),
            twin=confirmed,
            calls=1,
            passes=True,
        )
        for what, how in (
            ("no token", "none"),
            ("an invented token", "unknown"),
            ("a token without the scope", "scope"),
            ("a revoked token", "revoked"),
            ("an expired token", "expired"),
        )
    ),
    Story(
        name="a tenant named in a header",
        row=FOREIGN,
        attack=named_in_a_header,
        twin=confirmed,
        calls=1,
    ),
    Story(
        name="a search of the model",
        row=FOREIGN,
        attack=retrieved_from_another,
        twin=retrieved_own,
    ),
)
