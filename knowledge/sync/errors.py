"""What people are told about a sync that stopped or waits."""

_SENTENCES = {
    "not_permitted": "The data service refused the credential. Check DATA_SERVICE_KEYS.",
    "unavailable": "The data service did not answer.",
    "circuit_open": "The data service did not answer again and again, so nothing is sent to it "
    "for a while.",
    "too_slow": "The data service answered too slowly to be waited for.",
    "rate_limited": "The data service asked to be left alone.",
    "malformed_answer": "The data service sent something that its contract does not allow.",
    "model": "The model did not answer.",
    "stalled": "It was begun again and again and never finished a page. See the log.",
    "restarted": "Its place in the list ran out again and again. Start the sync again later.",
}
_OF_PROVIDER = _SENTENCES.keys() - {"model", "stalled", "restarted"}


def sentence(code: str, *, imported: bool) -> str:
    """What the code of an error means, to who looks at the sync, or `imported` it."""
    if imported and code in _OF_PROVIDER:
        return f"The mail server or the file could not be read on ({code}). Import again later."
    return _SENTENCES.get(code, f"The data service did not do as asked ({code}).")
