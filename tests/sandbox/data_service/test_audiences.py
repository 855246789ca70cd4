"""Who else sees what."""

from tests.sandbox.data_service.client import Client


def test_an_audience_is_given_with_the_mailbox_and_the_folder(office: Client) -> None:
    mailbox = office.get("/maya/mailbox").json()
    assert (mailbox["address"], mailbox["shared_with"]) == ("maya@company.com", [])
    given = {"mailbox": ["omar@company.com"], "folders": {"drive_product": ["a@b.example"]}}

    office.control("PUT", "/users/maya/audiences", given)

    assert office.get("/maya/mailbox").json()["shared_with"] == ["omar@company.com"]
    folders = office.get("/maya/folders").json()["items"]
    shared = {one["id"]: one["shared_with"] for one in folders}
    assert shared["drive_product"] == ["a@b.example"]
    assert shared["drive_roadmap"] == []
    assert office.get("/omar/mailbox").json()["shared_with"] == []


def test_the_members_of_a_project_are_the_user_and_whom_the_control_api_says(
    office: Client,
) -> None:
    everybody = office.get("/maya/jira/projects/OPS/members").json()["items"]
    assert everybody[:2] == [
        {"address": "maya@company.com", "name": "Maya Lindqvist"},
        {"address": "omar@company.com", "name": "Omar Haddad"},
    ]
    assert "priya@company.com" not in [one["address"] for one in everybody]

    office.control("PUT", "/users/maya/audiences", {"projects": {"OPS": ["a@b.example"]}})

    now = office.get("/maya/jira/projects/OPS/members").json()["items"]
    assert [one["address"] for one in now] == ["maya@company.com", "a@b.example"]
    assert office.get("/maya/jira/projects/NONE/members").json()["error"]["code"] == (
        "unknown_project"
    )
