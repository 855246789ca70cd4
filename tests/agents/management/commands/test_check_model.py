"""`check_model` says what works and what to set."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from integrations.llm import probe
from tests.integrations.llm.test_probe import able, strict, without_tools
from tests.model_server import Failure, Script, scripted_model

SYSTEM = probe.SYSTEM["content"]


def said(settings: Any, script: Script) -> str:
    out = io.StringIO()
    with scripted_model(settings, script):
        call_command("check_model", model="m", stdout=out)
    return out.getvalue()


def test_all_that_works_is_said_and_nothing_is_to_be_set(settings: Any) -> None:
    text = said(settings, {SYSTEM: able})
    assert text.startswith("m at the provider “default”\n  yes  answers\n")
    assert text.count("  yes  ") == 9
    assert "MODEL_PROFILES" not in text


def test_what_is_missing_is_said_with_the_profile_that_makes_up_for_it(settings: Any) -> None:
    text = said(settings, {SYSTEM: lambda b: without_tools(b) if "tools" in b else strict(b)})
    assert "  no   calls tools (status_400). Let it decide in JSON.\n" in text
    assert text.endswith(
        "Put this into the file that MODEL_PROFILES names:\n"
        "m:\n  protocol: json\n  parallel_tools: false\n  system_messages: first\n"
    )


def test_an_endpoint_that_does_not_answer_is_an_error_that_says_where_to_look(
    settings: Any,
) -> None:
    with pytest.raises(CommandError, match=r"OPENAI_API_KEY .* \(status_401\)"):
        said(settings, {SYSTEM: lambda _: Failure(401)})
