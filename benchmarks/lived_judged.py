"""What a mailbox contains after it was lived through, judged by rules that know nothing of the
product (docs/mail.md)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.lived import AWAITING, EDITED, STATUS, TO_REPLY, Lived
from benchmarks.lived_worlds import World
from benchmarks.person import TOPICS, Person

PASSED = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}


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
    """How many threads there are, how many are right, and what is wrong with the others."""
    threads: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for mail in mails:
        threads[mail["thread_id"]].append(mail)
    right, wrong = 0, []
    for id, thread in threads.items():
        carried = {one for mail in thread for one in STATUS & set(world.labels(mail["id"]))}
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
    removed = sum(EDITED not in present.get(id, "") for id in lived.touched.values())
    place = {mail["id"]: number for number, mail in enumerate(mails)}
    left = 0
    written = AssistantDraft.objects.filter(account_id=world.account_id).exclude(draft_id="")
    for row in written.exclude(reply_to_id=""):  # new mail is in no thread that is answered
        if row.draft_id in present and row.draft_id not in lived.touched:
            later = [
                mail
                for mail in mails[place[row.reply_to_id] + 1 :]
                if mail["thread_id"] == row.thread_id and "SENT" in mail["labels"]
            ]
            left += bool(later)
    return removed, left


def judge_patterns(
    world: World, mails: Sequence[dict[str, Any]], person: Person, lived: Lived
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
            world.label(one["params"]["label_id"])
            for one in turn.actions
            if one["type"] == "classify"
        }
        right += set_labels & set(TOPICS) == {person.topic_of(by_id[turn.item_source_id])}
    return share, len(hits), right


def deceive(world: World, mails: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Mails that look like what each pattern matches: how many came, and set a pattern off."""
    from agents.models import Turn
    from guardrails.models import LearnedPattern

    sent = [
        world.put(mail)
        for row in LearnedPattern.objects.filter(account_id=world.account_id, state="approved")
        for mail in lookalikes(row, mails[-1])
    ]
    fired = Turn.objects.filter(item_source_id__in=sent, ending="pattern").count()
    return len(sent), fired


def lookalikes(pattern: Any, last: dict[str, Any]) -> Iterator[dict[str, Any]]:
    changes: list[dict[str, Any]] = []
    if anchor := pattern.sender_address or (
        pattern.sender_domain and f"news@{pattern.sender_domain}"
    ):
        local, _, domain = anchor.partition("@")
        changes = [
            {"from": anchor, "authentication": PASSED | {"dmarc": "fail"}},
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
                "authentication": PASSED,
                "list_id": None,
            }
            | change
        )
