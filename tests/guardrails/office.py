"""A mailbox and an issue tracker at the real sandbox, with policy rows, for one test."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock
from uuid import UUID, uuid4

import httpx
import pytest
from django.db import connections

from audit.contracts import Recorded
from audit.ledger import policies
from audit.ledger.ids import uuid7
from audit.ledger.selectors import open_attempts, recorded
from guardrails.actions import registry
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.decide import evidence
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.execute import recovery
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.contracts import AccountRef
from integrations.models import Account, Organisation
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.values import AGENT_TEXT, writes
from tests.sandbox_server import RunningSandbox

CHAT = Origin(trigger="chat", turn_id="turn-1", call_id="call-1", agent="orchestrator")
PASSED = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
# Plain HTTP: reading the list of authorities takes its time.
CLIENT = httpx.Client(verify=False)
CREATED = "2026-01-05T09:00:00+00:00"
USUAL: dict[str, dict[str, Any]] = {
    "documents": {"id": "doc-1", "name": "Plan", "created_at": CREATED, "modified_at": CREATED},
    "drafts": {"id": "draft-1", "thread_id": "t", "message_id": "<d@x>", "created_at": CREATED},
    "events": {
        "id": "event-1",
        "title": "Lunch",
        "start": "2026-03-02T10:00:00+00:00",
        "end": "2026-03-02T11:00:00+00:00",
    },
    "issues": {"key": "PROJ-900", "project_key": "PROJ", "summary": "CI", "created_at": CREATED},
}
OWNERS = {"documents": "owner", "events": "created_by", "issues": "reporter"}


@dataclass(kw_only=True)
class Office:
    """One user, with accounts in Remit and rooms in the sandbox."""

    sandbox: RunningSandbox
    organisation: Organisation
    user_id: str
    mailbox: Account
    tracker: Account
    diary: Account
    drive: Account
    servers: Account
    in_trouble: bool = False  # whether faults were switched on
    projects: dict[str, list[str]] = field(default_factory=dict)  # members of each

    # --- the provider's side -----------------------------------------------------------

    def control(self, method: str, path: str, body: object = None) -> Any:
        answer = CLIENT.request(
            method, f"{self.sandbox.control}{path}", json=body, headers=self.sandbox.headers
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def receive(self, **fields: Any) -> str:
        """Puts one mail into the mailbox; returns its id."""
        mail = mail_to(self.mailbox.address, **fields)
        self.control("POST", f"/users/{self.user_id}/emails", {"items": [mail], "notify": False})
        return str(mail["id"])

    def put(self, collection: str, *objects: dict[str, Any], **fields: Any) -> None:
        """Puts these objects, or one with these fields, into the user's rooms. What is not given is
        as usual, and their own."""
        items = usual(collection, self.mailbox.address, *objects or (fields,))
        body = {"items": items, "notify": False}
        self.control("POST", f"/users/{self.user_id}/{collection}", body)

    def change(self, collection: str, object_id: str, **fields: Any) -> None:
        """Changes an object as if somebody did it elsewhere."""
        self.control("PATCH", f"/users/{self.user_id}/{collection}/{object_id}", fields)

    def work(self, project: str, *members: str) -> None:
        """Says who are the members of a project, beside the user."""
        known = self.projects = {**self.projects, project: list(members)}
        self.control("PUT", f"/users/{self.user_id}/audiences", {"projects": known})

    def share(self, *, mailbox: Sequence[str] = (), **folders: Sequence[str]) -> None:
        """Lets others read the mailbox and drive folders (by id)."""
        body = {"mailbox": list(mailbox), "folders": {k: list(v) for k, v in folders.items()}}
        self.control("PUT", f"/users/{self.user_id}/audiences", body)

    def list_people(self, *rows: Mapping[str, Any]) -> None:
        """Says whom the provider's directory of the organisation names."""
        self.control("PUT", f"/users/{self.user_id}/audiences", {"directory": [*rows]})

    def email(self, email_id: str) -> dict[str, Any]:
        return self.look(f"emails/{email_id}")

    def look(self, path: str) -> dict[str, Any]:
        """One of the user's objects as the provider has it now."""
        url = f"{self.sandbox.url}/users/{self.user_id}/{path}"
        return dict(CLIENT.get(url, headers=self.sandbox.headers).json())

    def calls(self) -> list[dict[str, Any]]:
        """Every write that reached the provider for this user, oldest first."""
        return list(self.control("GET", f"/calls?user={self.user_id}")["items"])

    def faults(self, **faults: Any) -> None:
        self.in_trouble = bool(faults)
        self.control("PUT", "/faults", faults)

    # --- Remit's side ------------------------------------------------------------------

    def permit(
        self,
        action_type: str,
        mode: str = "auto",
        *,
        conditions: Sequence[dict[str, Any]] = (),
        agent_text: bool = True,
        **fields: Any,
    ) -> AllowedAction:
        """One allowed action. Where it is automatic, text of the agent's own may go out too, so
        that a test about something else isn't asked about it."""
        lifted = [AGENT_TEXT] if agent_text and mode == "auto" and writes(action_type) else []
        return AllowedAction.objects.create(
            account=self._account_for(action_type),
            action_type=action_type,
            approval_mode=mode,
            conditions=[*conditions, *lifted],
            **fields,
        )

    def forbid(self) -> None:
        """Nothing is permitted any more."""
        AllowedAction.objects.filter(account__organisation=self.organisation).delete()
        AllowedActionOption.objects.filter(account__organisation=self.organisation).delete()

    def list_target(
        self, action_type: str, kind: str, external_id: str, name: str = "", **fields: Any
    ) -> AllowedActionOption:
        account = self._account_for(action_type)
        return AllowedActionOption.objects.create(
            account=account,
            action_type=action_type,
            source=account.source,
            kind=kind,
            external_id=external_id,
            name=name or external_id,
            **fields,
        )

    def request(self, action_type: str, arguments: Any, **changes: Any) -> ActionRequest:
        values: dict[str, Any] = {
            "action_id": uuid7(),
            "account": self.ref(self._account_for(action_type)),
            "action_type": action_type,
            "arguments": arguments,
            "origin": CHAT,
        }
        return ActionRequest(**(values | changes))

    def ref(self, account: Account) -> AccountRef:
        return Account.objects.select_related("organisation").get(pk=account.pk).ref()

    def _account_for(self, action_type: str) -> Account:
        action = registry.BY_NAME.get(action_type)
        accounts = (self.mailbox, self.tracker, self.diary, self.drive, self.servers)
        kind = action.kind if action else "mail"
        return next(account for account in accounts if account.kind == kind)


