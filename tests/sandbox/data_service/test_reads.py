from typing import Any

import httpx
import pytest

from tests.sandbox.data_service.client import Client, error, mail

LISTS = ("/emails", "/documents", "/events", "/jira/issues")
OTHER_READS = (
    "/emails/x",
    "/threads/x",
    "/documents/x",
    "/events/x",
    "/jira/issues/x",
    "/jira/projects",
    "/labels",
    "/folders",
    "/drafts",
    "/drafts/x",
    "/correspondence?address=a@b.example",
    "/correspondents",
    "/directory",
    "/operations/x",
)


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic sandbox-key-for-tests"])
@pytest.mark.parametrize("path", ["/v1/data/users/maya/emails", "/sandbox/calls", "/v1/data/x"])
def test_without_the_key_nothing_is_answered(
    office: Client, http: httpx.Client, given: str, path: str
) -> None:
    response = http.get(f"{office.sandbox.origin}{path}", headers={"Authorization": given})
    assert error(response) == (401, "unauthorised")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", LISTS + OTHER_READS)
def test_an_unknown_user_is_a_404(office: Client, path: str) -> None:
    assert error(office.get(f"/nobody{path}")) == (404, "unknown_user")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_together_are_the_whole_list(office: Client, path: str, limit: int) -> None:
    whole = office.items(f"/maya{path}")
    assert office.all_pages(f"/maya{path}", limit=limit) == whole
    assert len({item["id"] for item in whole}) == len(whole)


def test_a_page_has_a_hundred_items_unless_told_otherwise(office: Client) -> None:
    mails = [mail(f"m{number:03}") for number in range(120)]
    office.control("POST", "/users/lea", {})
    office.control("POST", "/users/lea/emails", {"items": mails})
    page = office.get("/lea/emails").json()
    assert [item["id"] for item in page["items"]] == [f"m{number:03}" for number in range(100)]
    assert page["has_more"] is True


def test_paging_loses_nothing_while_mails_come_change_and_go(office: Client) -> None:
    office.control("POST", "/users/lea", {})
    first = [mail(f"m{number}") for number in range(9)]
    office.control("POST", "/users/lea/emails", {"items": first})
    page = office.get("/lea/emails", limit=3).json()
    seen = [item["id"] for item in page["items"]]

    office.control("POST", "/users/lea/emails", {"items": [mail("new", date="2001-01-01T00:00Z")]})
    office.control("PATCH", "/users/lea/emails/m1", {"subject": "changed"})
    office.control("DELETE", "/users/lea/emails/m2")
    office.control("DELETE", "/users/lea/emails/new")
    office.control("POST", "/users/lea/emails", {"items": [mail("newer")]})

    later: list[dict[str, Any]] = []
    while page["has_more"]:
        page = office.get("/lea/emails", limit=3, cursor=page["next_cursor"]).json()
        later += page["items"]
    assert seen == ["m0", "m1", "m2"]
    assert [item["id"] for item in later] == ["m3", "m4", "m5", "m6", "m7", "m8", "m1", "newer"]
    assert [item["subject"] for item in later if item["id"] == "m1"] == ["changed"]


