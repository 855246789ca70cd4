"""Writes that are held to the version the client saw, and who else sees what."""

import httpx

from tests.integrations.sandbox.data_service.client import Client, error


def appended(office: Client, *, document: str, version: int, key: str) -> httpx.Response:
    return office.http.patch(
        f"{office.sandbox.url}/users/maya/documents/{document}",
        json={"mode": "append", "content": "More."},
        headers={**office.sandbox.headers, "If-Match": str(version), "Idempotency-Key": key},
    )


def test_a_write_to_another_version_does_nothing(office: Client) -> None:
    made = office.post("/maya/documents", {"name": "Notes"}).json()["id"]

    assert appended(office, document=made, version=1, key="k1").json()["version"] == 2
    assert error(appended(office, document=made, version=1, key="k2")) == (412, "version_changed")
    assert appended(office, document=made, version=1, key="k1").json()["version"] == 2  # replayed
    assert office.get(f"/maya/documents/{made}").json()["content_text"] == "More."


def test_an_audience_is_told_with_the_mailbox_and_the_folder(office: Client) -> None:
    assert office.get("/maya/mailbox").json() == {"address": "maya@company.com", "shared_with": []}
    given = {"mailbox": ["omar@company.com"], "folders": {"drive_product": ["a@b.example"]}}

    office.control("PUT", "/users/maya/audiences", given)

    assert office.get("/maya/mailbox").json()["shared_with"] == ["omar@company.com"]
    folders = office.get("/maya/folders").json()["items"]
    shared = {one["id"]: one["shared_with"] for one in folders}
    assert shared["drive_product"] == ["a@b.example"]
    assert shared["drive_roadmap"] == []
    assert office.get("/omar/mailbox").json()["shared_with"] == []
