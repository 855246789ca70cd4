"""One request to a model's endpoint: tried again where that may help, and over by a deadline.

The client's own retries know no deadline, and its time-out is one for each read: an answer that
dribbles would never end. Imported only where a model is called: openai costs a third of a second
and 48 MiB.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import httpx2
import openai
import tenacity
from django.conf import settings
from openai import OpenAI, Timeout

from integrations.database.pools import release_connections
from integrations.llm.circuit import Circuit
from integrations.llm.completions import ModelError
from integrations.llm.deadline import Deadline
from integrations.network.retries import MAX_WAIT_SECONDS, retry_after

T = TypeVar("T")
CONNECT_SECONDS = 5.0
_backoff = tenacity.wait_random_exponential(multiplier=0.5, max=8.0)


class _Passing(ModelError):
    """What one more try may mend, after so many seconds."""

    def __init__(self, code: str, *, wait_seconds: float = 0.0) -> None:
        super().__init__(code, retryable=True)
        self.wait_seconds = wait_seconds


class Client(OpenAI):
    """A client that tries once, hands a prompt on to nobody else (redirects), and reads no answer
    beyond the deadline of its request."""

    def __init__(self, *, api_key: str, base_url: str | None) -> None:
        self._connections = _Connections(event_hooks={"response": [_bound]}, follow_redirects=False)
        super().__init__(
            api_key=api_key, base_url=base_url, max_retries=0, http_client=self._connections
        )

    @property
    def user_agent(self) -> str:
        return f"OpenAI/Python {openai.__version__}"  # not after this class

    def ask(self, path: str, body: Mapping[str, Any], *, timeout: Timeout) -> bytes:
        """An answer that comes whole. Composing a request takes the SDK longer than sending it, so
        it is sent here, on the SDK's connections. Raises openai's and httpx2's errors."""
        url, headers = self._addressed
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        response = self._connections.post(
            url + path,
            content=content.encode(),
            headers={**headers, "X-Stainless-Read-Timeout": str(timeout.read)},
            timeout=timeout,
        )
        if not response.is_success:
            raise openai.APIStatusError(
                f"Status {response.status_code}", response=response, body=None
            )
        return response.content

    @cached_property
    def _addressed(self) -> tuple[str, dict[str, str]]:
        """The endpoint, and what the SDK says of the caller, but not of the machine."""
        known = {**self.default_headers, **self.auth_headers}
        sent = {name: value for name, value in known.items() if isinstance(value, str)}
        return str(self.base_url).rstrip("/"), {
            name: value for name, value in sent.items() if not name.startswith("X-Stainless-")
        }


class _Connections(openai.DefaultHttpxClient):
    """Closed when nobody has it any more, as those are that the SDK makes itself."""

    def __del__(self) -> None:
        if not self.is_closed:
            self.close()


def tried(send: Callable[[Timeout], T], *, circuit: Circuit, deadline: Deadline, tries: int) -> T:
    """What `send` gives, where the endpoint's circuit lets it through. It is given the time that
    one try may take: MODEL_TIMEOUT_SECONDS for each read, and in all what is left. No wait goes
    beyond the deadline. Raises ModelError."""
    release_connections()
    retrying: Callable[..., T] = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(tries) | tenacity.stop_before_delay(deadline.seconds_left),
        retry=tenacity.retry_if_exception_type(_Passing),
        wait=_wait,
        reraise=True,
    )
    return retrying(_noted, send, circuit, deadline)


def _noted(send: Callable[[Timeout], T], circuit: Circuit, deadline: Deadline) -> T:
    patient = deadline.seconds_left >= settings.MODEL_TIMEOUT_SECONDS
    circuit.enter(seconds=settings.MODEL_TIMEOUT_SECONDS)
    try:
        answer = _once(send, deadline)
    except ModelError as error:
        if patient or error.code != "timeout":  # who waits for a moment only learns nothing
            circuit.note(error.code)
        raise
    circuit.note()
    return answer


def _once(send: Callable[[Timeout], T], deadline: Deadline) -> T:
    try:
        return send(_time_out(deadline))
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise _Passing("timeout") from error
    except (openai.APIConnectionError, httpx2.HTTPError) as error:
        raise _Passing("unreachable") from error
    except openai.APIStatusError as error:
        raise _refused(error) from error
    except openai.OpenAIError as error:
        raise ModelError("unusable_answer", retryable=False) from error


def _refused(error: openai.APIStatusError) -> ModelError:
    code, headers = f"status_{error.status_code}", error.response.headers
    if error.status_code not in (408, 409, 429) and error.status_code < 500:
        return ModelError(code, retryable=False)
    wait = retry_after(headers.get("Retry-After")) or 0.0
    # OpenAI's own word for it: a later request may help, this one need not be tried again.
    if headers.get("x-should-retry") == "false" or wait > MAX_WAIT_SECONDS:
        return ModelError(code, retryable=True)
    return _Passing(code, wait_seconds=wait)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return _backoff(state) + (error.wait_seconds if isinstance(error, _Passing) else 0.0)


class _ReadSeconds(float):
    """How long one read may wait; with when the answer has to be whole."""

    deadline: Deadline


def _time_out(deadline: Deadline) -> Timeout:
    seconds = min(settings.MODEL_TIMEOUT_SECONDS, deadline.seconds_left)
    read = _ReadSeconds(seconds)
    read.deadline = deadline
    return Timeout(seconds, connect=min(CONNECT_SECONDS, seconds), read=read)


def _bound(response: httpx2.Response) -> None:
    """Have the body of an answer end by the deadline that came with its request."""
    seconds = response.request.extensions["timeout"]
    read = seconds["read"]
    if isinstance(read, _ReadSeconds) and isinstance(response.stream, httpx2.SyncByteStream):
        seconds["read"] = min(read, read.deadline.seconds_left)  # its headers took some of it
        response.stream = _Timed(response.stream, read.deadline)


class _Timed(httpx2.SyncByteStream):
    """A body as it comes. httpx limits how long one read may take, not how many there are."""

    def __init__(self, body: httpx2.SyncByteStream, deadline: Deadline) -> None:
        self._body, self._deadline = body, deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._body:
            if self._deadline.has_passed():
                raise httpx2.ReadTimeout("the answer did not end in time")
            yield chunk

    def close(self) -> None:
        self._body.close()
