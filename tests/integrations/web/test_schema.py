"""The schema of the API says which scope an operation needs, and the operation keeps to it; each
is tried about what another organisation has."""

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from agents.models import Conversation, PastRun, Suggestion, Turn
from guardrails.models import Approval, HeldSend, LearnedPattern, Skill
from integrations.models import Account, Organisation, ServiceToken
from knowledge.models import SyncRun
from tests.audit.entries import append_action
from tests.rows import Rows

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
# Ids, digests and times of an answer itself, such as those of an export.
OF_THIS_ANSWER = re.compile(r'[0-9a-f-]{32,}|\d{4}-\d\d-\d\dT[\d:.+Z]+|"snapshot":"[^"]*"')
NOWHERE = "00000000-0000-4000-8000-000000000000"


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]  # type: ignore[no-untyped-call]
    return [
        (path, method, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "serviceToken" in str(operation.get("security"))
    ]


def needed(operation: dict[str, Any]) -> list[str]:
    (scopes,) = (one["serviceToken"] for one in operation["security"] if "serviceToken" in one)
    return list(scopes)


def test_an_operation_names_one_scope_and_refuses_a_token_without_it() -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    scopes = set(ServiceToken.Scope.values)
    tried = 0
    for path, method, operation in operations():
        (scope,) = needed(operation)
        assert f"Needs the scope `{scope}`." in operation["description"]
        others = ServiceToken.issue(
            organisation=organisation, name="others", scopes=sorted(scopes - {scope})
        )[1]
        answer = Client().generic(
            method.upper(),
            re.sub(r"{\w+}", NOWHERE, path),
            headers={"Authorization": f"Bearer {others}"},
        )
        assert answer.status_code == 403, path
        assert f"“{scope}”" in answer.content.decode()
        tried += 1

    assert tried > 30


class Neighbour:
    """What an organisation has, by the names that operations give it."""

    def __init__(self, mark: str) -> None:
        rows = Rows(f"{mark}-{uuid4().hex[:6]}")
        account, approval = rows.of(Account), rows.of(Approval)
        action_id = append_action(tenant_id=rows.organisation.id, account_id=account.id)
        self.rows = rows
        self.names = {
            "user_id": account.external_user_id,
            "external_user_id": account.external_user_id,
            "session_id": rows.of(Conversation).id,
            "conversation_id": rows.of(Conversation).id,
            "turn_id": rows.of(Turn).id,
            "sync_id": rows.of(SyncRun).id,
            "past_run_id": rows.of(PastRun).id,
            "pattern_id": rows.of(LearnedPattern).id,
            "skill_id": rows.of(Skill).id,
            "suggestion_id": rows.of(Suggestion).id,
            "approval_id": approval.id,
            "question_id": approval.question or approval.id,
            "held_send_id": rows.of(HeldSend).id,
            "account_id": account.id,
            "action_id": action_id,
            "id": approval.id,
            "confirm_actions": [approval.id],
            "cursor": "",
        }


def value(schema: dict[str, Any], parts: dict[str, Any], name: str, named: dict[str, Any]) -> Any:
    """One that fits the schema, with what `named` says in the places of these names."""
    if name in named:
        return named[name]
    for one in (schema, *schema.get("allOf", ()), *schema.get("oneOf", ())):
        if "$ref" in one:
            return value(parts[one["$ref"].rpartition("/")[2]], parts, name, named)
    if "properties" in schema:
        wanted = {*schema.get("required", ()), *(set(named) & set(schema["properties"]))}
        return {
            field: value(schema["properties"][field], parts, field, named)
            for field in sorted(wanted)
        }
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [value(schema["items"], parts, "", named)]
    return {"integer": 1, "number": 1, "boolean": True, "object": {}}.get(str(kind), "x")


def ask(
    token: str, path: str, method: str, operation: dict[str, Any], named: dict[str, Any], parts: Any
) -> tuple[int, str]:
    """The answer, without the ids that were asked for."""
    given = {
        one["name"]: value(one["schema"], parts, one["name"], named)
        for one in operation.get("parameters", ())
        if one["in"] == "query" and (one.get("required") or one["name"] in named)
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    answer = Client().generic(
        method.upper(),
        re.sub(r"{(\w+)}", lambda found: str(named[found[1]]), path),
        json.dumps(value(body["schema"], parts, "", named), default=str) if body else "",
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
        query_params={key: str(one) for key, one in given.items() if one != ""},
    )
    text = answer.getvalue().decode()
    for one in named.values():
        text = text.replace(str(one[0] if isinstance(one, list) else one) or "\0", "THIS")
    return answer.status_code, OF_THIS_ANSWER.sub("", text)


def test_what_another_organisation_has_is_as_unknown_as_nothing() -> None:
    own, other = Neighbour("own"), Neighbour("zebra")
    token = ServiceToken.issue(
        organisation=own.rows.organisation, name="web", scopes=list(ServiceToken.Scope.values)
    )[1]
    parts = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]  # type: ignore[no-untyped-call]
    nobodys = {
        name: "nobody"
        if "user" in name
        else [uuid4()]
        if isinstance(one, list)
        else one and uuid4()
        for name, one in other.names.items()
    }
    differ, tried = [], 0
    for path, method, operation in operations():
        answers = [
            ask(token, path, method, operation, named, parts) for named in (other.names, nobodys)
        ]
        tried += 1
        if answers[0] != answers[1] or other.rows.mark in answers[0][1]:
            differ.append((path, method, *(text[:600] for _, text in answers)))

    assert differ == []
    assert tried > 30
