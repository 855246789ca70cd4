"""Each statement of a mail, a chat, an approval and the pages about them finds its rows by their
organisation, or by a key that belongs to one: the server's own plan says by what.

It is what spreading organisations over servers needs, with Citus or without. Where a table has no
column of its organisation, or a statement goes by a key alone, Citus would want the column as well.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.apps import apps
from django.db import connections

from audit.ledger.prepared import Prepared
from guardrails.models import Approval
from integrations.models import Organisation
from tests.clients import log_in
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend, scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
READER, INGEST = "You are Remit's mail reader.", "You summarise an item and list its entities."
SUMMARY = {"summary": "A mail.", "entities": []}
ORCHESTRATOR = "You are Remit's orchestrator."
PAGES = (
    "/admin/",
    "/admin/integrations/delivery/",
    "/admin/audit/executedagentaction/",
    "/admin/agents/turn/",
    "/admin/guardrails/approval/",
    "/admin/day/",
    "/admin/find/?q=hello",
)
RIGHTS = (
    *("view_delivery", "view_turn", "view_executedagentaction", "view_approval", "view_item"),
    *("view_account", "view_person"),
)
# What goes across organisations: words of the statement, and why.
EXCEPTIONS = {
    '"integrations_delivery"."state" = ': "the queue of deliveries: how long it is",
    "UPDATE integrations_delivery d SET state": "the same: who is free takes what waited longest",
    '"agents_turn"."state" = ': "the queue of chat turns: how long it is",
    "FROM agents_turn\n    WHERE kind = 'chat' AND state": "the same: who is free takes what waits",
    '"integrations_servicetoken"."digest" = ': "a token says which organisation it is of",
}
CONDITIONS = ("Index Cond", "Filter", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter")
PART = re.compile(r"\((Init|Sub)Plan (\d+)\)\.col\d+")
KINDS = {"organisation_id": "organisation", "tenant_id": "organisation", "account_id": "account"}
# Two sides of an equality in a condition: columns, with the name of their table or without, or what
# was given.
PAIR = re.compile(r"\(*([\w.]+)\)?(?:::[\w ]+)? = (?:ANY \()?\(*([\w.$']+)")
Joined = dict[str, set[str]]
MONTH = re.compile(r"_\d{4}_?\d\d$")


@dataclass
class Heard:
    """Statements, each once, with values that it was given."""

    statements: dict[str, Any] = field(default_factory=dict)

    def hear(self, statement: str, values: Any) -> None:
        if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", statement):
            self.statements.setdefault(statement, values)


@contextmanager
def listening() -> Iterator[Heard]:
    """To the statements of all threads of this process."""
    heard, execute, run = Heard(), psycopg.Cursor.execute, Prepared.run

    def executed(self: Any, query: Any, params: Any = None, **named: Any) -> Any:
        if isinstance(query, str):
            heard.hear(query, params)
        return execute(self, query, params, **named)

    def ran(self: Prepared, session: Any, values: Any) -> Any:
        heard.hear(self.statement.decode(), None)
        return run(self, session, values)

    with (
        mock.patch.object(psycopg.Cursor, "execute", executed),
        mock.patch.object(Prepared, "run", ran),
    ):
        yield heard


def explain(statement: str, values: Any) -> dict[str, Any]:
    """The server's plan; for any values where a statement was prepared."""
    form = "FORMAT JSON"
    if values is None and "$1" in statement:
        form, statement, values = "FORMAT JSON, GENERIC_PLAN", statement.replace("%", "%%"), []
    with connections["default"].cursor() as cursor:
        cursor.execute(f"EXPLAIN ({form}) {statement}", values)
        [[[found]]] = cursor.fetchall()
    plan: dict[str, Any] = found["Plan"]
    return plan


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", []):
        yield from nodes(below)


def conditions(node: dict[str, Any]) -> str:
    text = " ".join(str(node[name]) for name in CONDITIONS if name in node)
    return PART.sub(r"part\2.id", text)  # what another part of the statement found


def is_key(column: str) -> bool:
    return column == "id" or column.endswith("_id")


