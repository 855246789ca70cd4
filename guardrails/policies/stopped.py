"""Switches that are thrown, and the mails that were left alone because of them."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Func, IntegerField, OuterRef, Q, QuerySet
from django.db.models.expressions import ExpressionWrapper
from django.db.models.fields import CharField, UUIDField

from guardrails.models import KillSwitch
from integrations.models import Delivery


def list_thrown(organisation_ids: Collection[UUID] | None) -> "QuerySet[KillSwitch]":
    """The switches that stop something of these organisations (None: of any), newest first, each
    with `arrived`: how many mails of theirs it has kept from being looked at. One query."""
    rows = KillSwitch.objects.filter(lifted_at=None).select_related("organisation", "account")
    if organisation_ids is not None:
        rows = rows.filter(Q(organisation=None) | Q(organisation_id__in=organisation_ids))
    arrived = Func(
        ArraySubquery(_left_alone(organisation_ids)),
        function="cardinality",
        output_field=IntegerField(),
    )
    return rows.annotate(arrived=arrived)


def list_left_alone(switch_id: UUID) -> list[UUID]:
    """The deliveries that this switch has kept from being looked at since it was thrown."""
    found = KillSwitch.objects.filter(id=switch_id)
    found = found.annotate(arrived=ArraySubquery(_left_alone(None)))
    return found.values_list("arrived", flat=True).first() or []


def _left_alone(organisation_ids: Collection[UUID] | None) -> Any:
    """Of the switch of the query around it. One action or effect that is stopped leaves no mail
    alone: the agent looks at it, and is refused what it asks for."""
    rows = Delivery.objects.filter(reason=Delivery.STOPPED, finished_at__gte=OuterRef("thrown_at"))
    if organisation_ids is not None:
        rows = rows.filter(organisation_id__in=organisation_ids)
    return (
        rows.alias(
            of=ExpressionWrapper(OuterRef("organisation_id"), output_field=UUIDField()),
            one=ExpressionWrapper(OuterRef("account_id"), output_field=UUIDField()),
            connector=ExpressionWrapper(OuterRef("source"), output_field=CharField()),
            part=ExpressionWrapper(OuterRef("action_type"), output_field=CharField()),
            effect=ExpressionWrapper(OuterRef("effect"), output_field=CharField()),
        )
        .filter(
            Q(of=None) | Q(organisation_id=F("of")),
            Q(one=None) | Q(account_id=F("one")),
            Q(connector="") | Q(account__source=F("connector")),
            part="",
            effect="",
        )
        .values("id")
    )
