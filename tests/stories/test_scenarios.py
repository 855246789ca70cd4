"""The scenarios reach what the planning seed asks for (section 11.2)."""

from typing import Any

import pytest

from integrations.models import Account, Organisation
from tests.model_server import scripted_model
from tests.scenarios.measure import measure

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_the_metrics_of_the_planning_seed_are_reached(settings: Any) -> None:
    settings.REVIEW_MIN_CALLS = settings.REVIEW_EVERY_CALLS = 0
    organisation = Organisation.objects.create(slug="scenarios", name="Scenarios")
    Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
    with scripted_model(settings, {}) as model:
        metrics = measure(model, organisation)

    assert [
        str(metric) for metric in metrics if metric.target and metric.share <= metric.target
    ] == []
    assert sum(metric.scenarios for metric in metrics) >= 60
    false_alarms = metrics[-1]
    assert false_alarms.taken == 0, false_alarms
