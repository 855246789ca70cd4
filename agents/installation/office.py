"""The office that trials act in: an organisation of its own for each, with one user, whose mail,
issues and documents are at a data service of the trial's own."""

import base64
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Barrier
from typing import Any, TypeVar
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.db import connections
from django.test import override_settings

from agents.evaluation import programs
from agents.evaluation.database import own_databases
from agents.installation.guarantees import Broken
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction, Leaf
from audit.seals import sealer
from audit.seals.notes import Signer
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, Approval
from integrations.models import Account, Organisation
from integrations.network import http

T = TypeVar("T")
R = TypeVar("R")
CACHE = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SOURCES = {"mail": "gmail", "issues": "jira", "files": "gdrive"}
KINDS = {"create_jira_task": "issues", "append_document": "files"}
PASSED = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
# A condition: the agent's own words may go out without a question.
AGENT_TEXT = {"kind": "text", "written_by": "anyone"}
PAUSE_SECONDS = 0.02
SENDER = "ada@client.example"
# A transaction of anybody on the server holds sealing up; after a minute the sealer goes on anyway.
PATIENCE_SECONDS = sealer.PATIENCE_SECONDS + 30


@dataclass(frozen=True, kw_only=True)
class Site:
    """What all trials share: a data service and a signing key of their own."""

    url: str
    key: str
    control: http.Upstream
    signer: Signer


@dataclass(frozen=True, kw_only=True)
class Office:
    """One user's office. `secret` signs webhooks to it."""

    site: Site
    organisation: Organisation
    user_id: str
    accounts: Mapping[str, Account]
    secret: str

    # --- at the provider ----------------------------------------------------------------

    def receive(self, **fields: Any) -> str:
        """Put a mail into the mailbox; its id."""
        mail = {
            "id": f"mail-{uuid4().hex[:12]}",
            "from": SENDER,
            "to": [self.accounts["mail"].address],
            "subject": "Lunch on Friday?",
            "body_text": "Shall we?",
            "date": datetime.now(UTC).isoformat(),
            "authentication": PASSED,
        } | fields
        self._put("emails", mail)
        return str(mail["id"])

    def write_document(self) -> str:
        """Put a document of the user's own into the drive; its id."""
        at = datetime.now(UTC).isoformat()
        document = {"id": f"doc-{uuid4().hex[:12]}", "name": "Plan", "content_text": "First."}
        own = {"owner": self.accounts["files"].address, "created_at": at, "modified_at": at}
        self._put("documents", document | own)
        return document["id"]

    def change(self, path: str, **fields: Any) -> None:
        """Change an object as somebody else would."""
        self._ask("PATCH", f"/users/{self.user_id}/{path}", fields)

    def strike(self, **faults: Any) -> None:
        """Let the provider have a bad day; without faults a good one again."""
        self._ask("PUT", "/faults", faults)

    def writes(self) -> list[Mapping[str, Any]]:
        """What reached the provider for this user and was done, oldest first."""
        calls = self._ask("GET", f"/calls?user={self.user_id}")["items"]
        return [call for call in calls if call["performed"]]

    def _put(self, collection: str, item: Mapping[str, Any]) -> None:
        body = {"items": [item], "notify": False}
        self._ask("POST", f"/users/{self.user_id}/{collection}", body)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        return http.request(self.site.control, method, path, body=body)

    # --- at Remit -----------------------------------------------------------------------

    def permit(self, action_type: str, mode: str = "auto", **fields: Any) -> AllowedAction:
        return AllowedAction.objects.create(
            account=self._account(action_type),
            action_type=action_type,
            approval_mode=mode,
            **fields,
        )

    def list_target(self, action_type: str, kind: str, external_id: str) -> AllowedActionOption:
        account = self._account(action_type)
        return AllowedActionOption.objects.create(
            account=account,
            action_type=action_type,
            source=account.source,
            kind=kind,
            external_id=external_id,
            name=external_id,
        )

    def withdraw(self, action_type: str) -> None:
        """What was permitted is permitted no more."""
        rows = AllowedAction.objects.filter(account=self._account(action_type))
        rows.filter(action_type=action_type).delete()

    def request(self, action_type: str, **arguments: Any) -> ActionRequest:
        """What the agent asks for in a chat turn in which the user said nothing of it."""
        return ActionRequest(
            action_id=uuid7(),
            account=self._account(action_type).ref(),
            action_type=action_type,
            arguments=arguments,
            origin=Origin(trigger="chat", turn_id=f"turn-{uuid4().hex[:8]}", agent="trial"),
        )

    def do(self, action_type: str, **arguments: Any) -> ActionResult:
        return execute(self.request(action_type, **arguments))

    def ask(self, action_type: str, **arguments: Any) -> Approval:
        """What waits for a person after this. Raises Broken when nothing does."""
        result = self.do(action_type, **arguments)
        if result.status != "pending":
            raise Broken(f"Nothing waits for a person: {result.status}, {result.reason}.")
        return Approval.objects.get(action_id=result.action_id)

    def seal(self) -> None:
        """Until every row of this office has its place in the tree."""
        rows = ExecutedAgentAction.objects.filter(tenant_id=self.organisation.id)
        until(lambda: self._is_sealed(rows), meanwhile=self._seal_once)

    def _seal_once(self) -> None:
        sealer.seal(signer=self.site.signer, out_of_order=sealer.is_stalled())

    def _is_sealed(self, rows: Any) -> bool:
        return not rows.exclude(id__in=Leaf.objects.values("row_id")).exists()

    def _account(self, action_type: str) -> Account:
        return self.accounts[KINDS.get(action_type, "mail")]


