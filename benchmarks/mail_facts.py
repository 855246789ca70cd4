"""What Remit stored of each mail, as the commits that its floor makes of it (mail_floor.py)."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from uuid import UUID

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]  # of each table
CHAT, EMBEDDINGS = "chat/completions", "embeddings"
OF_ITEM = ("knowledge_itemfile", "knowledge_chunk", "knowledge_chunkvector", "knowledge_mention")
OF_TURN = ("agents_step", "agents_toolcall", "agents_turnevent")
EMPTIED = (
    *("integrations_delivery", "integrations_modelcall", "knowledge_item", *OF_ITEM),
    *("agents_turn", *OF_TURN),
)
LEDGER = ("audit_action", "audit_payload")
# What changes in a row after it was stored.
CHANGES = {
    "agents_turn": (
        *("state", "ending", "finished_at", "lease_owner", "lease_expires_at", "last_event"),
        *("actions", "prompt_tokens", "completion_tokens"),
    ),
    "agents_toolcall": ("result", "latency_ms", "finished_at"),
    "integrations_delivery": ("state", "reason", "finished_at", "lease_expires_at"),
    "knowledge_item": ("metadata", "source_version", "source_updated_at", "own_since"),
}
BEGUN: Row = {"state": "running", "ending": "", "finished_at": None, "actions": []}


@dataclass(frozen=True, kw_only=True)
class Commit:
    """What others are asked for first, and what is stored then."""

    models: Sequence[str] = ()  # paths at the model
    reads: int = 0  # of the mail, at the provider
    writes: Sequence[Row] = ()  # requests to the provider
    new: Rows = field(default_factory=dict)
    changed: Rows = field(default_factory=dict)

    def statement(self, columns: Mapping[str, str]) -> tuple[str, list[str]]:
        """All that is stored then, as one statement with its values."""
        parts, values = [], []
        for table, rows in self.new.items():
            if rows:
                parts.append(
                    f"new_{table} AS (INSERT INTO {table} ({columns[table]}) OVERRIDING SYSTEM"
                    f" VALUE SELECT {columns[table]}"
                    f" FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb))"
                )
                values.append(json.dumps(rows))
        for table, rows in self.changed.items():
            if rows:
                changes = ", ".join(f"{name} = given.{name}" for name in CHANGES[table])
                parts.append(
                    f"changed_{table} AS (UPDATE {table} SET {changes}"
                    f" FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb) given"
                    f" WHERE {table}.id = given.id)"
                )
                names = ("id", *CHANGES[table])
                values.append(json.dumps([{name: row[name] for name in names} for row in rows]))
        return f"WITH {', '.join(parts)} SELECT 1", values


@dataclass(frozen=True, kw_only=True)
class Mail:
    """One mail with its webhook, and its commits in their order."""

    id: str
    text: str
    delivery: Row
    commits: Sequence[Commit]


class Stored:
    """What Remit stored, and what it asked its provider to write."""

    def __init__(self, calls: Sequence[Row]) -> None:
        self.deliveries = _select("integrations_delivery", "source_id")
        self.items = _select("knowledge_item", "source_id")
        self.of_item = {table: _select(table, "item_id") for table in OF_ITEM}
        self.turns = _select("agents_turn", "item_source_id")
        self.steps = _select("agents_step", "turn_id")
        self.tools = _select("agents_toolcall", "step_id")
        self.events = _select("agents_turnevent", "turn_id")
        self.asked = _select("integrations_modelcall", "run_id")
        self.actions = _select("audit_action", "run_id")
        self.payloads = _select("audit_payload", "row_id")
        self.calls = {call["idempotency_key"]: call for call in calls}

    def mail(self, first: Row, *, reads: int) -> Mail:
        [item], [turn] = self.items[first["source_id"]], self.turns[first["source_id"]]
        labels = first["body"]["data"]["labels"]
        arrived = item | {
            "metadata": item["metadata"] | {"labels": labels},
            "source_version": first["body"]["data"]["version"],
            "own_since": None,
        }
        index = {table: rows[item["id"]] for table, rows in self.of_item.items()}
        read = Commit(
            models=(CHAT, EMBEDDINGS),
            reads=reads,
            new={"knowledge_item": [arrived], **index, "agents_turn": [turn | BEGUN]},
        )
        *steps, last = [read, *self._of_turn(turn["id"])]
        end = {
            "agents_turn": [turn],
            "integrations_delivery": [first],
            "knowledge_item": [item] if item != arrived else [],
        }
        last = replace(
            last,
            new={**last.new, "agents_turnevent": self.events[turn["id"]]},
            changed={**last.changed, **end},
        )
        return Mail(id=item["source_id"], text=item["text"], delivery=first, commits=[*steps, last])

    def _of_turn(self, turn_id: str) -> list[Commit]:
        steps = self.steps[turn_id]
        tools = [self.tools[str(step["id"])] for step in steps]
        asked, rows = iter(self.asked[turn_id]), self.actions[turn_id]
        # With the last step what was done about its thread, without any.
        of_calls = {call["action_id"] for call in chain(*tools)}
        beside = [row for row in rows if row["action_id"] not in of_calls]
        commits = []
        for step, calls in zip(steps, tools, strict=True):
            ids = {call["action_id"] for call in calls}
            acted = [row for row in rows if row["action_id"] in ids]
            acted += beside if step is steps[-1] else []
            attempts = [row for row in acted if row["phase"] != "outcome"]
            outcomes = [row for row in acted if row["phase"] == "outcome"]
            writes = [call for row in attempts if (call := self.calls.get(row["idempotency_key"]))]
            open_calls = [call | {"result": None, "finished_at": None} for call in calls]
            model = bool(step["model"])  # a learned pattern needs none
            commits.append(
                Commit(
                    models=(CHAT,) if model else (),
                    new={
                        "agents_step": [step],
                        "agents_toolcall": open_calls if outcomes else calls,
                        "integrations_modelcall": [next(asked)] if model else [],
                        **self._entries(attempts),
                    },
                )
            )
            if outcomes:
                changed = {"agents_toolcall": calls}
                commits.append(Commit(writes=writes, new=self._entries(outcomes), changed=changed))
        return commits

    def _entries(self, rows: Sequence[Row]) -> Rows:
        """Of the ledger, which is not emptied: under other ids."""
        hidden = chain.from_iterable(self.payloads[str(row["id"])] for row in rows)
        tables = zip(LEDGER, (rows, hidden), strict=True)
        return {
            table: [row | {"action_id": _other(row["action_id"])} for row in found]
            for table, found in tables
        }


def _other(id: str) -> str:
    """Another id of the same moment: of one process, ids of a moment end in counted numbers."""
    return str(UUID(int=UUID(id).int ^ 1 << 40))


def _select(table: str, key: str) -> dict[str, list[Row]]:
    from django.db import connection

    found: dict[str, list[Row]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {key}::text, to_jsonb(t)::text FROM {table} t ORDER BY ctid")
        for owner, row in cursor.fetchall():
            found[owner].append(json.loads(row))
    return found
