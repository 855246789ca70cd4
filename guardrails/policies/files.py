"""An account's policy as a file that can be reviewed like code: YAML, or JSON.

A section that a file leaves out stays as it is; a section that it has becomes exactly what
the file says. Nothing is changed before its differences were shown.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS as NON_FIELD, ValidationError as InvalidRow
from django.db import transaction
from django.db.models import ProtectedError

from guardrails.decide.policy_file import AllowedActionEntry, Group, Listed, PolicyFile
from guardrails.models import AllowedAction, AllowedActionOption, TargetGroup
from guardrails.policies import changes, differences as policy_differences
from guardrails.policies.changes import Author
from guardrails.policies.differences import KEYS, Difference
from guardrails.policies.text import PolicyFileError
from integrations.models import Account

R = TypeVar("R", AllowedAction, AllowedActionOption, TargetGroup)
# Where the word of the file is not the column's.
COLUMNS = {
    "action": "action_type",
    "resource": "resource_type",
    "mode": "approval_mode",
    "id": "external_id",
}
Row = AllowedAction | AllowedActionOption | TargetGroup


def exported(account: Account) -> PolicyFile:
    """The account's policy as it is now, in an order of its own."""
    groups = {row.pk: row for row in TargetGroup.objects.filter(account=account)}
    return PolicyFile(
        version=1,
        allowed_actions=[
            AllowedActionEntry(
                action=row.action_type,
                resource=row.resource_type,
                mode=row.approval_mode,  # type: ignore[arg-type]  # a check constraint holds it
                enabled=row.enabled,
                hold_seconds=row.hold_seconds,
                conditions=row.conditions,
                patterns_unapproved=row.patterns_unapproved,
                confirm_in_words=row.confirm_in_words,
            )
            for row in AllowedAction.objects.filter(account=account).order_by(
                "action_type", "resource_type"
            )
        ],
        groups=[
            Group(name=row.name, cardinality=row.cardinality)  # type: ignore[arg-type]  # the same
            for row in sorted(groups.values(), key=lambda row: row.name)
        ],
        targets=[
            Listed(
                action=row.action_type,
                resource=row.resource_type,
                kind=row.kind,
                id=row.external_id,
                name=row.name,
                group=groups[row.group_id].name if row.group_id else "",
            )
            for row in AllowedActionOption.objects.filter(account=account).order_by(
                "action_type", "resource_type", "kind", "external_id"
            )
        ],
    )


def whole(account: Account, wanted: PolicyFile) -> PolicyFile:
    """The account's policy as it would be after the file, with every section and in canonical
    form. Reads only. Raises PolicyFileError where `apply` would."""
    present = exported(account)
    allowed_actions, groups, targets = (
        getattr(present if getattr(wanted, section) is None else wanted, section) or []
        for section in KEYS
    )
    known = {one.name: TargetGroup(account=account, **vars(one)) for one in groups}

    def row(instance: R, section: str, entry: AllowedActionEntry | Group | Listed) -> R:
        for name, value in _fields(account, section, entry.model_dump(), known.get).items():
            setattr(instance, name, value)
        try:
            instance.clean_fields(exclude={"account", "group"})
            instance.clean()
        except InvalidRow as error:
            raise PolicyFileError(_explain(section, entry.model_dump(), error)) from error
        return instance

    for group in groups:
        row(TargetGroup(account=account), "groups", group)
    for allowed_action in allowed_actions:
        row(AllowedAction(account=account), "allowed_actions", allowed_action)
    listed = [
        one.model_copy(
            update={"id": row(AllowedActionOption(account=account), "targets", one).external_id}
        )
        for one in targets
    ]
    return PolicyFile(version=1, allowed_actions=allowed_actions, groups=groups, targets=listed)


def differences(account: Account, wanted: PolicyFile) -> tuple[Difference, ...]:
    """What the file would change, section by section. Reads only."""
    return policy_differences.differences(exported(account), wanted)


def apply(
    account: Account,
    wanted: PolicyFile,
    *,
    author: Author,
    expected: tuple[Difference, ...] | None = None,
) -> tuple[Difference, ...]:
    """Make the account's policy what the file says, all of it or nothing; what was changed.
    Every changed row is in the history of policy. Raises PolicyFileError, also where anything
    but what is `expected` would change."""
    with transaction.atomic():
        Account.objects.select_for_update().get(pk=account.pk)
        found = differences(account, wanted)
        if expected is not None and found != expected:
            raise PolicyFileError("The policy changed meanwhile.")
        rows = [_row(account, one) for one in found]
        with ExitStack() as stack:
            for model in (TargetGroup, AllowedAction, AllowedActionOption):
                ids = [row.pk for row in rows if isinstance(row, model)]
                stack.enter_context(changes.recording(model, ids, author=author))
            try:
                _write(account, found, rows)
            except ProtectedError as error:
                raise PolicyFileError("A group that goes is still used by a target.") from error
    return found


def _write(account: Account, found: tuple[Difference, ...], rows: list[Row]) -> None:
    """Groups come before the targets in them, and go after them."""
    steps = list(zip(found, rows, strict=True))

    def group_of(name: str) -> TargetGroup | None:
        return TargetGroup.objects.filter(account=account, name=name).first()

    for one, row in sorted(steps, key=lambda step: step[0].section == "targets"):
        if one.after is None:
            continue
        for name, value in _fields(account, one.section, one.after, group_of).items():
            setattr(row, name, value)
        try:
            row.save()
        except InvalidRow as error:
            raise PolicyFileError(_explain(one.section, one.after, error)) from error
    for one, row in sorted(steps, key=lambda step: step[0].section == "groups"):
        if one.after is None:
            row.delete()


def _row(account: Account, one: Difference) -> Row:
    """The row that an entry is about, new where there is none."""
    if one.section == "groups":
        return TargetGroup.objects.filter(account=account, name=one.key[0]).first() or TargetGroup(
            account=account
        )
    if one.section == "allowed_actions":
        action_type, resource_type = one.key
        return AllowedAction.objects.filter(
            account=account, action_type=action_type, resource_type=resource_type
        ).first() or AllowedAction(account=account)
    action_type, resource_type, kind, external_id = one.key
    return AllowedActionOption.objects.filter(
        account=account,
        action_type=action_type,
        resource_type=resource_type,
        kind=kind,
        external_id=external_id,
    ).first() or AllowedActionOption(account=account)


def _explain(section: str, entry: Mapping[str, Any], error: InvalidRow) -> str:
    """Which entry is refused, in which of its fields, and why."""
    words = {column: name for name, column in COLUMNS.items()}
    by_field = error.message_dict if hasattr(error, "error_dict") else {NON_FIELD: error.messages}
    key = " ".join(str(entry[name]) for name in KEYS[section] if entry[name])
    why = " ".join(
        ("" if field == NON_FIELD else f"{words.get(field, field)}: ") + " ".join(messages)
        for field, messages in by_field.items()
    )
    return f"{section}: “{key}”: {why}"


def _fields(
    account: Account,
    section: str,
    entry: Mapping[str, Any],
    group_of: Callable[[str], TargetGroup | None],
) -> dict[str, Any]:
    """An entry as the fields of its row. Raises PolicyFileError."""
    found = {COLUMNS.get(name, name): value for name, value in entry.items()}
    if section != "targets":
        return found
    group = group_of(entry["group"]) if entry["group"] else None
    if entry["group"] and group is None:
        raise PolicyFileError(f"There is no group “{entry['group']}”. List it under groups.")
    return found | {"source": account.source, "group": group}
