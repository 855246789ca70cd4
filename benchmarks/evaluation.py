"""How well the offline model does the office's tasks, and what the agent's prompts cost.

    make bench NAME=evaluation

Plays the suite `office` (docs/evaluation.md) with the offline stand-in, which follows written rules
and is no language model. MODEL=reference plays what each task has written down instead: then every
task must succeed. MODEL names any other model at OPENAI_BASE_URL with OPENAI_API_KEY.

Of three tasks it says what the prompts cost: the seed's Jira story, answering one mail, and the
15th turn of a conversation. `prefix_equal` says that all prompts of that conversation began with
the very same bytes: its tools and its first message; `prefix_kept` in which share of them all that
the one before had said was still there, byte for byte.

The last line is JSON. A database of its own is made, and removed at the end.
"""

import json
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

STORY, REPLY, CONVERSATION = "story-two-johns", "reply-to-one-mail", "fifteen-turns"
FIFTEENTH = 15


def measure(model: str) -> dict[str, Any]:
    from agents.evaluation import report, runner, tasks
    from agents.evaluation.endpoint import OFFLINE_MODEL, REFERENCE

    suite = tasks.load("office")
    asked = OFFLINE_MODEL if model == REFERENCE else model
    tries, figures = [], {}
    with runner.running(suite, model=asked) as playing:
        for task in suite.tasks:
            steps = task.play if model == REFERENCE else None
            one = playing.judge(task, playing.play(task, steps=steps))
            tries.append(one)
            if task.id == CONVERSATION:
                figures = prefixes(playing.endpoint.exchanges)
            print(f"{len(tries)}/{len(suite.tasks)} {task.id}: {one.success}", file=sys.stderr)
    for line in report.table(tries, model=model):
        print(line)
    used = {one.task.id: one.played.use for one in tries}
    longest = {one.task.id: one.played.prompts for one in tries}
    said = report.summary(tries)
    return said | {
        "story_calls": used[STORY].calls,
        "story_prompt_tokens": used[STORY].prompt_tokens,
        "reply_calls": used[REPLY].calls,
        "reply_prompt_tokens": used[REPLY].prompt_tokens,
        "turn15_prompt_tokens": longest[CONVERSATION][FIFTEENTH - 1],
        **figures,
    }


def prefixes(exchanges: Sequence[Any]) -> dict[str, Any]:
    """What the orchestrator's prompts of a conversation have in common. The last message of each
    says how things stand, and is another one each time."""
    own = [one.request for one in exchanges if "orchestrator" in one.agent]
    heads = {written([one.get("tools"), one["messages"][0]]) for one in own}
    kept = [
        written(later["messages"][: len(one["messages"]) - 1]) == written(one["messages"][:-1])
        for one, later in pairwise(own)
    ]
    return {
        "prefix_equal": len(heads) == 1,
        "prefix_kept": round(sum(kept) / len(kept), 2) if kept else 0.0,
    }


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    with own_database("contenttypes", durable=False):
        print(json.dumps(measure(os.environ.get("MODEL", "offline-rules"))))


if __name__ == "__main__":
    main()
