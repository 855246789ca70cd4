"""What a model's endpoint can do, found out by trying: one request for each thing that Remit uses.

Nothing of an office is sent, and nobody is charged. Each finding says what Remit does about it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from integrations.llm import dialect, llm, profiles
from integrations.llm.completions import Completion, Listener, ModelError
from integrations.network.strict_json import load_object

Wire = dict[str, Any]
LOOK: Wire = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look at one number.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    },
}
SYSTEM: Wire = {"role": "system", "content": "You answer shortly."}
TWO: Wire = {"role": "user", "content": "Call look for 1 and for 2, both in one step."}
CALLED: tuple[Wire, ...] = (
    SYSTEM,
    {"role": "user", "content": "Look at 1, then say what you saw."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "look", "arguments": '{"number":1}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": '{"success":true,"data":{"colour":"red"}}'},
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`works`, or else how it failed (`code`) and what to do about it; `profile` are the fields
    of the model's profile that make up for it."""

    name: str
    works: bool
    code: str = ""
    advice: str = ""
    profile: Mapping[str, Any] | None = None


# What a profile may set that an endpoint may not know, and what leaves it out.
SETTINGS: Mapping[str, Any] = {"temperature": None, "reasoning_effort": ""}


@dataclass(frozen=True)
class _Endpoint:
    """A model as it is spoken to by this profile."""

    model: str
    profile: profiles.Profile

    def using(self, fields: Mapping[str, Any]) -> "_Endpoint":
        return _Endpoint(self.model, self.profile.model_copy(update=dict(fields)))

    def send(self, listener: Listener | None = None, **body: Any) -> Completion:
        return llm.ask_once(self.model, body | dialect.settings_for(self.profile, body), listener)

    def ask(self, text: str, **more: Any) -> Completion:
        return self.send(messages=[SYSTEM, _user(text)], **more)


def try_model(model: str) -> Iterator[Finding]:
    """What this model's endpoint can do, one finding after another. After a first one that fails
    there is no other: then nobody answers."""
    # Whether it takes later system messages is looked at here.
    known = _Endpoint(model, profiles.profile(model)).using({"system_messages": "anywhere"})
    bare = known.using(SETTINGS)
    answers = _try("answers", lambda: _text(bare.ask("Say yes.")), "Nothing works without it.")
    yield answers
    if not answers.works:
        return
    endpoint = bare
    for name in SETTINGS:
        if (value := getattr(known.profile, name)) != SETTINGS[name]:
            found = _takes(bare.using({name: value}), name)
            endpoint = endpoint.using({name: value} if found.works else {})
            yield found
    yield _try(
        "streams",
        lambda: _heard(endpoint),
        "Ask for whole answers: /chat/stream passes each on once it is there.",
        {"streams": False},
    )
    yield _try(
        "calls tools",
        lambda: _calls(endpoint, least=1),
        "Let it decide in JSON.",
        {"protocol": "json"},
    )
    yield _try(
        "calls several at once",
        lambda: _calls(endpoint, least=2),
        "It calls one after another, which takes longer.",
        {"parallel_tools": False},
    )
    yield _try(
        "reads results of tools",
        lambda: _text(endpoint.send(messages=[*CALLED], tools=[LOOK])),
        "Let it decide in JSON.",
        {"protocol": "json"},
    )
    yield _try(
        "takes a later system message",
        lambda: _text(endpoint.send(messages=[SYSTEM, _user("Hi."), SYSTEM])),
        "What Remit says later is sent as the user's, marked.",
        {"system_messages": "first"},
    )
    yield _try(
        "answers in JSON",
        lambda: _json(endpoint),
        "Items cannot be summarised, nor tasks extracted: set INGEST_MODEL to one that can.",
    )
    yield _try(
        "keeps short answers",
        lambda: _text(endpoint.ask("Say yes.", max_completion_tokens=200)),
        "It may think longer than it may answer: give it room beside its answer.",
        {"thinking_tokens": 4000},
    )


def try_embeddings() -> Finding:
    """Whether the embedding model gives vectors of the size that the database keeps; else, of
    which size they are."""
    name = f"embeds in {settings.EMBEDDING_DIMENSIONS} dimensions"
    found = _try(
        name, lambda: _has(llm.embed(["One.", "Two."], payer=None)), "Search goes by words."
    )
    if found.works:
        return found
    try:
        [vector] = llm.embed(["One."], payer=None, any_size=True)
    except ModelError:
        return found
    size = len(vector)
    return replace(
        found,
        advice=f"{found.advice} Its vectors have {size} numbers: put `dimensions: {size}` into its "
        f"profile, set EMBEDDING_DIMENSIONS={size}, and run `manage.py resize_vectors`.",
    )


def _try(
    name: str, look: Callable[[], bool], advice: str, profile: Mapping[str, Any] | None = None
) -> Finding:
    try:
        works, code = look(), "no_answer"
    except ModelError as error:
        works, code = False, error.code
    if works:
        return Finding(name=name, works=True)
    return Finding(name=name, works=False, code=code, advice=advice, profile=profile)


def _takes(endpoint: _Endpoint, name: str) -> Finding:
    return _try(
        f"takes {name.replace('_', ' ')} {getattr(endpoint.profile, name)}",
        lambda: _text(endpoint.ask("Say yes.")),
        "Take it out of the profile.",
        {name: SETTINGS[name]},
    )


def _user(text: str) -> Wire:
    return {"role": "user", "content": text}


def _text(answer: Completion) -> bool:
    return bool(answer.text.strip())


def _heard(endpoint: _Endpoint) -> bool:
    heard: list[str] = []
    listener = Listener(on_text=heard.append, on_restart=heard.clear)
    endpoint.send(listener, messages=[SYSTEM, _user("Say yes.")])
    return bool("".join(heard).strip())


def _calls(endpoint: _Endpoint, *, least: int) -> bool:
    calls = endpoint.send(messages=[SYSTEM, TWO], tools=[LOOK]).calls
    for call in calls:
        try:
            load_object(call.arguments)
        except ValueError:
            return False
    return len([call for call in calls if call.name == "look"]) >= least


def _json(endpoint: _Endpoint) -> bool:
    answer = endpoint.ask(
        'Answer with the JSON object {"yes": true}.', response_format={"type": "json_object"}
    )
    try:
        return bool(load_object(answer.text))
    except ValueError:
        return False


def _has(vectors: list[list[float]]) -> bool:
    return len(vectors) == 2 and any(vectors[0])
