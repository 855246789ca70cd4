"""Conditions of every kind, for properties that hold for all of them."""

from collections.abc import Mapping
from typing import Any, get_args

from hypothesis import strategies as st

from guardrails.contracts import Trigger
from guardrails.decide.provenance import Relation
from guardrails.facts.sensitive import SENSITIVE
from tests.guardrails.values import ADA, ME, STRANGER

Raw = st.SearchStrategy[dict[str, Any]]
domains = st.lists(
    st.sampled_from(["client.com", "company.com", "evil.example"]), min_size=1, max_size=2
)
people = st.lists(st.sampled_from([ADA, ME, STRANGER]), min_size=1, max_size=2)
counts = st.integers(1, 4)
hours = st.integers(0, 48)
subjects = st.lists(st.sampled_from(["Lunch on Friday?", "lunch", "x"]), min_size=1, max_size=2)
labels = st.sampled_from(["INBOX", "UNREAD", "label_fyi"])


def kind(name: str, **fields: st.SearchStrategy[Any]) -> Raw:
    return st.fixed_dictionaries({"kind": st.just(name), **fields})


def bounded(name: str, low: str, high: str, **fields: st.SearchStrategy[Any]) -> Raw:
    both = st.lists(hours, min_size=2, max_size=2).map(sorted)
    return st.builds(
        lambda given, two, sides: {
            **given,
            **{side: value for side, value in zip((low, high), two, strict=True) if side in sides},
        },
        kind(name, **fields),
        both,
        st.sampled_from([(low,), (high,), (low, high)]),
    )


# One strategy for each kind there is; a test fails where one is missing.
STRATEGIES: Mapping[str, Raw] = {
    "first_contact": kind("first_contact", first_contact=st.booleans()),
    "thread": kind("thread", min_messages=counts),
    "sender": st.one_of(kind("sender", domains=domains), kind("sender", addresses=people)),
    "not_sender": st.one_of(
        kind("not_sender", domains=domains), kind("not_sender", addresses=people)
    ),
    "sender_authenticated": kind("sender_authenticated"),
    "sender_exists": kind("sender_exists"),
    "sender_relation": kind(
        "sender_relation",
        any_of=st.lists(
            st.sampled_from(["self", "own_domain", "corresponded", "thread"]), min_size=1
        ),
    ),
    "subject": st.one_of(kind("subject", equals=subjects), kind("subject", words=subjects)),
    "labels": st.one_of(
        kind("labels", carries=st.lists(labels, min_size=1, max_size=1)),
        kind("labels", lacks=st.lists(labels, min_size=1, max_size=1)),
    ),
    "recipient": kind(
        "recipient",
        relation=st.lists(st.sampled_from(get_args(Relation)), min_size=1, unique=True),
        novel=st.sampled_from(["forbid", "ask"]),
    ),
    "assignee": kind(
        "assignee",
        assignee=st.just("project_members"),
        unnamed=st.sampled_from(["refuse", "ask"]),
    ),
    "text": kind("text", written_by=st.sampled_from(["user", "agent", "anyone"])),
    "recipient_domain": kind("recipient_domain", domains=domains),
    "max_recipients": kind("max_recipients", max=counts),
    "bcc": kind("bcc", bcc=st.sampled_from(["forbid", "allow"])),
    "group_address": kind(
        "group_address",
        group_address=st.sampled_from(["forbid", "allow"]),
        groups=st.lists(st.sampled_from([ADA, STRANGER]), max_size=1),
    ),
    "mailing_list": kind("mailing_list", mailing_list=st.sampled_from(["forbid", "ask", "listed"])),
    "unasked": kind("unasked", receivers=st.sampled_from(["mark", "leave_out"])),
    "place": kind(
        "place", places=st.lists(st.sampled_from(["drive_people", "INBOX", "calendar"]), min_size=1)
    ),
    "owner": kind("owner", owner=st.sampled_from(["self", "own_domain", "any"])),
    "audience": kind("audience", audience=st.sampled_from(["private", "internal", "any"])),
    "named": kind("named", unnamed=st.sampled_from(["refuse", "ask"])),
    "removing": kind("removing", unasked=st.just("own")),
    "created_in_run": kind("created_in_run"),
    "age": bounded("age", "min_hours", "max_hours"),
    "links": st.one_of(
        kind("links", links=st.sampled_from(["none", "known", "any"])),
        kind("links", links=st.just("known"), domains=domains),
    ),
    "attachments": kind("attachments", attachments=st.sampled_from(["none", "named", "any"])),
    "secrets": kind(
        "secrets", forbid=st.lists(st.sampled_from(SENSITIVE), min_size=1, unique=True)
    ),
    "max_chars": kind("max_chars", max=st.integers(1, 100)),
    "plain_text_only": kind("plain_text_only"),
    "number": bounded("number", "min", "max", field=st.sampled_from(["to", "labels", "amount"])),
    "notice": kind("notice", min_hours=st.integers(1, 48)),
    "trigger": kind(
        "trigger",
        any_of=st.lists(st.sampled_from(get_args(Trigger)), min_size=1, unique=True),
    ),
    "business_hours": kind(
        "business_hours",
        zone=st.sampled_from(["UTC", "Europe/Stockholm", "Asia/Kolkata", "America/New_York"]),
        start=st.sampled_from(["00:00", "08:30", "10:00"]),
        end=st.sampled_from(["10:01", "17:00", "23:59"]),
        days=st.lists(
            st.sampled_from(["mon", "tue", "sat", "sun"]), min_size=1, unique=True, max_size=3
        ),
    ),
    "opt_in": kind("opt_in", feature=st.sampled_from(["auto-drafts", "beta"])),
    "two_people": kind("two_people"),
    "rate": kind("rate", max=counts, per=st.sampled_from(["hour", "day"])),
    "new_receivers_per_day": kind("new_receivers_per_day", max=st.integers(0, 4)),
    "receivers_per_run": kind("receivers_per_run", max=counts),
    "deletes_per_hour": kind("deletes_per_hour", max=counts),
    "asks_per_run": kind("asks_per_run", max=counts),
    "sum_per_day": kind("sum_per_day", field=st.just("amount"), max=st.integers(1, 9)),
}
any_condition: Raw = st.one_of(*STRATEGIES.values())
