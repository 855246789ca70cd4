"""Real documents, issues and events arrive, and go the way that mail goes (docs/mail.md).

    make bench NAME=arriving

OBJECTS (150) of each kind of the folder of real data arrive at the demo's Maya by one webhook each,
and one in ten by two. Every fourth document is somebody else's and shared with her. Events are at
their time of the week, but in the next weeks and once each, with Maya invited; every fourth she
made herself. Sandbox, guardrails, ledger and deliveries are real; the model is the offline one,
over HTTP; items are read in without a model. Nothing else happens to the office meanwhile.

By kind: `received` webhooks, `handled` (an agent worked through it), `done`, `asked` (a person is)
and `refused` actions, and how many of each type in `actions`; what was `suggested`, by what it is
about; items only `read`, deliveries `left`
alone (a webhook that came twice), `failed` ones, `calls` of a model, `without_model` items (calls
that were saved), and the milliseconds from the claim of a delivery to its end at the 50th and 99th
percentile. KINDS chooses some of them.
The last line is JSON.
"""

import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus, corpus_objects, demo_office  # after the path
from benchmarks.database import own_database
from benchmarks.goals import tell

OBJECTS = int(os.environ.get("OBJECTS", "150"))
USER, SLUG, ADDRESS = "maya", "default", "maya@company.com"
AGAIN, SHARED = 10, 4  # every so many
WEEK, WEEKS = timedelta(weeks=1), 4
KINDS = {"documents": ("gdrive", "id"), "issues": ("jira", "key"), "events": ("calendar", "id")}
CHOSEN = os.environ.get("KINDS", " ".join(KINDS)).split()


def objects(kind: str) -> list[dict[str, Any]]:
    """So many of the kind, spread over all that there are, as the provider has them."""
    found = list(getattr(corpus_objects, kind)())
    chosen = list(islice(found, 0, None, max(1, len(found) // OBJECTS)))[:OBJECTS]
    if kind == "documents":
        for number, one in enumerate(chosen):
            is_shared = number % SHARED == 0
            one["owner"] = "noor@company.com" if is_shared else ADDRESS
            one["shared_with"] = [ADDRESS] if is_shared else []
    if kind == "events":
        now = datetime.now(UTC)
        return [invitation(one, number, now=now) for number, one in enumerate(chosen)]
    return chosen


def invitation(event: dict[str, Any], number: int, *, now: datetime) -> dict[str, Any]:
    """At the same time of the week, once, in one of the next weeks."""
    begins, ends = (datetime.fromisoformat(event[name]) for name in ("start", "end"))
    later = ((now - begins) // WEEK + 1 + number % WEEKS) * WEEK
    organiser = event["created_by"] if "@" in (event["created_by"] or "") else "noor@company.com"
    is_own = number % SHARED == 0
    guest = {"email": ADDRESS, "status": "accepted" if is_own else "needs_action"}
    return event | {
        "start": (begins + later).isoformat(),
        "end": (ends + later).isoformat(),
        "recurrence": None,
        "series_id": None,
        "created_by": ADDRESS if is_own else organiser,
        "attendees": [*event["attendees"], guest],
    }


def put(office: Any, kind: str, found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those of them that the provider takes, each as it tells of it."""
    import httpx

    place = {"issues": "jira/issues"}.get(kind, kind)
    with httpx.Client(headers=office.headers, timeout=60) as client:
        for one in found:
            body = {"items": [one], "notify": False}
            if client.post(f"{office.control}/users/{USER}/{kind}", json=body).is_error:
                continue
            key = one[KINDS[kind][1]]
            answer = client.get(f"{office.url}/users/{USER}/{place}/{key}")
            if answer.is_success:
                yield answer.json()


def arrive(kind: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """What becomes of them, and how long each takes."""
    from agents import tasks
    from agents.inbound import intake
    from agents.models import Suggestion, Turn
    from audit.models import ExecutedAgentAction
    from integrations.contracts.events import ItemEvent
    from integrations.models import Delivery, ModelCall
    from integrations.ports.registry import BY_SOURCE

    source, calls, took = KINDS[kind][0], ModelCall.objects.count(), []
    for number, data in enumerate(found):
        event = ItemEvent(
            kind="created",
            user_id=USER,
            source=source,
            source_id=BY_SOURCE[source].item_type.model_validate(data).id,
            data=data,
            timestamp=datetime.now(UTC),
        )
        for again in range(2 if number % AGAIN == 0 else 1):
            id, _ = intake.accept_delivery(SLUG, f"bench-{kind}-{number}-{again}", event)
            began = time.perf_counter()
            tasks.react(str(id))
            took.append((time.perf_counter() - began) * 1000)
    deliveries = Delivery.objects.filter(webhook_id__startswith=f"bench-{kind}-")
    fates = deliveries.count_fates()
    turns = Turn.objects.filter(delivery__in=deliveries)
    ids = [str(turn_id) for turn_id in turns.values_list("id", flat=True)]
    actions = list(
        ExecutedAgentAction.objects.filter(run_id__in=ids)
        .exclude(status="pending")
        .values_list("action_type", "status")
    )
    suggested = Suggestion.objects.filter(turn__in=turns).values_list("kind", flat=True)
    ended = Counter(status for _, status in actions)
    asked = ModelCall.objects.filter(run_id__in=ids).values("run_id").distinct().count()
    cuts = statistics.quantiles(took, n=100)
    return {
        "items": len(found),
        "received": sum(fates.values()),
        "handled": fates["handled"],
        "done": ended["succeeded"],
        "asked": ended["waiting"],
        "refused": ended["blocked"],
        "actions": {" ".join(one): number for one, number in Counter(actions).items()},
        "suggested": Counter(suggested),
        "read": fates["read"],
        "left": fates["left"],
        "failed": fates["dead"] + fates["in_work"],
        "calls": ModelCall.objects.count() - calls,
        "without_model": len(found) - asked,
        "turns": turns.count(),
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
    }


def main() -> None:
    corpus.require()
    os.environ |= {"TASK_TIMEOUT_SECONDS": "240", "TURN_LEASE_SECONDS": "60"}
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    with own_database(durable=False), demo_office.running() as office:
        found = {}
        for kind in CHOSEN:
            found[kind] = arrive(kind, list(put(office, kind, objects(kind))))
            print(kind, json.dumps(found[kind], default=str), flush=True)
    goals = tell(
        {
            "nothing failed": not any(one["failed"] for one in found.values()),
            "no item got two turns": all(one["turns"] <= one["items"] for one in found.values()),
            "nothing of somebody else's was moved": all(
                one["done"] <= one["items"] * (1 - 1 / SHARED) + 1
                for kind, one in found.items()
                if kind == "documents"
            ),
            "every item is accounted for": all(
                one["received"] == one["handled"] + one["read"] + one["left"]
                for one in found.values()
            ),
        }
    )
    print(json.dumps(found | {"goals": goals}, default=lambda value: round(value, 3)))


if __name__ == "__main__":
    main()
