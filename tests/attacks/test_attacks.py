"""With a model that does exactly what an attacker wants, nothing reaches the outside that a
person has not granted; and whoever blocks everything fails at the twins."""

import pytest

from tests.attacks.case import Case, Story
from tests.attacks.desk import Desk
from tests.attacks.rows import CASES
from tests.attacks.run import prove

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def parameter(case: Case | Story) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=case.hole)] if case.hole else []
    return pytest.param(case, id=str(case), marks=marks)


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
def test_the_attack_fails_and_its_twin_comes_through(desk: Desk, case: Case | Story) -> None:
    prove(desk, case)
