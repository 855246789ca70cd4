"""The entities of one user and which items mention them, as rows."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef

from integrations.contracts import AccountRef
from knowledge.models import Entity, Mention
from knowledge.text.subjects import Subject, words


def replace_mentions(
    *, account: AccountRef, item_id: UUID, subjects: Sequence[Subject], is_new: bool = False
) -> None:
    """Make `subjects` all that the item mentions; entities nobody mentions any more go. A new
    item has mentioned nothing yet.

    Call it inside the transaction that writes the item. Locks are taken in one order, so
    that many items can be written side by side.
    """
    mentions = Mention.objects.filter(item_id=item_id)
    before = set() if is_new else set(mentions.values_list("entity_id", flat=True))
    entities = _stored(account, subjects) if subjects else {}
    if before:
        mentions.delete()
    Mention.objects.bulk_create(
        Mention(
            account_id=account.id,
            item_id=item_id,
            entity=entities[subject.kind, subject.key],
            role=subject.role,
        )
        for subject in subjects
    )
    if gone := before - {entity.pk for entity in entities.values()}:
        _delete_orphans(gone)


def _stored(account: AccountRef, subjects: Sequence[Subject]) -> dict[tuple[str, str], Entity]:
    """The row of each subject, locked against deletion; new ones are made."""
    wanted = {(s.kind, s.key): s for s in subjects}
    entities: dict[tuple[str, str], Entity] = {}
    missing = sorted(wanted)
    while True:
        entities |= {(e.kind, e.key): e for e in _locked(account, missing)}
        missing = sorted(wanted.keys() - entities.keys())
        if not missing:
            break
        # One may have been deleted as an orphan by the time it is locked: then it is made again.
        Entity.objects.bulk_create(
            [_row(account, wanted[identity]) for identity in missing], ignore_conflicts=True
        )
    _name(entities, subjects)
    return entities


def _locked(account: AccountRef, identities: Sequence[tuple[str, str]]) -> Iterable[Entity]:
    return Entity.objects.raw(
        "SELECT * FROM knowledge_entity"
        " WHERE organisation_id = %s AND external_user_id = %s"
        " AND (kind, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"
        " ORDER BY id FOR KEY SHARE",
        [
            account.organisation_id,
            account.external_user_id,
            [kind for kind, _ in identities],
            [key for _, key in identities],
        ],
    )


def _row(account: AccountRef, subject: Subject) -> Entity:
    return Entity(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        kind=subject.kind,
        name=subject.name,
        address=subject.address,
        key=subject.key,
        words=list(dict.fromkeys(words(subject.name))),
    )


def _name(entities: dict[tuple[str, str], Entity], subjects: Sequence[Subject]) -> None:
    """A sender's own name counts; what others call a person only fills a gap."""
    renamed = []
    for subject in subjects:
        entity = entities[subject.kind, subject.key]
        better = subject.role == "sender" or not entity.name
        if subject.name and better and entity.name != subject.name:
            entity.name = subject.name
            entity.words = list(dict.fromkeys(words(subject.name)))
            renamed.append(entity)
    if renamed:
        Entity.objects.bulk_update(sorted(renamed, key=lambda e: e.pk), ["name", "words"])


def _delete_orphans(ids: set[int]) -> None:
    """An entity somebody is just mentioning is locked, so it is no orphan: skip it."""
    locked = list(
        Entity.objects.filter(pk__in=ids)
        .order_by("pk")
        .select_for_update(skip_locked=True)
        .values_list("pk", flat=True)
    )
    # A statement of its own sees the mentions of those who had the lock before.
    Entity.objects.filter(pk__in=locked).exclude(
        Exists(Mention.objects.filter(entity=OuterRef("pk")))
    ).delete()