def mail_to(address: str, **fields: Any) -> dict[str, Any]:
    """A mail to this address as the sandbox takes it."""
    return {
        "id": f"mail-{uuid4().hex[:12]}",
        "from": "ada@client.com",
        "to": [address],
        "subject": "Lunch on Friday?",
        "body_text": "Shall we?",
        "date": datetime.now(UTC).isoformat(),
        "authentication": PASSED,
    } | fields


def usual(collection: str, address: str, *objects: dict[str, Any]) -> list[dict[str, Any]]:
    """These objects as the sandbox takes them, of this user. What is not given is as usual."""
    own = {OWNERS[collection]: address} if collection in OWNERS else {}
    return [USUAL[collection] | own | given for given in objects]


def settle(
    sandbox: RunningSandbox,
    settings: Any,
    *,
    furnished: Callable[[str], dict[str, Any]] = lambda address: {},
) -> Office:
    """A new organisation with one user, known on both sides; no policy. `furnished` says what is in
    the rooms of the user with an address."""
    slug, user_id = f"org-{uuid4().hex[:8]}", f"user-{uuid4().hex[:8]}"
    settings.DATA_SERVICES = {slug: sandbox.url}
    settings.DATA_SERVICE_KEYS = {slug: sandbox.key}
    settings.DATA_SERVICE_ATTEMPTS = 1
    organisation = Organisation.objects.create(slug=slug, name="Company")
    accounts = [
        Account(
            organisation=organisation,
            external_user_id=user_id,
            source=source,
            address=f"{user_id}@company.com",
            display_name="Maya Lindqvist",
        )
        for source in ("gmail", "jira", "calendar", "gdrive", "mcp")
    ]
    for account in accounts:
        account.clean()  # names its kind
    mailbox, tracker, diary, drive, servers = Account.objects.bulk_create(accounts)
    office = Office(
        sandbox=sandbox,
        organisation=organisation,
        user_id=user_id,
        mailbox=mailbox,
        tracker=tracker,
        diary=diary,
        drive=drive,
        servers=servers,
    )
    office.control(
        "POST",
        f"/users/{user_id}",
        {"address": mailbox.address} | furnished(mailbox.address),
    )
    return office


def recover(request: ActionRequest, *, later: timedelta = timedelta(seconds=1)) -> None:
    """Recovery as it runs so long after the attempt, for this action and younger ones: the ledger
    keeps attempts of other tests, whose providers are gone."""
    before = UUID(int=request.action_id.int - 1)

    def younger(*, after: UUID | None, **asked: Any) -> tuple[Recorded, ...]:
        return open_attempts(after=after or before, **asked)

    [attempt, *_] = recorded(request.action_id)
    with mock.patch.object(recovery, "open_attempts", younger):
        recovery.recover_open_attempts(older_than_seconds=0, now=attempt.recorded_at + later)


def webhook(email_id: str, thread_id: str, **changes: Any) -> Origin:
    """An inbound turn about one mail."""
    values: dict[str, Any] = {
        "trigger": "webhook",
        "turn_id": f"turn-{email_id}",
        "agent": "mail reader",
        "item_source_id": email_id,
        "thread_id": thread_id,
    }
    return Origin(**(values | changes))


def minutes_ago(minutes: int) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


def policy_that_decided(row: Recorded) -> PolicySnapshot:
    """The policy that the ledger keeps for this decision."""
    body = policies.body(tenant_id=row.tenant_id, digest=row.policy_digest)
    assert body is not None
    return evidence.policy_of(json.loads(body))


def phases(result: ActionResult) -> list[tuple[str, str, str]]:
    return [(row.phase, row.status, row.decision_reason) for row in recorded(result.action_id)]


def in_threads(number: int, work: Any) -> list[Any]:
    def run() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        return [future.result() for future in [pool.submit(run) for _ in range(number)]]


def interrupted(office: Office, *, after_effect: bool = True) -> ActionRequest:
    """An archive whose process died in the provider call, after its effect or before."""
    archive = DataServiceWriter.archive

    def killed(self: DataServiceWriter, email_id: str, *, key: str) -> None:
        if after_effect:
            archive(self, email_id, key=key)
        raise KeyboardInterrupt

    office.permit("archive")
    request = office.request("archive", {"email_id": office.receive()})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DataServiceWriter, "archive", killed)
        with pytest.raises(KeyboardInterrupt):
            execute(request)
    return request
