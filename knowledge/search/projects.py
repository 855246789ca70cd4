"""What an issue tracker's projects have, as far as their issues tell."""

from uuid import UUID

from knowledge.models import Item

MOST_ISSUES = 500  # of a project, the newest, are looked at


def list_components(*, account_id: UUID, project_key: str) -> tuple[str, ...]:
    """The components that issues of the project carry, in order of the alphabet. One query."""
    rows = Item.objects.filter(
        account_id=account_id,
        content_type="issue",
        deleted_at=None,
        metadata__project_key=project_key,
    ).order_by("-occurred_at")
    found = rows.values_list("metadata__components", flat=True)[:MOST_ISSUES]
    return tuple(sorted({str(name) for names in found for name in names or ()}))
