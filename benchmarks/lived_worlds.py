"""Where a mailbox is lived through (benchmarks/mailbox.py): a provider from outside, in the hands
of others who write and of the person, and deliveries worked through here and now."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from benchmarks.person import Person

USER, SLUG = "replay", "default"


class World(Protocol):
    """A mailbox at a provider. What is done to it Remit has noticed and worked through when the
    call returns."""

    account_id: UUID

    def put(self, mail: dict[str, Any]) -> str:
        """A mail arrives, or is sent by the person where it lies in SENT; its id there."""

    def change(self, mail_id: str, labels: Sequence[str]) -> None:
        """The person gives a mail these labels and no others."""

    def labels(self, mail_id: str) -> list[str]: ...

    def label(self, target: str) -> str:
        """What the sandbox calls the label that is this one here."""

    def drafts(self) -> dict[str, str]:
        """The bodies of the drafts that are there, by id."""

    def edit(self, draft_id: str, body: str) -> str:
        """The person changes a draft; its id afterwards."""


class SandboxWorld:
    def __init__(self, sandbox: Any) -> None:
        import httpx

        self.account_id = account_of().id
        self._client = httpx.Client(headers=sandbox.headers, timeout=60)
        self._sandbox, self._count = sandbox, 0

    def close(self) -> None:
        self._client.close()

    def put(self, mail: dict[str, Any]) -> str:
        path = f"{self._sandbox.control}/users/{USER}/emails"
        body = {"items": [mail], "notify": False}
        self._client.post(path, json=body).raise_for_status()
        self._tell("created", mail["id"])
        return str(mail["id"])

    def change(self, mail_id: str, labels: Sequence[str]) -> None:
        path = f"{self._sandbox.control}/users/{USER}/emails/{mail_id}"
        self._client.patch(path, json={"labels": list(labels)}).raise_for_status()
        self._tell("updated", mail_id)

    def labels(self, mail_id: str) -> list[str]:
        return list(self._mail(mail_id)["labels"])

    def label(self, target: str) -> str:
        return target

    def drafts(self) -> dict[str, str]:
        path = f"{self._sandbox.url}/users/{USER}/drafts"
        found: dict[str, str] = {}
        given: dict[str, str] = {}
        while True:
            page = self._client.get(path, params=given).raise_for_status().json()
            found |= {one["id"]: one["body"] for one in page["items"]}
            if not page.get("next_cursor"):
                return found
            given = {"cursor": page["next_cursor"]}

    def edit(self, draft_id: str, body: str) -> str:
        self._count += 1
        self._client.patch(
            f"{self._sandbox.url}/users/{USER}/drafts/{draft_id}",
            json={"body": body},
            headers={"Idempotency-Key": f"person-{self._count}"},
        ).raise_for_status()
        return draft_id

    def _mail(self, mail_id: str) -> dict[str, Any]:
        path = f"{self._sandbox.url}/users/{USER}/emails/{mail_id}"
        found: dict[str, Any] = self._client.get(path).raise_for_status().json()
        return found

    def _tell(self, kind: Literal["created", "updated"], mail_id: str) -> None:
        from agents.inbound import intake
        from integrations.contracts.events import ItemEvent

        self._count += 1
        event = ItemEvent(
            kind=kind,
            user_id=USER,
            source="gmail",
            source_id=mail_id,
            content_type="email",
            data=self._mail(mail_id),
            timestamp=datetime.now(UTC),
        )
        id, _ = intake.accept_delivery(SLUG, f"bench-{self._count}", event)
        work_through(id)


def in_sandbox(sandbox: Any, person: Person) -> AbstractContextManager[SandboxWorld]:
    """The replay account of the demo, made the person's."""
    from agents.office import sandbox as residents
    from integrations.models import Account

    Account.objects.filter(external_user_id=USER).update(address=person.address)
    residents.add_user(SLUG, external_user_id=USER, address=person.address, name="Person")
    return closing(SandboxWorld(sandbox))


def account_of() -> Any:
    """The account whose policy counts, whatever the server."""
    from integrations.models import Account

    return Account.objects.select_related("organisation").get(external_user_id=USER, source="gmail")


def work_through(delivery_id: UUID) -> None:
    """Ends the program where a delivery does not come to its end."""
    from agents import tasks
    from integrations.models import Delivery

    tasks.react(str(delivery_id))
    state = Delivery.objects.values_list("state", "reason").get(id=delivery_id)
    if state[0] not in ("processed", "skipped"):
        raise SystemExit(f"A delivery ended as {state}.")
