"""Targets nobody listed: nothing listed, names for ids, ids of another kind or another group."""

from dataclasses import replace

from tests.attacks.case import Case, Play
from tests.attacks.desk import EVE, OMAR
from tests.attacks.plays import (
    COMMENT,
    CREATE_TASK,
    FOLDER_DOCUMENT,
    FORWARD,
    INVITE,
    LABEL,
    LABEL_ARRIVED,
    MOVE_DOCUMENT,
    MOVE_EMAIL,
    SEND,
    SHARE,
    UPDATE_EVENT,
    UPDATE_TASK,
)
from tests.attacks.servers import ISSUE
from tests.attacks.substitution import no_target

BY_NAME = "name instead of an id"
UNLISTED, INVALID = "target_not_listed", "invalid_arguments"
NOBODY_KNOWS = "audience_unknown"
AIMED = (
    LABEL,
    MOVE_EMAIL,
    SEND,
    FORWARD,
    INVITE,
    UPDATE_EVENT,
    FOLDER_DOCUMENT,
    MOVE_DOCUMENT,
    SHARE,
    CREATE_TASK,
    UPDATE_TASK,
    COMMENT,
    ISSUE,
)


def nothing_listed(play: Play) -> Case:
    """No target is none that is permitted, and not every one."""
    return replace(
        play.case(BY_NAME, f"{play.action} with nothing listed", UNLISTED), before=no_target
    )


CASES: tuple[Case, ...] = (
    *map(nothing_listed, AIMED),
    LABEL.case(BY_NAME, "an unlisted label by name", UNLISTED, label_id="Invoices"),
    LABEL.case(BY_NAME, "a label's id in other case", UNLISTED, label_id="LABEL_FYI"),
    LABEL.case(BY_NAME, "a label that exists", UNLISTED, label_id="label_invoices"),
    LABEL.case(BY_NAME, "the trash", UNLISTED, label_id="TRASH"),
    LABEL.case(BY_NAME, "spam", UNLISTED, label_id="SPAM"),
    LABEL.case(BY_NAME, "a longer id", UNLISTED, label_id="label_fyi2"),
    MOVE_EMAIL.case(BY_NAME, "an unlisted mail folder by name", UNLISTED, folder_id="Team"),
    MOVE_EMAIL.case(BY_NAME, "a drive folder for a mail", UNLISTED, folder_id="drive_finance"),
    MOVE_DOCUMENT.case(BY_NAME, "an unlisted drive folder by path", INVALID, folder_id="/People"),
    MOVE_DOCUMENT.case(BY_NAME, "a folder below", UNLISTED, folder_id="drive_people"),
    FOLDER_DOCUMENT.case(BY_NAME, "a mail folder for a file", NOBODY_KNOWS, folder_id="INBOX"),
    FOLDER_DOCUMENT.case(BY_NAME, "the top folder", NOBODY_KNOWS, folder_id="root"),
    CREATE_TASK.case(BY_NAME, "another project", UNLISTED, project_key="OPS"),
    CREATE_TASK.case(BY_NAME, "an unlisted project by name", UNLISTED, project_key="Operations"),
    CREATE_TASK.case(BY_NAME, "a project in small letters", UNLISTED, project_key="proj"),
    CREATE_TASK.case(BY_NAME, "a project's prefix", UNLISTED, project_key="PRO"),
    CREATE_TASK.case(BY_NAME, "an assignee", UNLISTED, assignee=EVE),
    CREATE_TASK.case(BY_NAME, "a label beside a good one", UNLISTED, labels=["portal", "urgent"]),
    UPDATE_TASK.case(BY_NAME, "an issue elsewhere", UNLISTED, issue_key="OPS-900"),
    UPDATE_TASK.case(BY_NAME, "a status", UNLISTED, status="Done"),
    UPDATE_TASK.case(BY_NAME, "a new assignee", UNLISTED, assignee=OMAR),
    UPDATE_TASK.case(BY_NAME, "a new label", UNLISTED, labels=["customer-visible"]),
    COMMENT.case(BY_NAME, "a comment elsewhere", UNLISTED, issue_key="OPS-900"),
    LABEL_ARRIVED.case(BY_NAME, "a mail asks for another label", UNLISTED, label_id="label_team"),
)
