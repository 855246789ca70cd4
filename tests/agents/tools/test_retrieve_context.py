"""What a model may look for, and in whose accounts."""

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from agents.contracts import Person
from agents.tools.retrieve_context import RetrieveContext
from integrations.contracts import AccountRef
from knowledge.contracts import SearchRequest

ACCOUNT = AccountRef(
    id=uuid.uuid4(),
    organisation_id=uuid.uuid4(),
    organisation_slug="default",
    external_user_id="maya",
    kind="mail",
    provider="data_service",
    source="gmail",
    address="maya@company.com",
    display_name="Maya",
    time_zone="Europe/Stockholm",
    paused=False,
)
MAYA = Person(organisation_id=ACCOUNT.organisation_id, external_user_id="maya", accounts=(ACCOUNT,))


def asked(**arguments: Any) -> SearchRequest:
    return RetrieveContext.model_validate({"query": "rota"} | arguments).request(MAYA)


def test_every_filter_reaches_the_search() -> None:
    shown = uuid.uuid4()
    arguments = RetrieveContext.model_validate(
        {
            "query": "rota",
            "sources": ["gdrive", "jira"],
            "types": ["document"],
            "time_filter": "last_week",
            "entity_filter": "omar@company.com",
            "limit": 3,
        }
    )

    assert arguments.request(MAYA, excluded={shown}) == SearchRequest(
        account_ids=(ACCOUNT.id,),
        query="rota",
        sources=("gdrive", "jira"),
        content_types=("document",),
        time_filter="last_week",
        time_zone="Europe/Stockholm",
        entity="omar@company.com",
        excluded_ids=(shown,),
        limit=3,
    )


def test_a_time_without_a_zone_is_the_users_own() -> None:
    request = asked(time_filter="custom", since="2026-07-01", until="2026-07-02T08:00:00Z")

    assert request.since is not None
    assert request.since.astimezone(UTC) == datetime(2026, 6, 30, 22, tzinfo=UTC)
    assert request.until == datetime(2026, 7, 2, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "arguments",
    [
        {"time_filter": "custom"},
        {"time_filter": "today", "until": "2026-07-01"},
        {"time_filter": "custom", "since": "yesterday"},
        {"types": ["mail"]},
        {"sources": ["nowhere"]},
        {"limit": 51},
        {"account_ids": [str(ACCOUNT.id)]},
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        asked(**arguments)
