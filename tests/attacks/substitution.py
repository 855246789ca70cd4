"""What a person said yes to is changed before it is done: content, audience, attendees, policy,
account. Everything is read again and decided again."""

from collections.abc import Callable
from dataclasses import replace

from django.db import connection

from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    CeilingLimit,
    KillSwitch,
)
from tests.attacks.case import Case, Grant, Play
from tests.attacks.desk import BOB, EVE, OMAR, Desk
from tests.attacks.plays import (
    APPEND,
    CANCEL_EVENT,
    COMMENT,
    COMPANY,
    CREATE_TASK,
    DELETE_DRAFT,
    DRAFT,
    FINANCE,
    FORWARD,
    LABEL,
    MOVE_DOCUMENT,
    SEND,
    SHARE,
    UPDATE_EVENT,
    UPDATE_TASK,
)

SUBSTITUTION = "substitution"
CHANGED, GONE, UNLISTED = "changed_since_asked", "object_unknown", "target_not_listed"
Meanwhile = Callable[[Desk], None]


def asked(play: Play) -> Play:
    """The same play where a person is asked each time."""
    [grant] = play.policy
    return replace(play, policy=(replace(grant, mode="ask"),), end="confirmed")


def change(collection: str, object_id: str, **fields: object) -> Meanwhile:
    return lambda desk: desk.office.change(collection, object_id, **fields)


def share(**folders: list[str]) -> Meanwhile:
    return lambda desk: desk.office.share(**folders)


def remove(collection: str, object_id: str) -> Meanwhile:
    def removed(desk: Desk) -> None:
        desk.office.control("DELETE", f"/users/{desk.user_id}/{collection}/{object_id}")

    return removed


def allowed_action(**fields: object) -> Meanwhile:
    def changed(desk: Desk) -> None:
        rows = AllowedAction.objects.filter(account__organisation=desk.office.organisation)
        rows.filter(action_type="send_email").update(**fields)

    return changed


def no_allowed_action(desk: Desk) -> None:
    AllowedAction.objects.filter(account__organisation=desk.office.organisation).delete()


def no_target(desk: Desk) -> None:
    AllowedActionOption.objects.filter(account__organisation=desk.office.organisation).delete()


def forbid(desk: Desk) -> None:
    CeilingLimit.objects.create(organisation=desk.office.organisation, at_most="never")


def narrow(desk: Desk) -> None:
    CeilingLimit.objects.create(
        organisation=desk.office.organisation,
        action_type="send_email",
        at_most="auto",
        conditions=[{"kind": "recipient_domain", "domains": ["client.com"]}],
    )


def pause_account(desk: Desk) -> None:
    desk.office.organisation.accounts.update(paused=True)


def pause_organisation(desk: Desk) -> None:
    desk.office.organisation.paused = True
    desk.office.organisation.save()


def switch_off(desk: Desk) -> None:
    KillSwitch.objects.create(
        organisation=desk.office.organisation, why="A doubt.", thrown_by="operator"
    )


