"""What a model's endpoint can do, found out by trying: one request for each thing that Remit uses.

Nothing of an office is sent, and nobody is charged. Each finding says what Remit does about it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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


def try_model(model: str) -> Iterator[Finding]:
    """What this model's endpoint can do, one finding after another. After a first one that fails
    there is no other: then nobody answers."""
    answers = _try("answers", lambda: _text(_ask(model, "Say yes.")), "Nothing works without it.")
    yield answers
    if not answers.works:
        return
    yield _try(
        "streams",
        lambda: _heard(model),
        "Ask for whole answers: /chat/stream passes each on once it is there.",
        {"streams": False},
    )
    yield _try(
        "calls tools",
        lambda: _calls(model, least=1),
        "Let it decide in JSON.",
        {"protocol": "json"},
    )
    yield _try(
        "calls several at once",
        lambda: _calls(model, least=2),
        "It calls one after another, which takes longer.",
        {"parallel_tools": False},
    )
    yield _try(
        "reads results of tools",
        lambda: _text(_send(model, messages=[*CALLED], tools=[LOOK])),
        "Let it decide in JSON.",
        {"protocol": "json"},
    )
    yield _try(
        "takes a later system message",
        lambda: _text(_send(model, messages=[SYSTEM, _user("Hi."), SYSTEM])),
        "What Remit says later is sent as the user's, marked.",
        {"system_messages": "first"},
    )
    yield _try(
        "answers in JSON",
        lambda: _json(model),
        "Items cannot be summarised, nor tasks extracted: set INGEST_MODEL to one that can.",
    )
    yield _try(
        "keeps short answers",
        lambda: _text(_ask(model, "Say yes.", max_completion_tokens=200)),
        "It may think longer than it may answer: give it room beside its answer.",
        {"thinking_tokens": 4000},
    )


def try_embeddings() -> Finding:
    """Whether the embedding model gives vectors of the size that the database keeps."""
    return _try(
        f"embeds in {settings.EMBEDDING_DIMENSIONS} dimensions",
        lambda: _has(llm.embed(["One.", "Two."], payer=None)),
        "Search goes by words alone. Name the size of its vectors in its profile (dimensions) and "
        "in EMBEDDING_DIMENSIONS, and run `manage.py resize_vectors`.",
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


def _send(model: str, listener: Listener | None = None, **body: Any) -> Completion:
    # As it is sent later, but for the system messages: whether it takes them is looked at here.
    profile = profiles.profile(model)
    plain = profile.model_copy(update={"system_messages": "anywhere"})
    return llm.ask_once(model, body | dialect.settings_for(plain, body), listener)


def _user(text: str) -> Wire:
    return {"role": "user", "content": text}


def _ask(model: str, text: str, **more: Any) -> Completion:
    return _send(model, messages=[SYSTEM, _user(text)], **more)


def _text(answer: Completion) -> bool:
    return bool(answer.text.strip())


def _heard(model: str) -> bool:
    heard: list[str] = []
    listener = Listener(on_text=heard.append, on_restart=heard.clear)
    _send(model, listener, messages=[SYSTEM, _user("Say yes.")])
    return bool("".join(heard).strip())


def _calls(model: str, *, least: int) -> bool:
    calls = _send(model, messages=[SYSTEM, TWO], tools=[LOOK]).calls
    for call in calls:
        try:
            load_object(call.arguments)
        except ValueError:
            return False
    return len([call for call in calls if call.name == "look"]) >= least


def _json(model: str) -> bool:
    answer = _ask(
        model, 'Answer with the JSON object {"yes": true}.', response_format={"type": "json_object"}
    )
    try:
        return bool(load_object(answer.text))
    except ValueError:
        return False


def _has(vectors: list[list[float]]) -> bool:
    return len(vectors) == 2 and any(vectors[0])
