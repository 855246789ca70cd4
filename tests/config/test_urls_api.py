"""Callers of one organisation and another's things, at every operation of the API: the answer is
the same as about what there is not. Made from the URL conf, so that a new operation is tried by
itself."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import resolve, reverse

from agents.models import Conversation, PastRun, Suggestion, Turn
from guardrails.models import Approval, HeldSend, LearnedPattern, Skill
from integrations.models import Account, ServiceToken
from knowledge.models import SyncRun
from tests.audit import sealed
from tests.audit.bundle import files
from tests.config.test_urls import PARAMETER, Neighbours, patterns
from tests.rows import Rows

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

NAMED = {
    "turn_id": Turn,
    "conversation_id": Conversation,
    "account_id": Account,
    "approval_id": Approval,
    "question_id": Approval,
    "held_send_id": HeldSend,
    "sync_id": SyncRun,
    "past_run_id": PastRun,
    "pattern_id": LearnedPattern,
    "skill_id": Skill,
    "suggestion_id": Suggestion,
}
WORD = {"decision": "confirm", "digest": "0" * 64}
# What is sent beside the user, by the name of the address.
BODIES: dict[str, dict[str, Any]] = {
    "chat": {"message": "Hi"},
    "chat-stream": {"message": "Hi"},
    "tasks": {"task": "Nothing"},
    "accounts": {"offer": "x"},
    "account-try": {
        "source": "caldav",
        "url": "https://127.0.0.1:1/",
        "address": "a@b.example",
        "password": "x",
    },
    "consents": {
        "source": "google_mail",
        "address": "a@b.example",
        "redirect_url": "https://app.example/back",
    },
    "consent-finish": {"ticket": "x", "answer": {}},
    "question-decide": WORD,
    "approval-decide": WORD,
    "approval-edit": {"arguments": {"body": "x"}},
    "approval-delegate": {"to": "group:x"},
    "approvals-decide": {"items": [WORD | {"id": str(uuid4())}]},
    "change-requests": {"action_id": str(uuid4())},
    "pattern-decide": {"decision": "suspend"},
    "skill-decide": {"decision": "reject"},
    "policy-replay": {"source": "gmail"},
    "policy-simulate": {"action_type": "archive", "arguments": {}},
    "search": {"query": "anything"},
}
# Ids that stand in a body or a query.
Given = Callable[..., dict[str, Any]]
ALSO_NAMED: dict[tuple[str, str], Given] = {
    ("chat", "conversation_id"): lambda key: {"message": "Hi", "session_id": key},
    ("chat-stream", "conversation_id"): lambda key: {"message": "Hi", "session_id": key},
    ("chat", "approval_id"): lambda key: {"message": "Yes", "confirm_actions": [key]},
    ("approvals-decide", "approval_id"): lambda key: {"items": [WORD | {"id": key}]},
    ("change-requests", "action_id"): lambda key: {"action_id": key},
}
FILTERED = ("ledger", "ledger-export")
OF_NOBODY = {"status", "ledger-feed", "ledger-bundle"}  # they name none
# What each answer has of its own: exports, a count of the last day, and the turn that it began.
OWN = re.compile(r'"(export_id|generated_at|since|snapshot|turn_id|message_id|stream_url)":"[^"]*"')


def operations() -> Iterator[tuple[str, str, str, str]]:
    """Method, address, name, and the parameter in the address."""
    for route, name in patterns():
        if route.startswith("/api/v1/"):
            found: Any = resolve(PARAMETER.sub(str(uuid4()), route))
            view = found.func.cls
            parameter = next((one or other for one, other in PARAMETER.findall(route)), "")
            for method in ("get", "post", "patch", "delete"):
                if hasattr(view, method):
                    yield method, route, name, parameter


class Callers:
    """A token with every scope, and a session with every right, of the first organisation."""

    def __init__(self, neighbours: Neighbours) -> None:
        self.rows = neighbours
        scopes = ServiceToken.Scope.values
        issued = ServiceToken.issue(
            organisation=neighbours.own.organisation, name="all", scopes=scopes
        )
        bearer = {"Authorization": f"Bearer {issued[1]}"}
        self.ways: list[tuple[Client, dict[str, str]]] = [
            (Client(), bearer),
            (neighbours.client, {}),
        ]

    def key(self, rows: Rows, parameter: str) -> str:
        if parameter == "action_id":
            return str(self.rows.actions[rows])
        return str(rows.of(NAMED[parameter]).pk)

    def ask(self, way: int, method: str, address: str, given: dict[str, Any]) -> tuple[int, str]:
        client, headers = self.ways[way]
        if method in ("get", "delete"):
            answer = getattr(client, method)(address, given, headers=headers)
        elif method == "patch":
            address += f"?user_id={given['user_id']}"
            answer = client.patch(address, "{}", content_type="application/json", headers=headers)
        else:
            kind = "application/json"
            answer = client.post(address, json.dumps(given), content_type=kind, headers=headers)
        return answer.status_code, answer.getvalue().decode(errors="replace")


@pytest.fixture
def callers() -> Callers:
    return Callers(Neighbours())


def user_of(rows: Rows) -> str:
    return str(rows.of(Account).external_user_id)


def differences(
    callers: Callers, method: str, address: str, pairs: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[Any, ...]]:
    """Where the answers about another's (first) and about what there is not (second) differ, or
    say neither that there is none nor nothing at all."""
    for way in range(len(callers.ways)):
        Conversation.objects.exclude(given_id=None).delete()  # what was begun before
        answers = []
        for key, given in pairs:
            status, text = callers.ask(way, method, address.replace("KEY", key), given)
            answers.append((status, OWN.sub("", text.replace(key, "THIS"))))
        if answers[0] != answers[1] or callers.rows.other.mark in answers[0][1]:
            yield way, method, address, *answers
        elif answers[0][0] not in (200, 202, 404, 422):  # refused before anything was looked up
            yield way, method, address, answers[0]


def test_a_row_of_another_organisation_is_as_unknown_as_none(callers: Callers) -> None:
    own = user_of(callers.rows.own)
    differ: list[Any] = []
    tried = set()
    for method, route, name, parameter in operations():
        named: list[tuple[str, str, Given]] = [
            (one, route, make)
            for (at, one), make in ALSO_NAMED.items()
            if (at, method) == (name, "post")
        ]
        if parameter:
            body = BODIES.get(name, {})
            named.append((parameter, PARAMETER.sub("KEY", route), lambda _key, body=body: body))
        for one, address, make in named:
            keys = (callers.key(callers.rows.other, one), str(uuid4()))
            pairs = [(key, {"user_id": own, **make(key)}) for key in keys]
            differ += differences(callers, method, address, pairs)
            tried.add((name, one))

    assert differ == []
    assert len(tried) > 18


def test_a_user_of_another_organisation_is_as_unknown_as_none(callers: Callers) -> None:
    differ: list[Any] = []
    named_nobody = set()
    for method, route, name, parameter in operations():
        if name in OF_NOBODY or (parameter and method in ("get", "delete")):
            continue
        address = PARAMETER.sub(str(uuid4()), route)
        users = (user_of(callers.rows.other), f"nobody-{uuid4().hex[:6]}")
        pairs = [(user, {"user_id": user, **BODIES.get(name, {})}) for user in users]
        if name in FILTERED:
            keys = (str(callers.rows.other.of(Account).id), str(uuid4()))
            filters = [(key, {"account_id": key}) for key in keys]
            differ += differences(callers, method, address, filters)
        differ += differences(callers, method, address, pairs)
        named_nobody.add(name)

    assert differ == []
    assert len(named_nobody) > 25


def test_what_names_nobody_says_nothing_of_another_organisation(callers: Callers) -> None:
    own, other = callers.rows.own, callers.rows.other
    for rows in (own, other):
        sealed.seal(rows.organisation.id)
    hidden = [other.mark, *map(str, (other.organisation.id, callers.rows.actions[other]))]
    for client, headers in callers.ways:
        status = client.get(reverse("status"), headers=headers)
        feed = client.get(reverse("ledger-feed"), headers=headers)
        whole = client.get(reverse("ledger-bundle"), headers=headers)
        of_account = [
            client.get(reverse("ledger-bundle"), {"account_id": key}, headers=headers)
            for key in (str(other.of(Account).id), str(uuid4()))
        ]
        held = [files.unpack(one.getvalue()) for one in (whole, *of_account)]
        said = [status.content, feed.content, *(text for one in held for text in one.values())]

        assert [one for one in hidden if any(one.encode() in text for text in said)] == []
        actions = {str(row["action_id"]) for row in files.lines(held[0], "ledger")}
        assert str(callers.rows.actions[own]) in actions
        assert {str(one["action_id"]) for one in feed.json()["items"]} == actions
        assert [files.lines(one, "ledger") for one in held[1:]] == [[], []]


def test_what_is_ones_own_is_answered(callers: Callers) -> None:
    """Else all of the above would hold for an API that answers nobody."""
    answered = {}
    for method, route, name, parameter in operations():
        if method == "get" and parameter:
            address = PARAMETER.sub(callers.key(callers.rows.own, parameter), route)
            answered[name] = [callers.ask(way, method, address, {})[0] for way in (0, 1)]

    both = [200, 200]
    named = ("turn-stream", "turn", "conversation", "sync", "past-run", "ledger-action")
    assert answered == dict.fromkeys(named, both)


def test_a_session_meets_its_organisations_alone_also_in_the_console(callers: Callers) -> None:
    client, other = callers.rows.client, callers.rows.other
    user = user_of(other)
    named = [
        client.get(f"/api/v1/conversations?user_id={user}", headers={"X-Remit-Organisation": slug})
        for slug in (other.organisation.slug, "nobodys")
    ]
    pages = [
        client.get(reverse("console"), {"organisation": slug})
        for slug in (other.organisation.slug, "nobodys")
    ]
    became = [
        client.get(
            reverse("console-delivered"),
            {"organisation": other.organisation.slug, "user_id": one, "source_id": "mail"},
        )
        for one in (user, "nobody")
    ]
    delivered = [
        client.post(
            reverse("console-deliver"),
            json.dumps({"organisation": slug, "user_id": user, "name": "cold"}),
            content_type="application/json",
        )
        for slug in (other.organisation.slug, "nobodys")
    ]

    for pair, status in ((named, 401), (pages, 404), (became, 200), (delivered, 404)):
        assert [one.status_code for one in pair] == [status, status]
        assert pair[0].content == pair[1].content
    assert other.mark not in client.get(reverse("console")).content.decode()
