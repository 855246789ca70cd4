"""What can go wrong at a provider, and whether trying again can help."""


class ProviderError(Exception):
    """A provider did not do what was asked.

    `code` is from a closed list and safe to show and store; the message may hold details
    and belongs in logs. `retryable` says whether the same call may succeed later.
    `outcome_unknown` says that the call may have had its effect all the same, `retry_after`
    how many seconds to wait before the next try where that is known. `said` is what the other
    side itself says about it, short: a stranger's words, to be fenced wherever they are shown.
    """

    code = "provider_error"
    retryable = False
    outcome_unknown = False

    def __init__(
        self, message: str = "", *, retry_after: float | None = None, said: str = ""
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.said = said


class NotFound(ProviderError):
    code = "not_found"


class NotPermitted(ProviderError):
    """401 or 403: the credential is missing, wrong or too weak. An operator must act."""

    code = "not_permitted"


class SignInNeeded(NotPermitted):
    """The user has to sign in to their account again. What asked waits for that, however long, and
    goes on by itself afterwards; it is not asked again at once."""

    code = "sign_in_needed"
    retryable = True

    def __init__(
        self, message: str = "", *, retry_after: float | None = 60.0, said: str = ""
    ) -> None:
        super().__init__(message, retry_after=retry_after, said=said)


class Rejected(ProviderError):
    """The provider understood and refused: a repeat of the same call cannot succeed."""

    code = "rejected"


class Changed(Rejected):
    """412: the object has another version than the one the write was decided on."""

    code = "changed"


class Full(Rejected):
    """There is no room for it: somebody must make some."""

    code = "full"


class TooLate(Rejected):
    """It has left the provider and cannot be called back any more."""

    code = "too_late"


class TooLarge(Rejected):
    """There is more than was asked for."""

    code = "too_large"


class CursorExpired(ProviderError):
    """The page cursor is too old: start over inside the window, never jump to now."""

    code = "cursor_expired"


class RateLimited(ProviderError):
    code = "rate_limited"
    retryable = True


class Unavailable(ProviderError):
    """A 5xx answer, a time-out or a broken connection. A write may have happened."""

    code = "unavailable"
    retryable = True
    outcome_unknown = True


class TooSlow(Unavailable):
    """It answers, but too slowly to wait for. It is not asked again at once, but later."""

    code = "too_slow"


class CircuitOpen(Unavailable):
    """It failed to answer several times, so nothing was sent. It is asked again later."""

    code = "circuit_open"
    outcome_unknown = False


class Malformed(ProviderError):
    """The answer breaks the contract (not JSON, or fields of the wrong type)."""

    code = "malformed_answer"
    outcome_unknown = True
