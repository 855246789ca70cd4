from tests.sandbox.data_service.client import Client, error

FAR = {"start": "2030-05-02T09:00:00Z", "end": "2030-05-02T10:00:00+00:00"}


def test_an_event_is_created_changed_and_cancelled(office: Client) -> None:
    created = office.post(
        "/maya/calendar/events",
        {"title": "Try-out", "attendees": ["dana@x.example"], "create_meet_link": True, **FAR},
    )
    assert created.status_code == 201
    id = created.json()["id"]
    assert created.json()["url"] == f"https://calendar.company.com/event/{id}"
    assert created.json()["meet_link"].startswith("https://meet.company.com/")

    path = f"/maya/calendar/events/{id}"
    changed = office.write("PATCH", path, {"location": "Kitchen"}).json()
    assert changed["title"] == "Try-out"
    assert (changed["start"], changed["end"]) == (
        "2030-05-02T09:00:00.000000Z",
        "2030-05-02T10:00:00.000000Z",
    )
    assert changed["attendees"] == [
        {
            "email": "dana@x.example",
            "name": "",
            "status": "needs_action",
            "added_by": "maya@company.com",
            "proposed_start": None,
            "proposed_end": None,
        }
    ]
    assert (changed["location"], changed["created_by"]) == ("Kitchen", "maya@company.com")
    assert changed["version"] == 2
    assert office.write("PATCH", path, {"location": "Kitchen"}).json() == changed

    assert error(office.write("PATCH", path, {"end": FAR["start"]})) == (422, "invalid_body")
    assert office.write("DELETE", path).status_code == 204
    assert error(office.get(f"/maya/events/{id}")) == (404, "unknown_event")
    assert error(office.write("DELETE", path)) == (404, "unknown_event")


def test_an_event_without_a_link_has_none(office: Client) -> None:
    created = office.post("/maya/calendar/events", {"title": "Walk", "location": None, **FAR})
    assert created.json()["meet_link"] is None


def test_attendees_who_stay_keep_their_answers(office: Client) -> None:
    event = next(e for e in office.items("/maya/events") if e["title"] == "Lunch with Ben")
    [ben] = [one for one in event["attendees"] if one["name"] == "Ben Archer"]
    assert (ben["status"], ben["added_by"]) == ("accepted", "maya@company.com")
    changed = office.write(
        "PATCH",
        f"/maya/calendar/events/{event['id']}",
        {"attendees": ["ben@archerconsulting.example", "new@x.example"]},
    ).json()
    assert changed["attendees"] == [
        ben,
        {
            "email": "new@x.example",
            "name": "",
            "status": "needs_action",
            "added_by": "maya@company.com",
            "proposed_start": None,
            "proposed_end": None,
        },
    ]


def test_the_next_issue_of_a_project_gets_the_next_key(office: Client) -> None:
    body = {"project_key": "PROJ", "type": "task", "summary": "Setup CI/CD"}
    first = office.post("/maya/jira/issues", {**body, "priority": None, "assignee": None})
    assert first.status_code == 201
    assert set(first.json()) == {"id", "key", "url"}
    assert first.json()["key"] == "PROJ-101"
    assert first.json()["url"] == "https://jira.company.com/browse/PROJ-101"
    assert office.post("/maya/jira/issues", body).json()["key"] == "PROJ-102"
    assert office.post("/omar/jira/issues", body).json()["key"] == "PROJ-1"

    issue = office.get("/maya/jira/issues/PROJ-101").json()
    assert (issue["status"], issue["priority"], issue["reporter"]) == (
        "To Do",
        "medium",
        "maya@company.com",
    )


def test_an_issue_of_an_unknown_project_is_refused(office: Client) -> None:
    body = {"project_key": "NONE", "type": "task", "summary": "x"}
    assert error(office.post("/maya/jira/issues", body)) == (404, "unknown_project")


def test_an_issue_is_changed_by_key(office: Client) -> None:
    before = office.get("/maya/jira/issues/PROJ-95").json()
    change = {"status": "In Progress", "assignee": "tomasz@company.com", "due_date": "2030-05-02"}
    after = office.write("PATCH", "/maya/jira/issues/PROJ-95", change).json()
    assert after == before | change | {"version": 2, "updated_at": after["updated_at"]}
    cleared = office.write("PATCH", "/maya/jira/issues/PROJ-95", {"assignee": None}).json()
    assert (cleared["assignee"], cleared["due_date"]) == (None, "2030-05-02")


def test_a_comment_stands_in_the_issue(office: Client) -> None:
    created = office.post("/maya/jira/issues/PROJ-95/comments", {"body": "Agreed with Elin."})
    assert created.status_code == 201
    assert created.json()["author"] == "maya@company.com"
    issue = office.get("/maya/jira/issues/PROJ-95").json()
    assert issue["comments"] == [created.json()]
    assert issue["version"] == 2


def test_a_document_is_created_changed_moved_and_shared(office: Client) -> None:
    created = office.post(
        "/maya/documents", {"name": "Åre notes", "content": "One.", "folder_id": "drive_meetings"}
    )
    assert created.status_code == 201
    id = created.json()["id"]
    assert created.json() == {"id": id, "url": f"https://drive.company.com/d/{id}"}
    path = f"/maya/documents/{id}"
    first = office.get(path).json()
    assert (first["folder_path"], first["mime_type"], first["size_bytes"]) == (
        "/Meetings",
        "text/markdown",
        4,
    )

    longer = office.write("PATCH", path, {"mode": "append", "content": " Två."}).json()
    assert (longer["content_text"], longer["size_bytes"]) == ("One. Två.", 10)
    assert longer["modified_at"] > first["modified_at"]
    other = office.write("PATCH", path, {"mode": "replace", "content": "New."}).json()
    assert other["content_text"] == "New."
    same = office.write("PATCH", path, {"mode": "replace", "content": "New."}).json()
    assert same == other

    moved = office.post(f"{path}/move", {"folder_id": "drive_portal"}).json()
    assert (moved["folder_id"], moved["folder_path"]) == ("drive_portal", "/Clients/Portal")
    assert error(office.post(f"{path}/move", {"folder_id": "folder_clients"})) == (
        404,
        "unknown_folder",
    )

    shared = office.post(f"{path}/share", {"email": "dana@x.example", "role": "reader"}).json()
    assert shared["shared_with"] == ["dana@x.example"]
    assert shared["roles"] == {"dana@x.example": "reader"}
    again = office.post(f"{path}/share", {"email": "dana@x.example", "role": "reader"}).json()
    assert again == shared
    writer = office.post(f"{path}/share", {"email": "dana@x.example", "role": "writer"}).json()
    assert (writer["shared_with"], writer["roles"]) == (
        ["dana@x.example"],
        {"dana@x.example": "writer"},
    )
    alone = office.post(f"{path}/unshare", {"email": "dana@x.example"}).json()
    assert (alone["shared_with"], alone["roles"]) == ([], {})
    assert office.post(f"{path}/unshare", {"email": "dana@x.example"}).json() == alone


def test_a_document_in_an_unknown_folder_is_refused(office: Client) -> None:
    body = {"name": "x", "folder_id": "folder_clients"}
    assert error(office.post("/maya/documents", body)) == (404, "unknown_folder")
