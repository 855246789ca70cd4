import httpx
import pytest

from sandbox.data_service.faults import Faults, FaultSettings, Strike
from tests.sandbox.data_service.client import Client, error
from tests.sandbox_server import running_sandbox

ISSUE = {"project_key": "PROJ", "type": "task", "summary": "Once"}
NO_FAULTS = {
    "latency_ms": 0,
    "error_rate": 0.0,
    "timeout_rate": 0.0,
    "rate_limit_rate": 0.0,
    "fail_after_perform_rate": 0.0,
    "duplicate_webhooks": False,
    "reorder_webhooks": False,
    "seed": 0,
}


def test_there_are_no_faults_until_they_are_switched_on(office: Client) -> None:
    assert office.control("GET", "/faults") == NO_FAULTS
    assert office.control("PUT", "/faults", {"error_rate": 1}) == NO_FAULTS | {"error_rate": 1.0}
    assert office.control("PUT", "/faults", {"seed": 7}) == NO_FAULTS | {"seed": 7}
    office.control("PUT", "/faults", {"error_rate": 1})
    office.control("POST", "/reset")
    assert office.control("GET", "/faults") == NO_FAULTS


@pytest.mark.parametrize(
    "faults",
    [{"error_rate": 1.1}, {"error_rate": "1"}, {"latency_ms": -1}, {"eror_rate": 1}, {"seed": 1.5}],
)
def test_faults_that_make_no_sense_are_refused(office: Client, faults: dict[str, object]) -> None:
    assert error(office.try_control("PUT", "/faults", faults)) == (422, "invalid_body")
    assert office.control("GET", "/faults") == NO_FAULTS


@pytest.mark.parametrize(
    ("fault", "expected"),
    [("rate_limit_rate", (429, "rate_limited")), ("error_rate", (500, "internal"))],
)
def test_a_struck_write_does_nothing_and_can_be_tried_again(
    office: Client, fault: str, expected: tuple[int, str]
) -> None:
    office.control("PUT", "/faults", {fault: 1})
    assert error(office.get("/maya/emails")) == expected
    response = office.post("/maya/jira/issues", ISSUE, key="k1")
    assert error(response) == expected
    assert response.headers.get("retry-after") == ("1" if expected[0] == 429 else None)
    (call,) = office.calls()
    assert (call["performed"], call["replayed"], call["status"]) == (False, False, expected[0])
    assert call["idempotency_key"] == "k1"
    assert office.history() == []

    office.control("PUT", "/faults", {})
    assert office.post("/maya/jira/issues", ISSUE, key="k1").json()["key"] == "PROJ-101"


def test_a_request_that_times_out_did_nothing(office: Client) -> None:
    office.control("PUT", "/faults", {"timeout_rate": 1})
    impatient = Client(sandbox=office.sandbox, http=httpx.Client(trust_env=False, timeout=0.2))
    with impatient.http:
        with pytest.raises(httpx.ReadTimeout):
            impatient.post("/maya/jira/issues", ISSUE, key="k1")
        with pytest.raises(httpx.ReadTimeout):
            impatient.get("/maya/emails")
    office.control("PUT", "/faults", {})
    (call,) = office.calls()
    assert (call["performed"], call["status"]) == (False, None)
    assert error(office.get("/maya/operations/k1")) == (404, "unknown_operation")


def test_the_effect_can_happen_although_the_client_sees_a_failure(office: Client) -> None:
    office.control("PUT", "/faults", {"fail_after_perform_rate": 1, "seed": 3})
    seen: list[int | None] = []
    for number in range(12):
        try:
            response = office.post("/maya/jira/issues", ISSUE, key=f"k{number}")
            assert error(response) == (500, "internal")
            seen.append(500)
        except httpx.RemoteProtocolError:
            seen.append(None)
    assert set(seen) == {500, None}
    assert [(call["performed"], call["status"]) for call in office.calls()] == [
        (True, status) for status in seen
    ]
    assert len(office.items("/maya/emails")) > 0  # reads are not struck

    office.control("PUT", "/faults", {})
    for number in range(12):
        assert office.get(f"/maya/operations/k{number}").json()["status"] == 201
        again = office.post("/maya/jira/issues", ISSUE, key=f"k{number}")
        assert again.headers["idempotent-replay"] == "true"
        assert again.json()["key"] == f"PROJ-{101 + number}"
    assert len(office.history()) == 12


def test_latency_delays_and_changes_nothing_else(office: Client) -> None:
    office.control("PUT", "/faults", {"latency_ms": 20})
    response = office.get("/maya/jira/projects")
    assert response.status_code == 200
    assert response.elapsed.total_seconds() >= 0.02


def test_a_seed_fixes_the_sequence_of_faults() -> None:
    settings = FaultSettings(error_rate=0.3, rate_limit_rate=0.2, fail_after_perform_rate=0.4)

    def drawn(seed: int) -> list[Strike]:
        faults = Faults(settings.model_copy(update={"seed": seed}))
        return [faults.draw() for _ in range(200)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert {Strike.NOTHING, Strike.ERROR, Strike.RATE_LIMIT, Strike.ERROR_AFTER} <= set(drawn(1))


def test_faults_last_over_a_restart(tmp_path: object, http: httpx.Client) -> None:
    state = f"{tmp_path}/state.sqlite3"
    with running_sandbox(state=state) as sandbox:
        Client(sandbox=sandbox, http=http).control("PUT", "/faults", {"error_rate": 1})
    with running_sandbox(state=state) as sandbox:
        assert error(Client(sandbox=sandbox, http=http).get("/maya/labels")) == (500, "internal")