def unreadable_condition(desk: Desk) -> None:
    """No form and no model would save it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE guardrails_allowedaction SET conditions = %s WHERE account_id = %s",
            ['[{"kind": "whatever"}]', desk.office.mailbox.id],
        )


RULE = [{"kind": "recipient_domain", "domains": ["client.com"]}]
DRAFTED = asked(replace(DRAFT, arguments={**DRAFT.arguments, "to": [BOB]}))
APPENDED = asked(replace(APPEND, policy=(Grant(action="append_document", targets=COMPANY),)))
INTO_PEOPLE = replace(
    asked(MOVE_DOCUMENT),
    policy=(Grant(action="move_document", mode="ask", targets=FINANCE),),
)
CHANGES: tuple[tuple[Play, str, str, Meanwhile], ...] = (
    (asked(SEND), "the allowed action is gone", "not_permitted", no_allowed_action),
    (asked(SEND), "the allowed action is off", "not_permitted", allowed_action(enabled=False)),
    (asked(SEND), "never from now on", "not_permitted", allowed_action(approval_mode="never")),
    (asked(SEND), "the receiver is no longer listed", UNLISTED, no_target),
    (asked(SEND), "a new condition", "condition_failed", allowed_action(conditions=RULE)),
    (asked(SEND), "a condition nobody can read", "condition_unknown", unreadable_condition),
    (asked(SEND), "a ceiling", "forbidden_by_ceiling", forbid),
    (asked(SEND), "a narrower ceiling", "above_ceiling", narrow),
    (asked(SEND), "the account is paused", "paused", pause_account),
    (asked(SEND), "the organisation is paused", "paused", pause_organisation),
    (asked(SEND), "a kill switch", "switched_off", switch_off),
    (asked(FORWARD), "the mail's text", CHANGED, change("emails", "mail-1", body_text="Salaries")),
    (asked(FORWARD), "the mail's HTML", CHANGED, change("emails", "mail-1", body_html="<p>x</p>")),
    (asked(FORWARD), "the mail's subject", CHANGED, change("emails", "mail-1", subject="Pay")),
    (
        asked(FORWARD),
        "the mail's attachments",
        CHANGED,
        change(
            "emails",
            "mail-1",
            attachments=[{"name": "salaries.xlsx", "mime_type": "text/csv", "size": 9}],
        ),
    ),
    (asked(FORWARD), "the mail is gone", GONE, remove("emails", "mail-1")),
    (asked(SHARE), "the document's text", CHANGED, change("documents", "doc-1", content_text="2")),
    (asked(SHARE), "the document's name", CHANGED, change("documents", "doc-1", name="Salaries")),
    (asked(SHARE), "the document's owner", UNLISTED, change("documents", "doc-1", owner=EVE)),
    (asked(SHARE), "the document is gone", GONE, remove("documents", "doc-1")),
    (APPENDED, "a stranger reads it", UNLISTED, change("documents", "doc-1", shared_with=[EVE])),
    (APPENDED, "a colleague reads it", CHANGED, change("documents", "doc-1", shared_with=[BOB])),
    (APPENDED, "its folder is shared", UNLISTED, share(drive_meetings=[EVE])),
    (APPENDED, "its folder is shared with a colleague", CHANGED, share(drive_meetings=[OMAR])),
    (INTO_PEOPLE, "the new folder is shared", UNLISTED, share(drive_finance=[EVE])),
    (
        asked(UPDATE_EVENT),
        "an attendee is added",
        UNLISTED,
        change("events", "event-1", attendees=[{"email": BOB}, {"email": EVE}]),
    ),
    (asked(UPDATE_EVENT), "the event's title", CHANGED, change("events", "event-1", title="Pay")),
    (CANCEL_EVENT, "another organiser", UNLISTED, change("events", "event-1", created_by=EVE)),
    (CANCEL_EVENT, "the event is gone", GONE, remove("events", "event-1")),
    (asked(COMMENT), "the issue's text", CHANGED, change("issues", "issue-PROJ-900", summary="X")),
    (
        asked(UPDATE_TASK),
        "the issue's status",
        CHANGED,
        change("issues", "issue-PROJ-900", status="Done"),
    ),
    (DELETE_DRAFT, "the draft's text", CHANGED, change("drafts", "draft-1", body="Important")),
    (DRAFTED, "the mailbox is shared", UNLISTED, share(mailbox=[EVE])),
    (asked(CREATE_TASK), "no target is listed", UNLISTED, no_target),
    (asked(LABEL), "the mail is gone", GONE, remove("emails", "mail-1")),
)


def case(play: Play, name: str, reason: str, meanwhile: Meanwhile) -> Case:
    """The very act a person says yes to, in a world that changed in between."""
    made = play.case(SUBSTITUTION, f"{play.action}: {name}", reason).attacking(end="revoked")
    return replace(made, meanwhile=meanwhile)


CASES: tuple[Case, ...] = tuple(case(*change) for change in CHANGES)
