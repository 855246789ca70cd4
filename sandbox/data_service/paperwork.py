"""Writes to the calendar, the issue tracker and the drive."""

import secrets

from sandbox.data_service import bodies, objects, occurrences
from sandbox.data_service.errors import Refusal
from sandbox.data_service.operations import Outcome
from sandbox.data_service.places import User, folder_name, has_project
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, not_before, now
from sandbox.data_service.values import DOCUMENT, EVENT, ISSUE


def create_event(store: Store, *, user: User, target: str, body: bodies.NewEvent) -> Outcome:
    id = objects.new_id("event")
    link = f"https://meet.company.com/{secrets.token_hex(5)}" if body.create_meet_link else None
    event, _ = objects.add(
        store,
        user_id=user.id,
        kind=EVENT,
        fields={
            "id": id,
            "title": body.title,
            "description": body.description or "",
            "start": body.start,
            "end": body.end,
            "location": body.location,
            "attendees": [{"email": address} for address in body.attendees],
            "recurrence": body.recurrence,
            "meet_link": link,
            "created_by": user.address,
            "url": f"https://calendar.company.com/event/{id}",
        },
    )
    return Outcome(201, {name: event[name] for name in ("id", "url", "meet_link")})


def change_event(store: Store, *, user: User, target: str, body: bodies.EventChange) -> Outcome:
    """Changes an event, or one of a series alone, which is an event of its own from then on; an
    attendee who stays keeps name and answer."""
    event = occurrences.find(store, user_id=user.id, kind=EVENT, id=target)
    fields = body.model_dump(exclude_unset=True)
    if "attendees" in fields:
        present = {attendee["email"]: attendee for attendee in event["attendees"]}
        fields["attendees"] = [
            present.get(address, {"email": address, "added_by": user.address})
            for address in body.attendees
        ]
    return Outcome(200, _changed(store, user, event, fields))


def answer_event(store: Store, *, user: User, target: str, body: bodies.EventAnswer) -> Outcome:
    """The user's own answer to an event that they are invited to, with another time that suits
    them. Refuses 403 for one to which nobody invites them."""
    event = occurrences.find(store, user_id=user.id, kind=EVENT, id=target)
    own = objects.folded(user.address)
    if own not in [objects.folded(one["email"]) for one in event["attendees"]]:
        raise Refusal(403, "not_invited", "The user is not among those who are invited.")
    said = {"status": body.status, "proposed_start": body.start, "proposed_end": body.end}
    attendees = [
        one | said if objects.folded(one["email"]) == own else one for one in event["attendees"]
    ]
    return Outcome(200, _changed(store, user, event, {"attendees": attendees}))


