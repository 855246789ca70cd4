"""Honest work and attacks under the shipped presets: what is done, asked about and refused.

    make bench NAME=honest

Every task of `tests/honest/tasks` is a request in a user's words with the calls that a good agent
makes of it. Each call goes through the executor, in an office of its own whose organisation has
set up what every one does: its people, its domain, its labels, folders and projects. A task is done
when nobody was asked, and what was held is carried out once its time has come; asked when a
person is; refused when nobody even is asked. Its wrong twin (another person, another day) must not
be done without a question. SHOW=all lists every task that was not done.

The last line is JSON. A database of its own is made, and removed at the end.
"""

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

EXAMPLES = 6


def measure() -> dict[str, Any]:
    from tests.honest import day
    from tests.honest.day import office_day
    from tests.honest.tasks import read_tasks

    with office_day() as here:
        played = [here.play(task) for task in read_tasks()]
        slipped = [
            f"{task.id}: {name}"
            for task in read_tasks()
            for name in task.wrong
            if here.play_wrong(task, name).outcome == "done"
        ]
    show(played)
    print(
        f"{sum(len(task.wrong) for task in read_tasks())} wrong twins; done all the same: {slipped}"
    )
    return day.count(played)


def show(played: Sequence[Any]) -> None:
    """What stands in the way, the most frequent first."""
    tasks: dict[str, list[str]] = defaultdict(list)
    for one in played:
        for reason in {f"{action} {why}" for action, why in one.reasons}:
            tasks[reason].append(one.task.id)
    kinds: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    for one in played:
        for kind in {kind_of(action, why) for action, why in one.reasons}:
            kinds[kind] += 1
            examples[kind].append(one.task.id)
    most = None if os.environ.get("SHOW") == "all" else EXAMPLES
    for kind, number in kinds.most_common():
        print(f"{number:4} {kind}: {', '.join(examples[kind][:most])}")
    if most is None:
        for one in played:
            for action, why in one.reasons:
                print(f"{one.outcome:8} {one.task.id}: {action}: {why}")


def kind_of(action: str, why: str) -> str:
    """A reason without what it is about."""
    import re

    return f"{action} " + re.sub(r"“[^”]*”|\([^)]*\)|to 20\d\d\S*", "…", why)[:110]


def main() -> None:
    with own_database():
        print(json.dumps(measure()))


if __name__ == "__main__":
    main()
