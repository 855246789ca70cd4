"""A mailbox lived through from its first mail to its last, with a person in it (docs/mail.md).

    make bench NAME=mailbox

MAILS (300) mails of the folder of real data come in the order of their dates, half of them in
threads that the person wrote in; 2,635 are all. The person is the address there that answered
others most often. What they wrote comes as their own sent mail. Their hand is a script: mail of
each list, and of each other sender who writes often, belongs under one label, chosen by the name of
the list or sender; where the agent put it elsewhere they correct it, else they read it and leave it
so; and every second draft they change a little. Once in LEARN mails the day's learning runs and the
person approves what is proposed. At the end mails come that look like those of the patterns and are
not.

Sandbox, guardrails, ledger and deliveries are real; the model is the offline one, over HTTP; items
are read in without a model. Sender authentication is added, because mail of these years has none:
every mail of the folder passes, and so does a look-alike but where that is what is wrong with it.

`status_right` counts threads whose state at the provider is what the rule of `expect` says, which
knows what was said of each mail and nothing of the product. The last line is JSON.
"""

import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus, person as owner  # after the path
from benchmarks.database import own_database
from benchmarks.goals import tell
from benchmarks.person import TOPICS, Person

MAILS = int(os.environ.get("MAILS", "300"))
LEARN = max(40, MAILS // 40)  # mails of a day
USER, SLUG = "replay", "default"
TO_REPLY, AWAITING, FYI, ACTIONED = (
    "label_to_reply",
    "label_awaiting_reply",
    "label_fyi",
    "label_actioned",
)
STATUS = frozenset({TO_REPLY, AWAITING, FYI, ACTIONED, "label_follow_up"})
EDITED = "PS: I have changed this."


@dataclass(kw_only=True)
class Lived:
    """What happened, as far as the rules of this benchmark look at it."""

    said: dict[str, list[str]] = field(default_factory=dict)  # a reader's statuses, by mail
    corrections: int = 0
    approved: int = 0
    touched: set[str] = field(default_factory=set)  # drafts
    turns: list[tuple[str, str]] = field(default_factory=list)  # mail, how its turn ended
    actions: Counter[str] = field(default_factory=Counter)


class World:
    """The sandbox from outside, and deliveries worked through here and now."""

    def __init__(self, sandbox: Any) -> None:
        import httpx

        self._client = httpx.Client(headers=sandbox.headers, timeout=60)
        self._sandbox, self._count = sandbox, 0

    def close(self) -> None:
        self._client.close()

    def put(self, mail: dict[str, Any]) -> None:
        path = f"{self._sandbox.control}/users/{USER}/emails"
        body = {"items": [mail], "notify": False}
        self._client.post(path, json=body).raise_for_status()
        self.tell("created", mail["id"])

    def change(self, mail_id: str, labels: Sequence[str]) -> None:
        path = f"{self._sandbox.control}/users/{USER}/emails/{mail_id}"
        self._client.patch(path, json={"labels": list(labels)}).raise_for_status()
        self.tell("updated", mail_id)

    def edit(self, draft_id: str, body: str) -> None:
        self._count += 1
        self._client.patch(
            f"{self._sandbox.url}/users/{USER}/drafts/{draft_id}",
            json={"body": body},
            headers={"Idempotency-Key": f"person-{self._count}"},
        ).raise_for_status()

    def mail(self, mail_id: str) -> dict[str, Any]:
        path = f"{self._sandbox.url}/users/{USER}/emails/{mail_id}"
        found: dict[str, Any] = self._client.get(path).raise_for_status().json()
        return found

    def drafts(self) -> dict[str, dict[str, Any]]:
        path = f"{self._sandbox.url}/users/{USER}/drafts"
        found: dict[str, dict[str, Any]] = {}
        given: dict[str, str] = {}
        while True:
            page = self._client.get(path, params=given).raise_for_status().json()
            found |= {one["id"]: one for one in page["items"]}
            if not page.get("next_cursor"):
                return found
            given = {"cursor": page["next_cursor"]}

    def tell(self, kind: Literal["created", "updated"], mail_id: str) -> None:
        from agents import tasks
        from integrations.contracts.events import ItemEvent
        from integrations.models import Delivery

        self._count += 1
        event = ItemEvent(
            kind=kind,
            user_id=USER,
            source="gmail",
            source_id=mail_id,
            content_type="email",
            data=self.mail(mail_id),
            timestamp=datetime.now(UTC),
        )
        id, _ = tasks.accept_delivery(SLUG, f"bench-{self._count}", event)
        tasks.react(str(id))
        state = Delivery.objects.values_list("state", "reason").get(id=id)
        if state[0] not in ("processed", "skipped"):
            raise SystemExit(f"A delivery ended as {state}.")


def live(world: World, mails: Sequence[dict[str, Any]], person: Person) -> Lived:
    from agents.models import Turn

    lived = Lived()
    for number, mail in enumerate(mails, 1):
        world.put(mail)
        if mail["from"] != person.address:
            turn = Turn.objects.filter(item_source_id=mail["id"], kind="inbound").first()
            lived.turns.append((mail["id"], turn.ending if turn else ""))
            lived.actions.update(
                f"{one['type']} {one['status']} {one['reason']}"
                for one in (turn.actions if turn else ())
            )
            lived.said[mail["id"]] = [
                one["params"]["label_id"]
                for one in (turn.actions if turn else ())
                if one["type"] == "classify"
                and one["status"] in ("succeeded", "noop")
                and one["params"]["label_id"] in STATUS
            ]
            correct(world, mail, person, lived)
            touch_draft(world, lived)
        if number % LEARN == 0:
            learn(lived)
            print(f"{number} of {len(mails)} mails", flush=True)
    return lived


def correct(world: World, mail: dict[str, Any], person: Person, lived: Lived) -> None:
    """The person puts a mail where it belongs; one that lies there they read."""
    wanted = person.topic_of(mail)
    if wanted is None:
        return
    labels = world.mail(mail["id"])["labels"]
    if wanted in labels and not set(TOPICS) - {wanted} & set(labels):
        if "UNREAD" in labels:
            world.change(mail["id"], [one for one in labels if one != "UNREAD"])
        return
    lived.corrections += 1
    kept = [one for one in labels if one not in (*TOPICS, "INBOX")]
    world.change(mail["id"], [*kept, wanted])


def touch_draft(world: World, lived: Lived) -> None:
    """Every second draft that is still as it was written is changed by hand."""
    from guardrails.models import AssistantDraft

    rows = AssistantDraft.objects.filter(state="pending").exclude(draft_id="").order_by("id")
    for place, row in enumerate(rows):
        if row.draft_id not in lived.touched and int(row.action_id) % 2 and place == len(rows) - 1:
            known = world.drafts().get(row.draft_id)
            if known is not None:
                world.edit(row.draft_id, f"{known['body']}\n{EDITED}")
                lived.touched.add(row.draft_id)


def learn(lived: Lived) -> None:
    """A day's learning, and the person's word."""
    from django.utils import timezone

    from agents import tasks
    from guardrails.learn import patterns
    from guardrails.models import LearnedPattern

    account = account_of().id
    tasks.learn_account(str(account))
    for row in LearnedPattern.objects.filter(account_id=account, state="proposed"):
        lived.approved += patterns.approve(pattern_id=row.id, by="operator:o", now=timezone.now())


def account_of() -> Any:
    from integrations.models import Account

    return Account.objects.select_related("organisation").get(external_user_id=USER, source="gmail")


def expect(thread: Sequence[dict[str, Any]], owner: str, said: dict[str, list[str]]) -> str | None:
    """The state that a thread is in after its last mail, by the words of docs/mail.md alone: what
    was said last of a mail counts; the person's own mail turns To Reply into Awaiting Reply, and
    somebody else's, of which nothing was said, turns it back."""
    state = None
    for mail in thread:
        if mail["from"] == owner:
            state = AWAITING if state == TO_REPLY else state
        elif said.get(mail["id"]):
            state = said[mail["id"]][-1]
        elif state == AWAITING:
            state = TO_REPLY
    return state


def judge_threads(
    world: World, mails: Sequence[dict[str, Any]], person: Person, lived: Lived
) -> tuple[int, int, list[str]]:
    threads: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for mail in mails:
        threads[mail["thread_id"]].append(mail)
    right, wrong = 0, []
    for id, thread in threads.items():
        carried = {one for mail in thread for one in STATUS & set(world.mail(mail["id"])["labels"])}
        wanted = expect(thread, person.address, lived.said)
        if carried == ({wanted} if wanted else set()):
            right += 1
        else:
            wrong.append(f"{id}: {sorted(carried)}, not {wanted}")
    return len(threads), right, wrong


def judge_drafts(world: World, mails: Sequence[dict[str, Any]], lived: Lived) -> tuple[int, int]:
    """Touched drafts that are gone, and untouched ones in threads that were answered later."""
    from guardrails.models import AssistantDraft

    present = world.drafts()
    removed = sum(
        EDITED not in present[id]["body"] if id in present else True for id in lived.touched
    )
    place = {mail["id"]: number for number, mail in enumerate(mails)}
    left = 0
    for row in AssistantDraft.objects.exclude(draft_id=""):
        if row.draft_id in present and row.draft_id not in lived.touched:
            later = [
                mail
                for mail in mails[place[row.reply_to_id] + 1 :]
                if mail["thread_id"] == row.thread_id and "SENT" in mail["labels"]
            ]
            left += bool(later)
    return removed, left


def judge_patterns(
    mails: Sequence[dict[str, Any]], person: Person, lived: Lived
) -> tuple[float, int, int]:
    """The share of the second half's mail that no model was asked about, and how many hits there
    were and put the mail where it belongs."""
    from agents.models import Turn

    by_id = {mail["id"]: mail for mail in mails}
    second = lived.turns[len(lived.turns) // 2 :]
    share = sum(ending == "pattern" for _, ending in second) / max(1, len(second))
    hits = [id for id, ending in lived.turns if ending == "pattern"]
    right = 0
    for turn in Turn.objects.filter(item_source_id__in=hits, kind="inbound"):
        set_labels = {
            one["params"].get("label_id") for one in turn.actions if one["type"] == "classify"
        }
        right += set_labels & set(TOPICS) == {person.topic_of(by_id[turn.item_source_id])}
    return share, len(hits), right


def deceive(world: World, mails: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Mails that look like what each pattern matches: how many came, and set a pattern off."""
    from agents.models import Turn
    from guardrails.models import LearnedPattern

    sent = []
    for row in LearnedPattern.objects.filter(account_id=account_of().id, state="approved"):
        for mail in lookalikes(row, mails[-1]):
            world.put(mail)
            sent.append(mail["id"])
    fired = Turn.objects.filter(item_source_id__in=sent, ending="pattern").count()
    return len(sent), fired


def lookalikes(pattern: Any, last: dict[str, Any]) -> Iterator[dict[str, Any]]:
    passed = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
    changes: list[dict[str, Any]] = []
    if anchor := pattern.sender_address or (
        pattern.sender_domain and f"news@{pattern.sender_domain}"
    ):
        local, _, domain = anchor.partition("@")
        changes = [
            {"from": anchor, "authentication": passed | {"dmarc": "fail"}},
            {"from": f"{local}@{domain}.evil.example"},
            {"from": f"{local}@evil.example", "from_name": f"{anchor} <{anchor}>"},
            {"from": f"{anchor.replace('@', '=')}@evil.example"},
            {"from": f"{local}@mail.{domain}"},
            {"from": "", "from_name": anchor},
        ]
    elif pattern.list_id:
        bare = pattern.list_id.strip("<>")
        changes = [
            {"from": "a@evil.example", "list_id": f"<{bare}.evil.example>"},
            {"from": "a@evil.example", "list_id": f"<x{bare}>"},
            {"from": "a@evil.example", "list_id": None, "subject": pattern.list_id},
            {"from": f"{bare}@evil.example", "list_id": None},
        ]
    for number, change in enumerate(changes):
        id = f"fake-{pattern.id}-{number}"
        yield (
            last
            | {
                "id": id,
                "thread_id": id,
                "message_id": f"<{id}@evil.example>",
                "subject": pattern.subject or "News",
                "labels": ["INBOX", "UNREAD"],
                "authentication": passed,
                "list_id": None,
            }
            | change
        )


@contextmanager
def running() -> Iterator[World]:
    """The office with the person's mailbox in it, and the offline model."""
    from django.conf import settings
    from django.core.management import call_command

    from integrations.llm import llm
    from tests.offline_model_server import running_offline_model
    from tests.sandbox_server import running_sandbox

    with ExitStack() as stack:
        office = stack.enter_context(running_sandbox())
        settings.SANDBOX_PORT = int(office.origin.rpartition(":")[2])
        settings.DATA_SERVICES, settings.DATA_SERVICE_KEYS = {SLUG: office.url}, {SLUG: office.key}
        settings.OPENAI_BASE_URL = stack.enter_context(running_offline_model())
        settings.OPENAI_API_KEY, settings.MODEL_IS_OFFLINE = "offline", True
        settings.CHAT_MODEL = settings.INGEST_MODEL = "offline-rules"
        settings.EMBEDDING_MODEL = "offline-hash-384"
        stack.enter_context(mock.patch.object(llm, "complete_json", corpus.read))
        stack.enter_context(mock.patch.object(llm, "embed", corpus.embed))
        call_command("load_demo", verbosity=0)
        yield stack.enter_context(closing(World(office)))


def settle(person: Person) -> None:
    """Makes the replay account of the demo theirs."""
    from agents.office import sandbox
    from integrations.models import Account

    Account.objects.filter(external_user_id=USER).update(address=person.address)
    sandbox.add_user(SLUG, external_user_id=USER, address=person.address, name="Person")


def main() -> None:
    corpus.require()
    os.environ |= {"TASK_TIMEOUT_SECONDS": "240", "TURN_LEASE_SECONDS": "60"}
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    with own_database(durable=False), running() as world:
        mails, person = owner.load(MAILS)
        settle(person)
        started = time.monotonic()
        lived = live(world, mails, person)
        threads, right, wrong = judge_threads(world, mails, person, lived)
        removed, left = judge_drafts(world, mails, lived)
        share, hits, precise = judge_patterns(mails, person, lived)
        tried, fired = deceive(world, mails)
        seconds = time.monotonic() - started
        for line in wrong[:20]:
            print(f"wrong status, {line}")
        from guardrails.models import AssistantDraft, LearnedPattern

        found = {
            "mails": len(mails),
            "threads": threads,
            "status_right": right,
            "with_status": sum(
                expect([m for m in mails if m["thread_id"] == id], person.address, lived.said)
                is not None
                for id in {mail["thread_id"] for mail in mails}
            ),
            "drafts": AssistantDraft.objects.count(),
            "touched_drafts": len(lived.touched),
            "touched_drafts_removed": removed,
            "drafts_left_in_answered_threads": left,
            "corrections": lived.corrections,
            "patterns_approved": lived.approved,
            "patterns_suspended": LearnedPattern.objects.filter(state="suspended").count(),
            "pattern_hits": hits,
            "pattern_precision": precise / hits if hits else None,
            "without_model_second_half": share,
            "lookalikes": tried,
            "lookalikes_fired": fired,
            "actions": dict(lived.actions),
            "seconds": seconds,
        }
    goals = tell(
        {
            "every thread's status right": found["threads"] == found["status_right"],
            "0 touched drafts removed": removed == 0,
            "0 drafts left in answered threads": left == 0,
            "0 look-alikes fire": fired == 0,
            "every pattern puts mail where it belongs": precise == hits,
        }
    )
    print(json.dumps(found | {"goals": goals}, default=lambda value: round(value, 3)))


if __name__ == "__main__":
    main()