def cancel_event(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Removes an event. One of a series stays as cancelled: else the series would have it again."""
    event = occurrences.find(store, user_id=user.id, kind=EVENT, id=target)
    if event["series_id"]:
        return Outcome(200, _changed(store, user, event, {"status": "cancelled"}))
    objects.remove(store, user_id=user.id, kind=EVENT, id=target)
    return Outcome(204, None)


def _changed(store: Store, user: User, event: JsonObject, fields: JsonObject) -> JsonObject:
    """The event with these fields; one that was only part of its series is stored with them."""
    if occurrences.one_of_series(store, user_id=user.id, id=event["id"]) is None:
        return objects.change(store, user_id=user.id, kind=EVENT, id=event["id"], fields=fields)
    present = {name: value for name, value in event.items() if name not in objects.STORED_BESIDE}
    return objects.add(store, user_id=user.id, kind=EVENT, fields=present | fields)[0]


def create_issue(store: Store, *, user: User, target: str, body: bodies.NewIssue) -> Outcome:
    """Creates an issue under the project's next key. Refuses 404 for an unknown project."""
    if not has_project(store, user_id=user.id, key=body.project_key):
        raise Refusal(404, "unknown_project", f"This user has no project {body.project_key!r}.")
    key = f"{body.project_key}-{store.count(f'issue:{user.id}:{body.project_key}')}"
    issue, _ = objects.add(
        store,
        user_id=user.id,
        kind=ISSUE,
        fields={
            "id": objects.new_id("issue"),
            "key": key,
            "project_key": body.project_key,
            "type": body.type,
            "summary": body.summary,
            "description": body.description or "",
            "priority": body.priority or "medium",
            "assignee": body.assignee,
            "reporter": user.address,
            "created_at": instant_text(now()),
            "labels": body.labels,
            "components": body.components,
            "due_date": body.due_date,
            "url": f"https://jira.company.com/browse/{key}",
        },
    )
    return Outcome(201, {name: issue[name] for name in ("id", "key", "url")})


def change_issue(store: Store, *, user: User, target: str, body: bodies.IssueChange) -> Outcome:
    fields = body.model_dump(exclude_unset=True)
    return Outcome(
        200, objects.change(store, user_id=user.id, kind=ISSUE, id=target, fields=fields)
    )


def comment(store: Store, *, user: User, target: str, body: bodies.NewComment) -> Outcome:
    issue = objects.find(store, user_id=user.id, kind=ISSUE, id=target)
    added = {
        "id": objects.new_id("comment"),
        "author": user.address,
        "body": body.body,
        "created_at": instant_text(now()),
    }
    objects.change(
        store,
        user_id=user.id,
        kind=ISSUE,
        id=target,
        fields={"comments": [*issue["comments"], added]},
    )
    return Outcome(201, added)


def create_document(store: Store, *, user: User, target: str, body: bodies.NewDocument) -> Outcome:
    """Creates a document, in a drive folder when one is given (404 when there is none such)."""
    path = "/"
    if body.folder_id is not None:
        path = folder_name(store, user_id=user.id, kind="drive", folder_id=body.folder_id)
    id = objects.new_id("doc")
    created = instant_text(now())
    document, _ = objects.add(
        store,
        user_id=user.id,
        kind=DOCUMENT,
        fields={
            "id": id,
            "name": body.name,
            "mime_type": body.mime_type,
            "content_text": body.content,
            "folder_id": body.folder_id,
            "folder_path": path,
            "created_at": created,
            "modified_at": created,
            "owner": user.address,
            "url": f"https://drive.company.com/d/{id}",
        },
    )
    return Outcome(201, {"id": document["id"], "url": document["url"]})


def change_document(
    store: Store, *, user: User, target: str, body: bodies.DocumentChange
) -> Outcome:
    """Appends to the content or replaces it."""
    document = objects.find(store, user_id=user.id, kind=DOCUMENT, id=target)
    content = document["content_text"] + body.content if body.mode == "append" else body.content
    if content == document["content_text"]:
        return Outcome(200, document)
    changed = objects.change(
        store,
        user_id=user.id,
        kind=DOCUMENT,
        id=target,
        fields={
            "content_text": content,
            "modified_at": not_before(now(), last=document["modified_at"]),
        },
    )
    return Outcome(200, changed)


def move_document(store: Store, *, user: User, target: str, body: bodies.Move) -> Outcome:
    path = folder_name(store, user_id=user.id, kind="drive", folder_id=body.folder_id)
    changed = objects.change(
        store,
        user_id=user.id,
        kind=DOCUMENT,
        id=target,
        fields={"folder_id": body.folder_id, "folder_path": path},
    )
    return Outcome(200, changed)


def share_document(store: Store, *, user: User, target: str, body: bodies.Share) -> Outcome:
    """Lets one address read, comment on or write a document."""
    document = objects.find(store, user_id=user.id, kind=DOCUMENT, id=target)
    shared = document["shared_with"]
    changed = objects.change(
        store,
        user_id=user.id,
        kind=DOCUMENT,
        id=target,
        fields={
            "shared_with": shared if body.email in shared else [*shared, body.email],
            "shared_by": {body.email: user.address, **document["shared_by"]},
            "roles": {**document["roles"], body.email: body.role},
        },
    )
    return Outcome(200, changed)


def unshare_document(store: Store, *, user: User, target: str, body: bodies.Unshare) -> Outcome:
    """Takes one address's own access away. What its folder lets it read stays."""
    document = objects.find(store, user_id=user.id, kind=DOCUMENT, id=target)
    changed = objects.change(
        store,
        user_id=user.id,
        kind=DOCUMENT,
        id=target,
        fields={
            "shared_with": [one for one in document["shared_with"] if one != body.email],
            "roles": {one: role for one, role in document["roles"].items() if one != body.email},
        },
    )
    return Outcome(200, changed)


def trash_document(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Puts a document of the user's own into the trash. Refuses 403 for one of somebody else."""
    document = objects.find(store, user_id=user.id, kind=DOCUMENT, id=target)
    if document["owner"] != user.address:
        raise Refusal(403, "not_owner", "Only its owner puts a document into the trash.")
    return _trashed(store, user, target, trashed=True)


def restore_document(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Takes a document out of the trash."""
    return _trashed(store, user, target, trashed=False)


def _trashed(store: Store, user: User, target: str, *, trashed: bool) -> Outcome:
    fields = {"trashed": trashed}
    changed = objects.change(store, user_id=user.id, kind=DOCUMENT, id=target, fields=fields)
    return Outcome(200, changed)
