"""Whether the version before goes on working on the tables of this one, as a rolling upgrade asks.

    python -m scripts.migrations    fails on a migration that it may trip over

From BASELINE on a migration only adds: tables, columns that the version before need not name,
indexes that nobody waits for. What takes away or narrows is the second half of a change over two
releases, and names the first in `second_half_of`, which the version before has already. What
cannot be read from its operations (SQL, Python) says in `harmless_because` why it does no harm.
"""

import os
import sys
from collections.abc import Iterator

import django
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection
from django.db.migrations import operations as ops
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Field, UniqueConstraint

# The last migration of each app in the version before: what a rolling upgrade starts from.
# A release brings it up to date.
BASELINE = {
    "agents": "0005_installation_checks",
    "audit": "0005_filters_and_verification",
    "guardrails": "0003_switch_effect",
    "integrations": "0008_kept_answers",
    "knowledge": "0002_own_since",
}
ADDING = (ops.CreateModel, ops.AlterModelOptions, ops.AlterModelManagers)
HOW = {
    "field": "give the column null=True or db_default: the version before does not name it",
    "generated": "a generated column rewrites the table while nobody can use it",
    "index": "build it with AddIndexConcurrently, or the version before waits for it",
    "constraint": "the version before writes rows that do not keep it",
    "alter": "the version before goes on with the column as it was",
    "word": "say in `harmless_because` why the version before is not harmed",
    "takes": "the version before still uses it: two releases, and `second_half_of` names the first",
}


def list_newer(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Our migrations that the version before does not know, in the order in which they run."""
    known = {one for node in BASELINE.items() for one in loader.graph.forwards_plan(node)}
    plan: list[tuple[str, str]] = []
    for leaf in loader.graph.leaf_nodes():
        plan += [one for one in loader.graph.forwards_plan(leaf) if one not in plan]
    return [one for one in plan if one not in known and one[0] in BASELINE]


def find_harm(migration: Migration, before: ProjectState, fresh: set[str]) -> Iterator[str]:
    """Sentences about operations of `migration` that the version before may trip over. `fresh` are
    tables and columns that it does not know, as `app.model` and `app.model.column`; those of this
    migration are added."""
    state = before.clone()
    for operation in migration.operations:
        after = state.clone()
        operation.state_forwards(migration.app_label, after)
        why = _judge(operation, migration, (state, after), fresh)
        if why:
            name = f"{migration.app_label}/{migration.name}"
            yield f"{name}: {operation.describe()}: {HOW[why]}."
        if isinstance(operation, ops.CreateModel):
            fresh.add(f"{migration.app_label}.{operation.name_lower}")
        if isinstance(operation, ops.AddField) and operation.field.null:
            fresh.add(f"{migration.app_label}.{operation.model_name_lower}.{operation.name}")
        state = after


def find_all() -> Iterator[str]:
    """Every sentence about the migrations after the baseline."""
    loader = MigrationLoader(None)
    known = {one for node in BASELINE.items() for one in loader.graph.forwards_plan(node)}
    fresh: set[str] = set()
    for node in list_newer(loader):
        migration = loader.get_migration(*node)
        first_half = getattr(migration, "second_half_of", None)
        if first_half is None:
            yield from find_harm(migration, loader.project_state(node, at_end=False), fresh)
        elif tuple(first_half) not in known:
            yield (
                f"{node[0]}/{node[1]}: its first half is not in the version before. "
                "Wait for a release."
            )


def _judge(
    operation: Operation,
    migration: Migration,
    states: tuple[ProjectState, ProjectState],
    fresh: set[str],
) -> str | None:
    """Why the version before may trip over it, as a key of HOW."""
    table = f"{migration.app_label}.{getattr(operation, 'model_name', '').lower()}"
    if isinstance(operation, ADDING) or table in fresh:
        return None
    match operation:
        case ops.RunPython() | ops.RunSQL() | ops.SeparateDatabaseAndState():
            return None if getattr(migration, "harmless_because", "") else "word"
        case ops.AddField(field=field) if field.generated:
            return "generated"
        case ops.AddField(field=field):
            return None if field.many_to_many or field.null or field.has_db_default() else "field"
        case ops.AlterField(name=name):
            old, new = (_field(state, migration, operation, name) for state in states)
            return "alter" if _differ(old, new) else None
        case AddIndexConcurrently():
            return None
        case ops.AddIndex():
            return "index"
        case ops.AddConstraint(constraint=UniqueConstraint(fields=fields, nulls_distinct=distinct)):
            # The version before leaves a column empty that it does not know.
            is_met = distinct is not False and any(f"{table}.{name}" in fresh for name in fields)
            return None if is_met else "constraint"
        case ops.AddConstraint():
            return "constraint"
        case _:
            return "takes"


def _field(
    state: ProjectState, migration: Migration, operation: ops.AlterField, name: str
) -> "Field[object, object]":
    model = state.apps.get_model(migration.app_label, operation.model_name)
    found: Field[object, object] = model._meta.get_field(name)
    return found


def _differ(old: "Field[object, object]", new: "Field[object, object]") -> bool:
    """Whether the column changes, not only its words, choices or checks in Python."""
    editor = connection.schema_editor(atomic=False)  # compares only: nothing connects
    return bool(editor._field_should_be_altered(old, new))  # type: ignore[attr-defined]


def main() -> int:
    """Returns 0 if the version before works on."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found = list(find_all())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
