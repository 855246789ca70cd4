"""Rows of plain statements as instances."""

from typing import Any

import pytest

from integrations.database import instances
from integrations.models import Delivery, Organisation

pytestmark = pytest.mark.django_db


def test_rows_are_instances_as_the_orm_gives_them(django_assert_num_queries: Any) -> None:
    organisation = Organisation.objects.create(slug="instances", name="Instances")
    made = Delivery.objects.create(
        organisation=organisation,
        webhook_id="w1",
        kind="created",
        source="gmail",
        source_id="m1",
        body={"data": {"version": 3}},
    )
    but = ("reason",)
    statement = (
        f"SELECT {instances.columns(Delivery, but=but)} FROM integrations_delivery"
        " WHERE organisation_id = %s"
    )

    with django_assert_num_queries(1):
        [found] = instances.load(Delivery, statement, [organisation.id], but=but)
        assert found.body == {"data": {"version": 3}}
    expected = Delivery.objects.get(id=made.id)
    with django_assert_num_queries(1):
        assert found.reason == ""  # read where somebody asks for it
    names = [field.attname for field in Delivery._meta.concrete_fields]
    assert [getattr(found, name) for name in names] == [getattr(expected, name) for name in names]
    assert instances.load(Delivery, statement, [made.id], but=but) == []