def reads(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each table that is read, and what chooses its rows: "organisation", "account" or "key" by
    what was given for it, or for what it is joined with; "" for none of them. Rows that are
    inserted are of whom they say."""
    joined, given, found = Joined(), Joined(), list[tuple[str, str]]()
    for node in nodes(plan):
        if "Relation Name" in node and node["Node Type"] != "ModifyTable":
            found.append((MONTH.sub("", node["Relation Name"]), name_of(node)))
        if node["Node Type"] in ("Function Scan", "Values Scan"):
            given.setdefault(name_of(node), set()).add("key")  # ids that this process has
        join_parts(node, joined)
        read_conditions(node, joined, given)
    for table, alias in found:
        kinds = {kind for one in reached(joined, alias) for kind in given.get(one, ())}
        yield table, next((kind for kind in (*KINDS.values(), "key") if kind in kinds), "")


def join_parts(node: dict[str, Any], joined: Joined) -> None:
    """A part of a statement that has a name is of whom its tables are."""
    if node["Node Type"] == "Subquery Scan":
        link(joined, name_of(node), *map(name_of, nodes(node)))
    if part := node.get("Subplan Name", ""):
        name = part if part.startswith("CTE ") else f"part{part.rpartition(' ')[2]}"
        link(joined, name, *map(name_of, nodes(node)))
    if node["Node Type"] == "CTE Scan":
        link(joined, name_of(node), f"CTE {node['CTE Name']}")


def read_conditions(node: dict[str, Any], joined: Joined, given: Joined) -> None:
    own = next((name_of(one) for one in nodes(node) if name_of(one)), "")
    for left, right in PAIR.findall(conditions(node)):
        of, _, column = left.rpartition(".")
        other, _, foreign = right.rpartition(".")
        if not (is_key(column) or is_key(foreign)):
            continue
        if other:
            link(joined, bare(of) or own, bare(other))
        else:
            given.setdefault(bare(of) or own, set()).add(KINDS.get(column, "key"))


def name_of(node: dict[str, Any]) -> str:
    return bare(node.get("Alias", ""))


def bare(alias: str) -> str:
    """The month of a partitioned table has a number behind the name that conditions have."""
    return re.sub(r"_\d+$", "", alias)


def link(joined: Joined, first: str, *others: str) -> None:
    for other in filter(None, others):
        joined.setdefault(first, set()).add(other)
        joined.setdefault(other, set()).add(first)


def reached(joined: Joined, alias: str) -> set[str]:
    known, new = set[str](), {alias}
    while new:
        known |= new
        new = {other for one in new for other in joined.get(one, ())} - known
    return known


def owned() -> frozenset[str]:
    """Tables whose rows belong to one organisation."""
    found: set[Any] = {Organisation}
    before = 0
    while before != len(found):
        before = len(found)
        for model in apps.get_models(include_auto_created=True):
            fields = model._meta.concrete_fields
            if any(
                one.name == "tenant_id" or (one.is_relation and one.related_model in found)
                for one in fields
            ):
                found.add(model)
    return frozenset(model._meta.db_table for model in found)


def test_every_statement_of_a_mail_a_chat_an_approval_and_pages_is_of_one_organisation(
    office: Office,
) -> None:
    operator = log_in("olga", *RIGHTS)
    web = Frontend(office, "chat", "approvals")
    with listening() as heard:
        office.deliver("question")
        office.deliver("newsletter")
        office.drain()
        web.ask("POST", "/chat", {"user_id": "maya", "message": "What is on my calendar tomorrow?"})
        mail = office.deliver("thread_update")
        wish = {
            "to": [mail["from"]],
            "subject": "Re: x",
            "body": "Thanks.",
            "reply_to_id": mail["id"],
        }
        send = calls(("execute_action", {"action_type": "send_email", "params": wish}))
        with scripted({INGEST: [SUMMARY], READER: [send, "It waits."]}):
            office.drain()
        cards: Any = web.ask("GET", "/approvals?user_id=maya", None)
        [card] = cards
        answer = {"user_id": "maya", "decision": "confirm", "digest": card["digest"]}
        web.ask("POST", f"/approvals/{card['id']}/decide", answer)
        office.drain()
        assert [operator.get(page).status_code for page in PAGES] == [200] * len(PAGES)

    tables, kinds, crossing, used = owned(), dict[str, int](), [], set()
    for statement, values in heard.statements.items():
        for table, kind in reads(explain(statement, values)):
            if table not in tables:
                continue
            if kind:
                kinds[kind] = kinds.get(kind, 0) + 1
                continue
            known = {words for words in EXCEPTIONS if words in statement}
            used |= known
            if not known:
                crossing.append((table, statement))

    assert Approval.objects.get().state == "executed"
    assert len(heard.statements) > 100
    assert crossing == []
    assert used == set(EXCEPTIONS)
    assert set(kinds) == {"organisation", "account", "key"}
