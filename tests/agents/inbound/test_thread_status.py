"""What status a thread is to have, for every thread."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from agents.inbound.thread_status import Status, find_status
from guardrails.policies.thread_states import ThreadStates
from integrations.contracts import Email

STATES = ThreadStates(
    to_reply="reply",
    awaiting_reply="await",
    follow_up="up",
    labels=frozenset({"reply", "await", "fyi", "done", "up"}),
)
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
LABELS = st.lists(
    st.sampled_from(["reply", "await", "fyi", "done", "up", "SENT", "INBOX", "TRASH", "DRAFT"]),
    unique=True,
    max_size=4,
)
THREADS = st.lists(LABELS, max_size=6)


def thread_of(*labels: list[str]) -> list[Email]:
    """Mails one minute apart, the oldest first."""
    return [
        Email(
            id=f"m{number}",
            thread_id="t",
            date=NOON + timedelta(minutes=number),
            labels=tuple(each),
        )
        for number, each in enumerate(labels)
    ]


def applied(thread: list[Email], status: Status) -> list[Email]:
    """The thread as the action leaves it."""
    return [
        mail.model_copy(
            update={
                "labels": tuple(
                    one for one in mail.labels if one == status.label_id or one not in STATES.labels
                )
                + (
                    (status.label_id,)
                    if mail.id == status.email_id and status.label_id not in mail.labels
                    else ()
                )
            }
        )
        for mail in thread
    ]


def test_the_users_answer_waits_and_an_answer_to_it_asks_again() -> None:
    assert find_status(thread_of(["reply"], ["SENT"]), STATES) == ("m1", "await")
    assert find_status(thread_of(["reply"], ["SENT", "await"], []), STATES) == ("m2", "reply")
    assert find_status(thread_of(["await", "SENT"], ["INBOX"]), STATES) == ("m1", "reply")


def test_a_reminder_ends_with_an_answer_and_waits_again_after_the_users_next_mail() -> None:
    assert find_status(thread_of(["SENT", "up"], ["INBOX"]), STATES) == ("m1", "reply")
    assert find_status(thread_of(["SENT", "up"], ["SENT"]), STATES) == ("m1", "await")


def test_only_the_provider_says_that_the_user_wrote() -> None:
    asked, forged = thread_of(["reply"], ["INBOX"])
    forged = forged.model_copy(update={"sender": "maya@company.com"})
    assert find_status([asked, forged], STATES) is None


def test_what_the_mail_reader_said_of_the_newest_counts() -> None:
    assert find_status(thread_of(["SENT", "await"], ["fyi"]), STATES) == ("m1", "fyi")
    assert find_status(thread_of(["fyi"], ["fyi"]), STATES) is None


def test_other_states_stay_where_they_are() -> None:
    assert find_status(thread_of(["done"], ["SENT"]), STATES) is None
    assert find_status(thread_of(["fyi"], []), STATES) is None


def test_a_thread_that_nobody_gave_a_status_has_none() -> None:
    assert find_status(thread_of([], ["SENT"]), STATES) is None
    assert find_status([], STATES) is None


def test_drafts_and_mail_thrown_away_are_no_answer() -> None:
    assert find_status(thread_of(["reply"], ["DRAFT"]), STATES) is None
    assert find_status(thread_of(["reply"], ["SENT", "TRASH"]), STATES) is None


def test_a_choice_is_the_whole_threads() -> None:
    thread = thread_of(["done"], ["SENT"], ["reply"])

    assert find_status(thread, STATES, chosen=[Status("m0", "done")]) == ("m0", "done")
    # Two at once are no choice, and nobody can know which was meant.
    both = thread_of(["done", "reply"])
    chosen = [Status("m0", "done"), Status("m0", "reply")]
    assert find_status(both, STATES, chosen=chosen) is None
    # What the mail no longer carries, or carries in the bin, was taken back since.
    for labels in ([], ["done", "TRASH"]):
        taken_back = thread_of(labels, ["reply"])
        assert find_status(taken_back, STATES, chosen=[Status("m0", "done")]) is None


@given(THREADS)
def test_a_thread_ends_with_one_status_and_is_then_left_alone(labels: list[list[str]]) -> None:
    thread = thread_of(*labels)
    status = find_status(thread, STATES)
    if status is None:
        return

    after = applied(thread, status)
    living = [mail for mail in after if not {"TRASH", "SPAM", "DRAFT"} & set(mail.labels)]
    assert {one for mail in living for one in mail.labels} & STATES.labels == {status.label_id}
    assert status.email_id in {mail.id for mail in living}
    assert find_status(after, STATES) is None
