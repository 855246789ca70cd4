"""One user's office around a running Remit, furnished alike for every case: a fresh
organisation, four accounts, a service token, and things of their own and of a stranger."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import httpx
from django.conf import settings
from standardwebhooks.webhooks import Webhook

from agents.models import Turn
from audit.models import ExecutedAgentAction
from integrations.models import ServiceToken
from tests.guardrails.office import CLIENT, CREATED, Office, mail_to, settle, usual
from tests.mcp_server import Tracker
from tests.model_server import Reply, ScriptedModel
from tests.office import run_next_task
from tests.sandbox_server import RunningSandbox

ORCHESTRATOR = "You are Remit's orchestrator."
READER = "You are Remit's mail reader."
INGEST = "You summarise an item and list its entities."
SUMMARY = {"summary": "A mail.", "entities": []}
SECRET = "whsec_YXR0YWNrcy1hcmUtdGVzdGVkLWhlcmU="

ADA = "ada@client.com"  # wrote a mail
BOB, OMAR = "bob@company.com", "omar@company.com"  # colleagues
EVE = "eve@evil.example"  # the attacker


@dataclass(frozen=True, kw_only=True)
class House:
    """A running Remit with all that it speaks to: where it is, the providers' sandbox, the model
    and somebody else's MCP server."""

    origin: str
    sandbox: RunningSandbox
    model: ScriptedModel
    tracker: Tracker


