"""What words mean to the ledger, by rows that are searched by words already: the ledger's own
contents are encrypted."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from agents.models import Message, Turn
from audit.ledger.search import NEWEST_MEANT, Meant
from guardrails.models import AllowedActionOption, LearnedPattern, Skill, TargetGroup
from guardrails.models.directory import of_people
from integrations.models import Account
from integrations.web.words import named
from knowledge.ingest.indexing import words_query
from knowledge.models import Item

MAX_ACCOUNTS, MAX_POLICY = 20, 100
ACCOUNT = "account"
NEWEST = 5_000  # of what users said, so many are looked through: no index holds their words


def look(organisations: Collection[UUID], words: str) -> Meant:
    """The accounts of people of this name, and the newest mails, documents, requests and rows of
    policy with all of the words. Three queries."""
    things, runs = list[str](), [str(one) for one in _requests(organisations, words)]
    for thing, turns in _items(organisations, words):
        things.append(thing)
        runs += map(str, turns)
    called = list(_called(organisations, words))
    return Meant(
        accounts=tuple(key for kind, key in called if kind == ACCOUNT),
        runs=tuple(runs),
        things=(*things, *(str(key) for kind, key in called if kind != ACCOUNT)),
    )


def _items(organisations: Collection[UUID], words: str) -> Any:
    """The id of each at its provider, with the turns that worked it through."""
    turns = Turn.objects.filter(
        account=OuterRef("account"), item_source_id=OuterRef("source_id")
    ).values("id")
    rows = Item.objects.filter(
        search=words_query(words), account__organisation_id__in=organisations, deleted_at=None
    ).order_by("-occurred_at")
    return rows.annotate(found=ArraySubquery(turns)).values_list("source_id", "found")[
        :NEWEST_MEANT
    ]


def _requests(organisations: Collection[UUID], words: str) -> QuerySet[Turn, UUID]:
    rows = Turn.objects.filter(organisation_id__in=organisations, kind=Turn.Kind.CHAT)
    newest = rows.order_by("-created_at").values("created_at")[NEWEST : NEWEST + 1]
    # One look by its index for each turn: an EXISTS may become a reading of all messages.
    said = Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.USER)
    rows = rows.annotate(said=Subquery(said.values("content")[:1]))
    for word in words.split():
        rows = rows.filter(said__icontains=word)
    first = Coalesce(Subquery(newest), Value(datetime.min.replace(tzinfo=UTC)))
    rows = rows.filter(created_at__gt=first).order_by("-created_at")
    return rows.values_list("id", flat=True)[:NEWEST_MEANT]


def _called(organisations: Collection[UUID], words: str) -> QuerySet[Any, tuple[str, UUID]]:
    """Accounts of people of this name, and rows of policy that people gave it to."""
    people = Account.objects.filter(of_people(words, organisations))
    accounts = people.order_by("external_user_id", "source")[:MAX_ACCOUNTS]
    policy = (
        model._default_manager.filter(named(words, "name"), **{f"{path}__in": organisations})
        .order_by("id")
        .values_list(Value("policy"), "id")[:MAX_POLICY]
        for model, path in (
            (LearnedPattern, "account__organisation_id"),
            (AllowedActionOption, "account__organisation_id"),
            (TargetGroup, "account__organisation_id"),
            (Skill, "organisation_id"),
        )
    )
    return accounts.values_list(Value(ACCOUNT), "id").union(*policy, all=True)
