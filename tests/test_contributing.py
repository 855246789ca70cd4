"""The feature that CONTRIBUTING.md builds step by step works as it stands there."""

import re
from textwrap import dedent
from typing import Any

import pytest

from config.local.state import PROJECT_DIR
from guardrails.decide.conditions import vocabulary
from tests.guardrails.decide.test_conditions_content import is_met


def test_the_condition_of_the_example_keeps_what_its_own_test_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (PROJECT_DIR / "CONTRIBUTING.md").read_text(encoding="utf-8")
    condition, _, test = map(dedent, re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    names: dict[str, Any] = {"__name__": "max_hosts", "is_met": is_met}
    exec(condition, names)
    exec(test, names)
    monkeypatch.setitem(vocabulary.BY_KIND, "max_hosts", names["MaxHosts"])

    names["test_hosts_are_counted_once_each_and_an_unclear_one_fails"]()
