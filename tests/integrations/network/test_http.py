"""The data service client against the real sandbox, with its faults switched on."""

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from integrations import exceptions
from integrations.accounts.reads import mail_reader, reader
from integrations.contracts import AccountRef
from integrations.network import http
from integrations.ports.evidence import NotPerformed, Performed
from integrations.providers.data_service.writer import DataServiceWriter
from tests.raw_server import ok, saying
from tests.sandbox_server import KEY, RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db  # where the pace of every data service is kept


@pytest.fixture
def sandbox(settings: Any) -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        settings.DATA_SERVICES = {"default": running.url}
        settings.DATA_SERVICE_KEYS = {"default": KEY}
        yield running


def account(user: str = "maya") -> AccountRef:
    return AccountRef(
        id=uuid.uuid4(),
        organisation_id=uuid.uuid4(),
        organisation_slug="default",
        external_user_id=user,
        kind="mail",
        provider="data_service",
        source="gmail",
        address="maya@company.com",
        display_name="Maya",
        time_zone="UTC",
        paused=False,
    )


def faults(sandbox: RunningSandbox, **values: Any) -> None:
    httpx.put(f"{sandbox.control}/faults", json=values, headers=sandbox.headers).raise_for_status()


def calls(sandbox: RunningSandbox) -> list[dict[str, Any]]:
    answer = httpx.get(f"{sandbox.control}/calls", headers=sandbox.headers).json()
    return list(answer["items"])


def test_every_mail_is_read_once_over_all_pages(sandbox: RunningSandbox) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = reader(account()).items(since=None, cursor=cursor, limit=7)
        seen += [mail.id for mail in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) >= 60


def test_a_read_survives_passing_faults(sandbox: RunningSandbox) -> None:
    faults(sandbox, error_rate=0.2, rate_limit_rate=0.03, seed=1)

    for _ in range(10):
        assert len(mail_reader(account()).labels()) >= 8


def test_an_unknown_id_is_not_found_and_is_not_retried(sandbox: RunningSandbox) -> None:
    with pytest.raises(exceptions.NotFound):
        mail_reader(account()).email("nothing")


@pytest.mark.parametrize("id", ["..", ".", "", "a/../../omar/emails/x", "a?b=c", "a#b", "%2e%2e"])
def test_an_id_never_leaves_its_path(sandbox: RunningSandbox, id: str) -> None:
    with pytest.raises(exceptions.NotFound):
        mail_reader(account()).email(id)


def test_a_wrong_key_needs_an_operator(sandbox: RunningSandbox, settings: Any) -> None:
    settings.DATA_SERVICE_KEYS = {"default": "wrong"}

    with pytest.raises(exceptions.NotPermitted) as caught:
        mail_reader(account()).labels()

    assert caught.value.retryable is False


def test_an_organisation_without_a_data_service_is_not_permitted(settings: Any) -> None:
    settings.DATA_SERVICES = {}

    with pytest.raises(exceptions.NotPermitted):
        mail_reader(account()).labels()


def test_a_write_with_a_key_happens_once_although_the_answer_is_lost(
    sandbox: RunningSandbox, settings: Any
) -> None:
    settings.DATA_SERVICE_ATTEMPTS = 12
    faults(sandbox, fail_after_perform_rate=0.6, seed=3)

    issue = DataServiceWriter(account()).create_issue(
        project_key="PROJ",
        type="task",
        summary="Once",
        description="",
        priority=None,
        labels=[],
        assignee=None,
        due_date=None,
        key="remit-1",
    )

    performed = [call for call in calls(sandbox) if call["performed"] and not call["replayed"]]
    assert issue["key"] == "PROJ-101"
    assert len(performed) == 1
    evidence = reader(account()).evidence("remit-1")
    assert isinstance(evidence, Performed)
    assert evidence.response["key"] == "PROJ-101"
    assert isinstance(reader(account()).evidence("remit-2"), NotPerformed)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("req_0123-abc.DEF/4", ["req_0123-abc.DEF/4"]),
        ("x" * 200, ["x" * 200]),
        ("x" * 201, []),
        ("two words", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("status", [b"200 OK", b"404 Not Found"])
def test_what_the_other_side_calls_a_request_is_given(
    header: str, name: list[str], status: bytes
) -> None:
    heard: list[str] = []
    line = f"X-Request-Id: {header}".encode()
    with (
        saying([ok(b"{}", line).replace(b"200 OK", status)]) as server,
        contextlib.suppress(exceptions.NotFound),
    ):
        http.request(http.client(server.url), "POST", "/", named=heard.append)
    assert heard == name


def test_a_connection_that_was_never_made_cannot_have_done_anything(settings: Any) -> None:
    settings.DATA_SERVICES = {"default": "http://127.0.0.1:9/v1/data"}
    settings.DATA_SERVICE_KEYS = {"default": KEY}
    settings.DATA_SERVICE_ATTEMPTS = 2

    with pytest.raises(exceptions.Unavailable) as caught:
        DataServiceWriter(account()).archive("m1", key="k")

    assert caught.value.outcome_unknown is False


def test_one_attempt_that_may_have_acted_makes_the_outcome_unknown(
    sandbox: RunningSandbox, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_SERVICE_ATTEMPTS = 2
    errors = iter([exceptions.Unavailable("500"), exceptions.RateLimited("429")])

    def fail(*_: Any) -> None:
        raise next(errors)

    monkeypatch.setattr(http, "_once", fail)

    with pytest.raises(exceptions.RateLimited) as caught:
        DataServiceWriter(account()).archive("m1", key="k")

    assert caught.value.outcome_unknown is True
