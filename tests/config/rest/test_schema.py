"""What the API's schema promises, held against the API by schemathesis: a sample of what
`make bench NAME=fuzz` tries. No answer is a 5xx, and none has a status or a shape that is not
documented."""

import os
from typing import Any, NoReturn

import jsonschema  # type: ignore[import-untyped]
import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given, settings, strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from integrations.models import Account, Organisation, ServiceToken
from integrations.network import outgoing
from integrations.web.stale import HEADER

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))
SCHEMA = schemathesis.openapi.from_wsgi("/api/schema?format=json", get_wsgi_application())
FOUND: list[Any] = list(SCHEMA.get_all_operations())
OPERATIONS = {found.ok().label: found.ok() for found in FOUND}
CHECKS = [
    *(not_a_server_error, status_code_conformance),
    *(content_type_conformance, response_schema_conformance),
]
# They wait for a model: here nobody who is known asks them.
ASKS_A_MODEL = {"POST /api/v1/chat", "POST /api/v1/tasks"}


@pytest.fixture
def token() -> str:
    organisation = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail", address="m@a.example"
    )
    scopes = ServiceToken.Scope.values
    return ServiceToken.issue(organisation=organisation, name="fuzz", scopes=scopes)[1]


@pytest.fixture(autouse=True)
def nobody_out_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of accounts look for servers that were made up: they find that no name has any."""

    def look_up(*given: object) -> NoReturn:
        raise OSError

    monkeypatch.setattr(outgoing, "_addresses", look_up)


def name_maya(part: Any) -> None:
    """Ask about a user who is there."""
    if isinstance(part, dict) and "user_id" in part:
        part["user_id"] = "maya"


@pytest.mark.parametrize("label", OPERATIONS)
def test_each_operation_answers_as_documented(label: str, token: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=OPERATIONS[label].as_strategy(), known=st.booleans(), maya=st.booleans())
    def answers_well(case: Any, known: bool, maya: bool) -> None:
        if maya and label not in ASKS_A_MODEL:
            name_maya(case.query)
            name_maya(case.body)
        headers = {"Authorization": f"Bearer {token}"} if known else {}
        case.validate_response(case.call(headers=headers), checks=CHECKS)

    answers_well()


def test_answers_that_may_be_a_moment_old_are_those_that_can_say_of_when_they_are() -> None:
    raw: Any = SCHEMA.raw_schema
    dated = {
        (one["operationId"], status): answer["headers"][HEADER]["schema"]
        for path in raw["paths"].values()
        for one in path.values()
        for status, answer in one["responses"].items()
        if HEADER in answer.get("headers", {})
    }

    assert dated == {("search", "200"): {"type": "string", "format": "date-time"}}


def test_each_operation_has_a_summary_a_group_its_errors_and_an_example_that_fits() -> None:
    raw: Any = SCHEMA.raw_schema
    groups = {tag["name"] for tag in raw["tags"]}
    operations = [one for path in raw["paths"].values() for one in path.values()]

    for one in operations:
        assert 3 < len(one["summary"]) < 80, one["operationId"]
        assert set(one["tags"]) <= groups
        assert {"400", "401", "403", "404", "429", "500", "503"} <= set(one["responses"])
        if "requestBody" in one:
            body = one["requestBody"]["content"]["application/json"]
            jsonschema.validate(body["example"], raw | body["schema"])
    keys = {
        one["operationId"]
        for path, ways in raw["paths"].items()
        for method, one in ways.items()
        if method == "post"
        and path.startswith("/api/")
        and not any(given["name"] == "Idempotency-Key" for given in one["parameters"])
    }
    assert keys == set()
