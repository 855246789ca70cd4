"""The planning seed's metrics on the scenarios of tests/scenarios, each with its n.

python benchmarks/planning.py

A scripted model plays each scenario over real HTTP against real rows. So this says what
Remit does whatever a model says, and nothing about any language model: gaps are found by the
records and by the offline stand-in, which compares words.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database


def main() -> None:
    with own_database():
        from django.conf import settings

        from integrations.models import Account, Organisation
        from tests.model_server import scripted_model
        from tests.scenarios.measure import measure

        organisation = Organisation.objects.create(slug="scenarios", name="Scenarios")
        Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
        settings.REVIEW_MIN_CALLS = settings.REVIEW_EVERY_CALLS = 0
        with scripted_model(settings, {}) as model:
            metrics = measure(model, organisation)
    for metric in metrics:
        print(metric)
    print(f"n = {sum(metric.scenarios for metric in metrics)} scenarios")


if __name__ == "__main__":
    main()