def test_since_gives_what_changed_at_or_after_that_instant(office: Client) -> None:
    mails = office.items("/maya/emails")
    middle = mails[len(mails) // 2]["updated_at"]
    expected = [item["id"] for item in mails if item["updated_at"] >= middle]
    assert [item["id"] for item in office.items("/maya/emails", since=middle)] == expected

    oldest = mails[0]["id"]
    office.post(f"/maya/emails/{oldest}/labels", {"add": ["label_fyi"]})
    changed = office.items("/maya/emails", since=mails[-1]["updated_at"])
    assert [item["id"] for item in changed] == [mails[-1]["id"], oldest]


def test_since_reads_other_zones_and_takes_a_time_without_zone_as_utc(office: Client) -> None:
    moment = office.items("/maya/emails")[40]["updated_at"]
    plain = moment.removesuffix("Z")
    expected = office.items("/maya/emails", since=moment)
    assert office.items("/maya/emails", since=plain) == expected
    assert office.items("/maya/emails", since=f"{plain}+00:00") == expected
    assert len(office.items("/maya/emails", since=f"{plain}+23:00")) > len(expected)


def test_a_page_tells_how_many_come_after_it_unless_it_is_filtered(office: Client) -> None:
    count = len(office.items("/maya/jira/issues"))
    page = office.get("/maya/jira/issues", limit=7).json()
    assert page["remaining"] == count - 7
    page = office.get("/maya/jira/issues", limit=7, cursor=page["next_cursor"]).json()
    assert page["remaining"] == count - 14
    assert office.get("/maya/jira/issues", limit=500).json()["remaining"] == 0
    assert office.get("/maya/jira/issues", limit=1, status="Done").json()["remaining"] is None


def test_a_cursor_that_was_not_made_for_this_listing_is_refused(office: Client) -> None:
    cursor = office.get("/maya/emails", limit=5).json()["next_cursor"]
    payload, _, signature = cursor.partition(".")
    for path, params in (
        ("/maya/emails", {"cursor": "x"}),
        ("/maya/emails", {"cursor": "é.é"}),
        ("/maya/emails", {"cursor": f"{payload}A.{signature}"}),
        ("/maya/emails", {"cursor": cursor, "since": "2026-01-01T00:00:00Z"}),
        ("/maya/documents", {"cursor": cursor}),
        ("/omar/emails", {"cursor": cursor}),
    ):
        assert error(office.get(path, **params)) == (400, "bad_cursor")
    assert office.get("/maya/emails", cursor=cursor, limit=9).status_code == 200


def test_an_expired_cursor_is_a_410_and_new_ones_work(office: Client) -> None:
    cursor = office.get("/maya/emails", limit=5).json()["next_cursor"]
    office.control("POST", "/expire-cursors")
    assert error(office.get("/maya/emails", cursor=cursor)) == (410, "cursor_expired")
    assert len(office.all_pages("/maya/emails", limit=5)) == len(office.items("/maya/emails"))


@pytest.mark.parametrize(
    "params",
    [
        {"limit": "0"},
        {"limit": "501"},
        {"limit": "-1"},
        {"limit": "ten"},
        {"limit": "٣"},
        {"limit": "9" * 5000},
        {"since": "yesterday"},
        {"since": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(office: Client, params: dict[str, str]) -> None:
    assert error(office.get("/maya/emails", **params)) == (400, "bad_parameter")


def test_a_misspelt_parameter_is_refused_not_ignored(office: Client) -> None:
    assert error(office.get("/maya/emails", sinse="2026-01-01")) == (400, "unknown_parameter")


def test_a_thread_comes_oldest_first(office: Client) -> None:
    thread = office.get("/maya/threads/thread_parcelpoint_pilot").json()
    assert thread["id"] == "thread_parcelpoint_pilot"
    assert [message["from"] for message in thread["messages"]] == [
        "dana.levi@parcelpoint.example",
        "maya@company.com",
        "dana.levi@parcelpoint.example",
    ]
    dates = [message["date"] for message in thread["messages"]]
    assert dates == sorted(dates)
    assert error(office.get("/maya/threads/none")) == (404, "unknown_thread")


def test_documents_are_filtered_by_type(office: Client) -> None:
    pdf, sheet = "application/pdf", "application/vnd.google-apps.spreadsheet"
    found = office.items("/maya/documents", mime_types=[pdf, sheet])
    assert {item["mime_type"] for item in found} == {pdf, sheet}
    assert office.items("/maya/documents", mime_types="none/such") == []


def test_events_are_those_that_touch_the_days(office: Client) -> None:
    for number, start, end in (
        (1, "2030-05-01T22:00:00Z", "2030-05-02T01:00:00Z"),
        (2, "2030-05-02T09:00:00Z", "2030-05-02T10:00:00Z"),
        (3, "2030-05-03T00:00:00Z", "2030-05-03T01:00:00Z"),
    ):
        body = {"title": f"Event {number}", "start": start, "end": end}
        assert office.post("/maya/calendar/events", body).status_code == 201

    def titles(**days: str) -> list[str]:
        found = office.items("/maya/events", **days)
        return [item["title"] for item in found if not item["recurrence"]]

    assert titles(start_date="2030-05-02", end_date="2030-05-02") == ["Event 1", "Event 2"]
    assert titles(start_date="2030-05-02") == ["Event 1", "Event 2", "Event 3"]
    assert titles(start_date="2030-05-03", end_date="2030-05-09") == ["Event 3"]
    assert "Event 1" not in titles(end_date="2030-04-30")
    assert error(office.get("/maya/events", start_date="May")) == (400, "bad_parameter")


def test_a_series_is_listed_once_it_has_begun(office: Client) -> None:
    def series(**days: str) -> list[str]:
        found = office.items("/maya/events", **days)
        return [item["title"] for item in found if item["recurrence"]]

    assert "Weekly product meeting" in series(start_date="2099-05-02")
    assert series(end_date="2001-01-01") == []


def test_issues_are_filtered_by_project_and_status(office: Client) -> None:
    found = office.items("/maya/jira/issues", project_keys="OPS", status=["Done", "To Do"])
    assert {item["project_key"] for item in found} == {"OPS"}
    assert {item["status"] for item in found} == {"Done", "To Do"}
    everything = office.items("/maya/jira/issues")
    assert len(found) == sum(
        item["project_key"] == "OPS" and item["status"] in {"Done", "To Do"} for item in everything
    )


def test_an_issue_is_found_by_key_and_by_id(office: Client) -> None:
    by_key = office.get("/maya/jira/issues/PROJ-97").json()
    assert by_key["summary"] == "Export shows dates as numbers"
    assert office.get(f"/maya/jira/issues/{by_key['id']}").json() == by_key


def test_labels_folders_and_projects_are_listed_with_their_ids(office: Client) -> None:
    labels = {item["name"]: item["id"] for item in office.get("/maya/labels").json()["items"]}
    assert set(labels) == {
        "Newsletter",
        "To Reply",
        "Awaiting Reply",
        "FYI",
        "Actioned",
        "Cold",
        "Invoices",
        "Team",
        "Follow Up",
    }
    folders = office.get("/maya/folders").json()["items"]
    assert {"id": "INBOX", "name": "Inbox", "kind": "mail", "shared_with": []} in folders
    assert {
        "id": "drive_portal",
        "name": "/Clients/Portal",
        "kind": "drive",
        "shared_with": [],
    } in folders
    assert office.get("/maya/jira/projects").json() == {
        "items": [
            {"id": "PROJ", "key": "PROJ", "name": "Customer Portal"},
            {"id": "OPS", "key": "OPS", "name": "Operations"},
        ]
    }


def test_drafts_are_listed_by_thread(office: Client) -> None:
    reply_to = office.get("/maya/threads/thread_nystrom_underlag").json()["messages"][0]["id"]
    office.post("/maya/drafts", {"to": ["a@b.example"], "reply_to_id": reply_to, "body": "Hej"})
    office.post("/maya/drafts", {"to": ["c@d.example"], "body": "Other"})
    (draft,) = office.get("/maya/drafts", thread_id="thread_nystrom_underlag").json()["items"]
    assert (draft["body"], draft["reply_to_id"], draft["version"]) == ("Hej", reply_to, 1)
    assert len(office.get("/maya/drafts").json()["items"]) == 2
    assert office.get(f"/maya/drafts/{draft['id']}").json() == draft


def test_correspondence_counts_the_whole_mailbox_for_one_exact_address(office: Client) -> None:
    expected = {"received": 2, "sent": 1}
    for address in ("johnd@client.com", "JohnD@Client.COM"):
        found = office.get("/maya/correspondence", address=address).json()
        assert found["address"] == address
        assert {name: found[name] for name in expected} == expected
        assert found["first_received_at"] < found["first_sent_at"]

    nothing = {
        "received": 0,
        "sent": 0,
        "first_received_at": None,
        "first_sent_at": None,
        "group": False,
    }
    for address in (
        "ohnd@client.com",
        "johnd@client.com.evil.example",
        "%",
        "\u212aofi@company.com",
    ):
        assert office.get("/maya/correspondence", address=address).json() == {
            "address": address,
            **nothing,
        }
    assert error(office.get("/maya/correspondence")) == (400, "bad_parameter")


def test_correspondents_have_the_names_of_the_users_own_mail(office: Client) -> None:
    office.control("POST", "/users/lea", {"address": "lea@company.com"})
    sent = {"from": "lea@company.com", "labels": ["SENT"], "thread_id": "t1"}
    mails: list[dict[str, object]] = [
        {"id": "m1", "to": ["A@b.example"], "receiver_names": {"A@b.example": "Ann"}, **sent},
        {"id": "m2", "from": "eve@evil.example", "from_name": "Ann", "thread_id": "t2"},
        {"id": "m3", "to": ["eve@evil.example"], "receiver_names": {"eve@evil.example": "Ann"}},
    ]
    mails[2] |= {**sent, "thread_id": "t2"}
    dated = [{**one, "date": f"2026-03-0{at}T09:00:00Z"} for at, one in enumerate(mails, start=1)]
    office.control("POST", "/users/lea/emails", {"items": dated})

    assert office.get("/lea/correspondents").json()["items"] == [
        {
            "address": "eve@evil.example",
            "names": [],
            "sent": 1,
            "last_sent_at": "2026-03-03T09:00:00.000000Z",
            "group": False,
        },
        {
            "address": "a@b.example",
            "names": ["Ann"],
            "sent": 1,
            "last_sent_at": "2026-03-01T09:00:00.000000Z",
            "group": False,
        },
    ]
    assert len(office.get("/lea/correspondents", limit=1).json()["items"]) == 1


def test_the_directory_has_people_and_groups_in_pages(office: Client) -> None:
    whole = office.get("/maya/directory").json()
    assert (whole["has_more"], whole["next_cursor"]) == (False, None)
    assert whole["items"][0] == {
        "address": "maya@company.com",
        "name": "Maya Lindqvist",
        "other_names": [],
        "group": False,
    }
    assert [one["address"] for one in whole["items"] if one["group"]] == ["everyone@company.com"]
    first = office.get("/maya/directory", limit=6).json()
    rest = office.get("/maya/directory", limit=6, cursor=first["next_cursor"]).json()
    assert first["items"] + rest["items"] == whole["items"]
    assert rest["next_cursor"] is None
    assert error(office.get("/maya/directory", cursor="x"))[0] == 400


def test_correspondence_counts_copies_and_forgets_removed_mails(office: Client) -> None:
    body = {"to": ["a@b.example"], "cc": ["c@b.example"], "bcc": ["d@b.example"], "body": "x"}
    sent = office.post("/maya/emails/send", body).json()
    for address in ("a@b.example", "c@b.example", "d@b.example"):
        assert office.get("/maya/correspondence", address=address).json()["sent"] == 1
    office.control("DELETE", f"/users/maya/emails/{sent['id']}")
    assert office.get("/maya/correspondence", address="d@b.example").json()["sent"] == 0


def test_groups_and_the_lists_that_mail_came_through_have_many_behind_them(office: Client) -> None:
    def is_group(address: str) -> bool:
        found = office.get("/maya/correspondence", address=address).json()
        return bool(found["group"])

    assert not is_group("dev@lists.example")
    mail = {"id": "m-list", "from": "ann@a.example", "date": "2026-03-01T09:00:00+00:00"}
    posted = mail | {"list_post": "Dev@lists.example"}
    office.control("POST", "/users/maya/emails", {"items": [posted]})
    office.control("PUT", "/users/maya/audiences", {"groups": ["Staff@company.com"]})

    assert [is_group(one) for one in ("dev@lists.example", "staff@company.com")] == [True, True]
    assert not is_group("ann@a.example")


def test_users_never_see_each_others_things(office: Client) -> None:
    for path in LISTS:
        mine = {item["id"] for item in office.items(f"/maya{path}")}
        others = {item["id"] for item in office.items(f"/omar{path}")}
        assert mine
        assert others
        assert not mine & others
        for id in mine:
            assert office.get(f"/omar{path}/{id}").status_code == 404
    assert error(office.get("/omar/threads/thread_portal_proposal")) == (404, "unknown_thread")
    assert office.get("/omar/correspondence", address="john@company.com").json()["received"] == 0


@pytest.mark.parametrize("path", ["/nothing", "/emails/a/b", "/%2e%2e/x"])
def test_an_unknown_address_is_a_404_in_the_contracts_form(office: Client, path: str) -> None:
    assert error(office.get(f"/maya{path}")) == (404, "not_found")


def test_a_wrong_method_is_a_405_in_the_contracts_form(office: Client) -> None:
    assert error(office.write("DELETE", "/maya/labels")) == (405, "method_not_allowed")
