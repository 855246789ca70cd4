"""A mailbox lived through from its first mail to its last, with a person in it (docs/mail.md).

    make bench NAME=mailbox

MAILS (300) mails of the folder of real data come in the order of their dates, half of them in
threads that the person wrote in; 2,635 are all. After MINUTES, if these are given, no more come.
The person is the address there that answered others most often. What they wrote comes as their own
sent mail. Their hand is a script: mail of each list, and of each other sender who writes often,
belongs under one label, chosen by the name of the list or sender; where the agent put it elsewhere
they correct it, else they read it and leave it so; and every second draft they change a little.
Once in LEARN mails the day's learning runs and the person approves what is proposed. At the end
mails come that look like those of the patterns and are not.

Sandbox, guardrails, ledger and deliveries are real; the model is the offline one, over HTTP; items
are read in without a model. Sender authentication is added, because mail of these years has none:
every mail of the folder passes, and so does a look-alike but where that is what is wrong with it.

`status_right` counts threads whose state at the provider is what the rule of `expect`
(`benchmarks/lived_judged.py`) says, which knows what was said of each mail and nothing of the
product. The last line is JSON.
"""

import json
import os
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus, demo_office, lived_worlds, person as owner  # after the path
from benchmarks.database import own_database
from benchmarks.dovecot_world import on_dovecot
from benchmarks.goals import tell
from benchmarks.lived import Lived, live
from benchmarks.lived_judged import (
    deceive,
    expect,
    judge_drafts,
    judge_patterns,
    judge_threads,
)
from benchmarks.lived_worlds import World
from benchmarks.person import Person

MAILS = int(os.environ.get("MAILS", "300"))
LEARN = max(40, MAILS // 40)  # mails of a day
MINUTES = float(os.environ.get("MINUTES", "inf"))
SERVER = os.environ.get("SERVER", "sandbox")  # or dovecot


def world_of(
    office: Any, mails: list[dict[str, Any]], person: Person
) -> AbstractContextManager[World]:
    if SERVER == "dovecot":
        return on_dovecot(person, mails)
    return lived_worlds.in_sandbox(office, person)


def judge(
    world: World, mails: list[dict[str, Any]], person: Person, lived: Lived
) -> dict[str, Any]:
    """The figures; who looks like the patterns' senders comes last."""
    from guardrails.models import AssistantDraft, LearnedPattern

    threads, right, wrong = judge_threads(world, mails, person, lived)
    for line in wrong[:20]:
        print(f"wrong status, {line}")
    removed, left = judge_drafts(world, mails, lived)
    share, hits, precise = judge_patterns(world, mails, person, lived)
    tried, fired = deceive(world, mails)
    return {
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
    }


def main() -> None:
    corpus.require()
    os.environ |= {"TASK_TIMEOUT_SECONDS": "240", "TURN_LEASE_SECONDS": "60"}
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    with own_database(durable=False), demo_office.running() as office:
        mails, person = owner.load(MAILS)
        with world_of(office, mails, person) as world:
            started = time.monotonic()
            lived = live(world, mails, person, learn_in=LEARN, until=started + 60 * MINUTES)
            mails = mails[: lived.mails]
            found = judge(world, mails, person, lived)
            found["seconds"] = time.monotonic() - started
    goals = tell(
        {
            "every thread's status right": found["threads"] == found["status_right"],
            "0 touched drafts removed": found["touched_drafts_removed"] == 0,
            "0 drafts left in answered threads": found["drafts_left_in_answered_threads"] == 0,
            "0 look-alikes fire": found["lookalikes_fired"] == 0,
            "every pattern puts mail where it belongs": found["pattern_precision"] in (1, None),
        }
    )
    print(json.dumps(found | {"goals": goals}, default=lambda value: round(value, 3)))


if __name__ == "__main__":
    main()