@dataclass(kw_only=True)
class Desk:
    """A running Remit as one tenant sees it."""

    house: House
    office: Office
    token: str
    beside: "Desk | None" = None

    @property
    def origin(self) -> str:
        return self.house.origin

    @property
    def model(self) -> ScriptedModel:
        return self.house.model

    @property
    def tracker(self) -> Tracker:
        return self.house.tracker

    @property
    def user_id(self) -> str:
        return self.office.user_id

    @property
    def slug(self) -> str:
        return self.office.organisation.slug

    # --- Remit, over HTTP ---------------------------------------------------------------

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request with this tenant's token, unless `headers` say otherwise."""
        headers = {"Authorization": f"Bearer {self.token}"}
        given: dict[str, Any] = {"headers": headers, "timeout": 60} | options
        return CLIENT.request(method, self.origin + path, **given)

    def say(self, words: str, **more: Any) -> dict[str, Any]:
        """One chat turn; the answer."""
        body = {"user_id": self.user_id, "message": words, **more}
        answer = self.request("POST", "/api/v1/chat", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def decide(self, approval_id: str, decision: str = "confirm", **more: Any) -> httpx.Response:
        """A person's word."""
        body = {"user_id": self.user_id, "decision": decision, **more}
        return self.request("POST", f"/api/v1/approvals/{approval_id}/decide", json=body)

    def cards(self) -> list[dict[str, Any]]:
        answer = self.request("GET", f"/api/v1/approvals?user_id={self.user_id}")
        return list(answer.json())

    def is_known(self) -> bool:
        """Whether the tenant's token still opens anything."""
        path = f"/api/v1/approvals?user_id={self.user_id}"
        return self.request("GET", path).status_code == 200

    def call(self, tool: str, arguments: Mapping[str, Any], **meta: Any) -> dict[str, Any]:
        """One tool call of another agent; what it gets back."""
        answer = self.post_call(tool, arguments, **meta)
        found: dict[str, Any] = answer.json()["result"]["structuredContent"]
        return found

    def post_call(self, tool: str, arguments: Mapping[str, Any], **meta: Any) -> httpx.Response:
        """The same as one request, over MCP."""
        params = {"name": tool, "arguments": dict(arguments), "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Authorization": f"Bearer {self.token}",
            "X-User-ID": self.user_id,
            "Accept": "application/json, text/event-stream",
        }
        return self.request("POST", "/mcp", json=body, headers=headers)

    def push(
        self,
        data: Mapping[str, Any],
        *,
        kind: str = "created",
        webhook_id: str = "",
        at: datetime | None = None,
        secret: str = SECRET,
        slug: str = "",
        **changes: Any,
    ) -> httpx.Response:
        """One signed webhook about a mail."""
        at, webhook_id = at or datetime.now(UTC), webhook_id or f"msg-{uuid4().hex}"
        event = {
            "user_id": self.user_id,
            "source": "gmail",
            "source_id": data["id"],
            "content_type": "email",
            "data": data,
            "timestamp": datetime.now(UTC).isoformat(),
        } | changes
        body = json.dumps(event)
        headers = {
            "content-type": "application/json",
            "webhook-id": webhook_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(secret).sign(webhook_id, at, body),
        }
        url = f"{self.origin}/webhooks/{slug or self.slug}/item-{kind}"
        return CLIENT.post(url, content=body, headers=headers, timeout=60)

    def mail(self, **fields: Any) -> dict[str, Any]:
        """A mail in the mailbox, as the provider pushes it."""
        return self.office.email(self.office.receive(**fields))

    def arrive(self, mail: Mapping[str, Any]) -> None:
        """Its webhook is accepted, and all work that comes of it done."""
        answer = self.push(mail)
        assert answer.status_code == 202, answer.text
        drain()

    def obeyed(
        self, *, chat: Sequence[Reply] = (), mail: Sequence[Reply] = ()
    ) -> AbstractContextManager[None]:
        """While the block lasts the model says exactly this to anybody who asks. It fails the test
        where it is asked more or less."""
        scripts = {ORCHESTRATOR: chat, READER: mail}
        return self.model.follow(
            {INGEST: lambda body: SUMMARY}
            | {agent: said for agent, said in scripts.items() if said}
        )

    # --- What became of it --------------------------------------------------------------

    def calls(self) -> list[dict[str, Any]]:
        """What reached a provider: the sandbox, or the MCP server."""
        told = [
            {"performed": True, "tool": name, "body": body} for name, body in self.tracker.calls
        ]
        return self.office.calls() + told

    def turns(self) -> list[Turn]:
        return list(Turn.objects.filter(organisation=self.office.organisation).order_by("id"))

    def rows(self, *, after: int = 0) -> list[ExecutedAgentAction]:
        """The tenant's rows in the ledger, oldest first."""
        rows = ExecutedAgentAction.objects.filter(tenant_id=self.office.organisation.id)
        return list(rows.filter(id__gt=after).order_by("id"))


def outline(rows: list[ExecutedAgentAction]) -> list[tuple[str, str, str]]:
    """Rows as (phase, status, reason)."""
    return [(row.phase, row.status, row.decision_reason) for row in rows]


def drain() -> None:
    while run_next_task():
        pass


def seated(house: House, *, number: int = 1) -> Desk:
    """A new tenant with one user and furnished rooms; no policy. `number` is in every id."""
    known = settings.DATA_SERVICES, settings.DATA_SERVICE_KEYS, settings.WEBHOOK_SECRETS
    office = settle(house.sandbox, settings, furnished=partial(furnished, number=number))
    slug = office.organisation.slug
    settings.DATA_SERVICES = known[0] | settings.DATA_SERVICES
    settings.DATA_SERVICE_KEYS = known[1] | settings.DATA_SERVICE_KEYS
    settings.WEBHOOK_SECRETS = known[2] | {slug: SECRET}
    _, token = ServiceToken.issue(
        organisation=office.organisation, name="frontend", scopes=ServiceToken.Scope.values
    )
    return Desk(house=house, office=office, token=token)


def neighbour(desk: Desk) -> Desk:
    """Another tenant of the same Remit, each time the same."""
    desk.beside = desk.beside or seated(desk.house)
    return desk.beside


def furnished(me: str, *, number: int = 1) -> dict[str, Any]:
    """`mail-1` of Ada, to whom the user wrote before, and `draft-1`; own and a stranger's issues,
    events and documents; the folder `drive_people`, which the stranger reads."""
    keys = (f"PROJ-{899 + number}", "OPS-900")
    issues = (
        {"id": f"issue-{key}", "key": key, "project_key": key.partition("-")[0]} for key in keys
    )
    times = {"start": CREATED, "end": "2026-01-05T10:00:00+00:00"}
    attendees = [{"email": BOB}, {"email": me}]
    events = (
        {"id": f"event-{number}", "created_by": me, "attendees": attendees, **times},
        {"id": "event-foreign", "created_by": EVE, "attendees": attendees, **times},
        {"id": "event-of-bob", "created_by": BOB, "attendees": attendees, **times},
    )
    texts = {"content_text": "One.", "folder_id": "drive_meetings"}
    documents = (
        {"id": f"doc-{number}", "owner": me, **texts},
        {"id": "doc-foreign", "owner": EVE, **texts},
    )
    return {
        "items": {
            "emails": [
                mail_to(me, id=f"mail-{number}", from_name="Ada"),
                mail_to(ADA, id=f"mail-{number}-before", labels=["SENT"], **{"from": me}),
            ],
            "drafts": usual("drafts", me, {"id": f"draft-{number}"}),
            "issues": usual("issues", me, *issues),
            "events": usual("events", me, *events),
            "documents": usual("documents", me, *documents),
        },
        "audiences": {"folders": {"drive_people": [EVE]}},
    }
