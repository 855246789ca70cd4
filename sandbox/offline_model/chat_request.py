"""The shape of a Chat Completions request, as strict as the real API's.

Fields that change how a real model samples are accepted and change nothing here. Fields
whose promise could not be kept (several choices, stop words, log probabilities, JSON
schemas) are refused rather than ignored.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox.offline_model.errors import ApiError

ToolName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
ROLES = "'system', 'developer', 'user', 'assistant' and 'tool'"


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TextPart(Shape):
    type: Literal["text"]
    text: str


Content = str | Annotated[list[TextPart], Field(min_length=1)]


def _joined(content: Content | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content)


class InstructionMessage(Shape):
    role: Literal["system", "developer"]
    content: Content
    name: str | None = None

    @property
    def text(self) -> str:
        return _joined(self.content)


class UserMessage(Shape):
    role: Literal["user"]
    content: Content
    name: str | None = None

    @property
    def text(self) -> str:
        return _joined(self.content)


class FunctionCall(Shape):
    name: ToolName
    arguments: str


class ToolCall(Shape):
    id: str = Field(min_length=1)
    type: Literal["function"]
    function: FunctionCall


class AssistantMessage(Shape):
    role: Literal["assistant"]
    content: Content | None = None
    tool_calls: Annotated[list[ToolCall], Field(min_length=1)] | None = None
    name: str | None = None
    # What a client sends back when it returns an answer unchanged.
    refusal: str | None = None
    annotations: list[Any] | None = None
    audio: None = None
    function_call: None = None

    @property
    def text(self) -> str:
        return _joined(self.content)


class ToolMessage(Shape):
    role: Literal["tool"]
    content: Content
    tool_call_id: str = Field(min_length=1)

    @property
    def text(self) -> str:
        return _joined(self.content)


Message = Annotated[
    InstructionMessage | UserMessage | AssistantMessage | ToolMessage,
    Field(discriminator="role"),
]


class FunctionTool(Shape):
    name: ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Shape):
    type: Literal["function"]
    function: FunctionTool


class StreamOptions(Shape):
    include_usage: bool = False
    include_obfuscation: bool = False


class ResponseFormat(Shape):
    type: Literal["text", "json_object"]


class ChatRequest(Shape):
    model: str
    messages: list[Message] = Field(min_length=1)
    tools: Annotated[list[Tool], Field(min_length=1)] | None = None
    tool_choice: Literal["auto", "none"] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    n: Literal[1] | None = None
    # No effect on rules.
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    service_tier: str | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None

    @property
    def token_limit(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens


def refusal_of(error: ValidationError) -> ApiError:
    """One thing that is wrong, as one sentence with the field's path.

    Where a value may be of several shapes, the shape it came nearest to is judged: the fault
    that lies deepest.
    """
    faults = error.errors(include_url=False, include_input=False)
    first = max(faults, key=lambda fault: len(fault["loc"]))
    if first["type"] == "json_invalid":
        return ApiError(
            "We could not parse the JSON body of your request. The body must be one JSON object."
        )
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}"
        for part in first["loc"]
        if part not in ("system", "developer", "user", "assistant", "tool", "str")
        and not str(part).startswith(("list[", "constrained-"))
    ).lstrip(".")
    if first["type"] == "union_tag_invalid":
        path += ".role"
        message = f"Invalid value for '{path}'. Supported values are: {ROLES}."
    elif first["type"] in ("missing", "union_tag_not_found"):
        path += ".role" if first["type"] == "union_tag_not_found" else ""
        message = f"Missing required parameter: '{path}'."
    elif first["type"] == "extra_forbidden":
        message = f"Unknown or unsupported parameter: '{path}'."
    else:
        message = f"Invalid value for '{path or 'body'}': {first['msg']}."
    return ApiError(message, param=path or None)


def parse(body: bytes) -> ChatRequest:
    """The request in `body`. Raises ApiError with one fault."""
    try:
        request = ChatRequest.model_validate_json(body)
    except ValidationError as error:
        raise refusal_of(error) from error
    _check_options(request)
    return request


def _check_options(request: ChatRequest) -> None:
    if request.stream_options is not None and not request.stream:
        raise ApiError(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    for name in ("tool_choice", "parallel_tool_calls"):
        if getattr(request, name) is not None and not request.tools:
            raise ApiError(f"'{name}' is only allowed when 'tools' are specified.", param=name)
    wants_json = request.response_format and request.response_format.type == "json_object"
    if wants_json and not any("json" in message.text.lower() for message in request.messages):
        raise ApiError(
            "'messages' must contain the word 'json' in some form, to use 'response_format' "
            "of type 'json_object'.",
            param="messages",
        )
