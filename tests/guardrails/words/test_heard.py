"""What a person typed in one request, read once."""

from dataclasses import replace

from guardrails.contracts import Origin
from guardrails.words.heard import hear

ORIGIN = Origin(
    trigger="chat",
    user_words="Tell Bob@Company.COM “at 5 pm” on Friday.\n> at 6 pm",
    said_at="2026-11-25T09:00:00+01:00",
    time_zone="Europe/Berlin",
)


def test_words_are_read_once_for_all_requests_of_a_turn() -> None:
    assert hear(replace(ORIGIN, call_id="another")) is hear(ORIGIN)


def test_what_is_heard_is_the_persons_own_voice_with_plain_addresses() -> None:
    heard = hear(ORIGIN)

    assert heard.words == "Tell Bob@Company.COM “at 5 pm” on Friday."
    assert heard.spoken == "Tell Bob@Company.COM “” on Friday."
    assert heard.addresses == "Tell Bob@company.com “at 5 pm” on Friday."
    assert [str(day) for day in heard.times.days] == ["2026-11-27"]


def test_the_same_words_typed_later_or_elsewhere_are_read_anew() -> None:
    a_week_later = hear(replace(ORIGIN, said_at="2026-12-02T09:00:00+01:00"))
    nowhere = hear(replace(ORIGIN, time_zone=""))

    assert [str(day) for day in a_week_later.times.days] == ["2026-12-04"]
    assert not nowhere.times.days