def alone(do: Callable[[T], R]) -> Callable[[T], R]:
    """The same for a thread of its own: it leaves no connection behind."""

    def done(given: T) -> R:
        try:
            return do(given)
        finally:
            connections.close_all()

    return done


def at_once(do: Callable[[T], R], given: T, *, times: int) -> list[R]:
    """What so many threads get that do the same in one moment: none begins before all are there."""
    there = Barrier(times, timeout=PATIENCE_SECONDS)

    def wait_and_do(_: int) -> R:
        there.wait()
        return do(given)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(alone(wait_and_do), range(times)))


def until(condition: Callable[[], bool], *, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Raises Broken when it does not come true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise Broken(f"Nothing happened for {PATIENCE_SECONDS:.0f} s.")
        meanwhile()
        time.sleep(PAUSE_SECONDS)


@contextmanager
def built_site() -> Iterator[Site]:
    """All that trials share until the end of the block, and Remit set up for it. Django's
    connections lead to the trials' database meanwhile. Raises DidNotStart and NoDatabase."""
    key = os.urandom(16).hex()
    with ExitStack() as stack:
        service = stack.enter_context(
            programs.running(
                "sandbox.data_service",
                port_name="SANDBOX_PORT",
                environment={"DATA_SERVICE_KEY": key},
            )
        )
        stack.callback(http.close_clients)
        stack.enter_context(override_settings(**trial_settings()))
        stack.enter_context(own_databases()).migrated()
        cache.clear()
        yield Site(
            url=f"{service}/v1/data",
            key=key,
            control=http.client(f"{service}/sandbox", key),
            signer=Signer(os.urandom(32)),
        )


def found(site: Site) -> Office:
    """A new organisation with one user, whose agent may do nothing yet."""
    slug = user_id = f"trial-{uuid4().hex[:8]}"
    address = f"{user_id}@company.example"
    organisation = Organisation.objects.create(slug=slug, name="Trial")
    secret = f"whsec_{base64.b64encode(os.urandom(24)).decode()}"
    settings.DATA_SERVICES[slug] = site.url
    settings.DATA_SERVICE_KEYS[slug] = site.key
    settings.WEBHOOK_SECRETS[slug] = secret
    http.request(site.control, "POST", f"/users/{user_id}", body={"address": address})
    accounts = {
        kind: Account.objects.create(
            organisation=organisation,
            external_user_id=user_id,
            source=source,
            kind=kind,
            address=address,
            display_name="Trial",
        )
        for kind, source in SOURCES.items()
    }
    return Office(
        site=site, organisation=organisation, user_id=user_id, accounts=accounts, secret=secret
    )


def trial_settings() -> dict[str, Any]:
    """What is set while trials last."""
    return {
        "CACHES": CACHE,
        "DATA_SERVICES": {},
        "DATA_SERVICE_KEYS": {},
        "DATA_SERVICE_ATTEMPTS": 1,
        "WEBHOOK_SECRETS": {},
        "ALLOWED_HOSTS": ["testserver"],
        "SECURE_SSL_REDIRECT": False,
    }
