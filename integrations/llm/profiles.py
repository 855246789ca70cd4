"""Profiles of models as data: window, prices, endpoint, fallback (`model_profiles.yaml`)."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

BUILT_IN = Path(__file__).with_name("model_profiles.yaml")
DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")
MILLION = 1_000_000
ANY_OTHER = ""  # the name of every model that nobody described
# The rest of a window is for the answer, and for what was counted too low: decisions as JSON are
# a little longer than native ones.
PROMPT_PERCENT = {"tools": 80, "json": 70}


class Manner(BaseModel):
    """How a model is asked to work. What is thought in `thinking_tokens` is beside what an answer
    may have; `answer_tokens` is how long that may be, 0: as long as the work needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, ge=0, le=2)
    reasoning_effort: str = Field(default="", max_length=20)
    thinking_tokens: int = Field(default=0, ge=0, le=100_000)
    answer_tokens: int = Field(default=0, ge=0, le=100_000)


class Profile(Manner):
    """What is known of one model. Prices are US dollars for a million tokens. `roles` says where
    it is asked to work in another manner: by an agent's name, or by what it is asked for.
    `dimensions` is the size of an embedding model's vectors where it takes no wish; 0: it gives
    the size that it is asked for."""

    window: int = Field(default=32_000, ge=1000)
    price: Decimal = Field(ge=0)
    cached_price: Decimal = Field(ge=0)
    answer_price: Decimal = Field(ge=0)
    provider: str = "default"
    fallback: str = ""
    parallel_tools: bool = True
    protocol: Literal["tools", "json"] = "tools"
    streams: bool = True
    system_messages: Literal["anywhere", "first"] = "anywhere"
    dimensions: int = Field(default=0, ge=0, le=100_000)
    roles: dict[str, Manner] = {}

    def in_role(self, role: str) -> "Profile":
        """The profile of the model at this work."""
        own = self.roles.get(role)
        return self.model_copy(update=own.model_dump(exclude_unset=True)) if own else self

    def cost(self, *, prompt_tokens: int, cached_tokens: int, answer_tokens: int) -> Decimal:
        """US dollars. `cached_tokens` are part of `prompt_tokens`."""
        fresh = prompt_tokens - cached_tokens
        return (
            fresh * self.price
            + cached_tokens * self.cached_price
            + answer_tokens * self.answer_price
        ) / MILLION


def profile(model: str) -> Profile:
    """The profile of a model. One that nobody described has a small window and costs what the
    dearest known one does, so that no limit on money lets it pass."""
    known = _known(settings.MODEL_PROFILES)
    return known.get(model) or known.get(DATE.sub("", model)) or known[ANY_OTHER]


def room(model: str) -> int:
    """Tokens that a prompt may have, for the model and for its fallback."""
    asked = profile(model)
    either = [asked, *([profile(asked.fallback)] if asked.fallback else [])]
    return min(one.window * PROMPT_PERCENT[one.protocol] // 100 for one in either)


@cache
def _known(path: str) -> Mapping[str, Profile]:
    own = read(Path(path).read_text(encoding="utf-8")) if path else {}
    built_in = read(BUILT_IN.read_text(encoding="utf-8"))
    merged = {name: built_in.get(name, {}) | own.get(name, {}) for name in {**built_in, **own}}
    known = TypeAdapter(dict[str, Profile]).validate_python(merged)
    dearest = Profile(
        price=max(one.price for one in known.values()),
        cached_price=max(one.cached_price for one in known.values()),
        answer_price=max(one.answer_price for one in known.values()),
    )
    return {ANY_OTHER: dearest, **known}


def read(text: str) -> dict[str, dict[str, object]]:
    """Raises pydantic's ValidationError when `text` is no table of models."""
    return TypeAdapter(dict[str, dict[str, object]]).validate_python(yaml.safe_load(text) or {})
