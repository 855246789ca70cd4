"""Who else sees what."""

from tests.sandbox.data_service.client import Client


def test_an_audience_is_given_with_the_mailbox_and_the_folder(office: Client) -> None:
    assert office.get("/maya/mailbox").json() == {"address": "maya@company.com", "shared_with": []}
    given = {"mailbox": ["omar@company.com"], "folders": {"drive_product": ["a@b.example"]}}

    office.control("PUT", "/users/maya/audiences", given)

    assert office.get("/maya/mailbox").json()["shared_with"] == ["omar@company.com"]
    folders = office.get("/maya/folders").json()["items"]
    shared = {one["id"]: one["shared_with"] for one in folders}
    assert shared["drive_product"] == ["a@b.example"]
    assert shared["drive_roadmap"] == []
    assert office.get("/omar/mailbox").json()["shared_with"] == []
