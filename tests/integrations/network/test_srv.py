"""Which of a domain's servers are tried, and which are not."""

import pytest
from hypothesis import given, strategies as st

from integrations.exceptions import Rejected
from integrations.network import srv
from integrations.network.srv import Place, Record, Service

NUMBERS = st.integers(0, 65535)
RECORDS = st.lists(
    st.builds(
        Record,
        priority=st.integers(0, 3),
        weight=NUMBERS,
        port=NUMBERS,
        target=st.sampled_from([".", "a.test", "B.test", "evil host", "10.0.0.1", "x" * 64])
        | st.text(max_size=30),
    ),
    max_size=12,
)


def record(target: str, priority: int = 0, weight: int = 0, port: int = 993) -> Record:
    return Record(priority=priority, weight=weight, port=port, target=target)


def hosts(*records: Record, number: int = 0) -> list[str]:
    return [one.host for one in srv.read(records, draw=lambda below: number % below).places]


def test_the_lowest_priority_is_first() -> None:
    assert hosts(record("b.test", 20), record("a.test", 10, 500)) == ["a.test", "b.test"]


@pytest.mark.parametrize(
    ("number", "first"),
    [(0, "none.test"), (1, "light.test"), (10, "light.test"), (11, "heavy.test")],
)
def test_within_a_priority_the_weight_is_the_chance(number: int, first: str) -> None:
    equals = (record("heavy.test", 0, 90), record("none.test"), record("light.test", 0, 10))

    assert hosts(*equals, number=number)[0] == first
    assert set(hosts(*equals, number=number)) == {"none.test", "light.test", "heavy.test"}


@pytest.mark.parametrize(
    "target", ["", "10.0.0.1", "a b.test", "a\\.b.test", "-a.test", "a..test", "ä.test", "x" * 64]
)
def test_what_no_server_can_be_called_is_left_out(target: str) -> None:
    assert hosts(record(target), record("a.test", 9)) == ["a.test"]


def test_the_root_alone_says_that_there_is_none() -> None:
    none = srv.read([record(".", port=0)], draw=lambda below: 0)

    assert none == Service(is_refused=True)
    with pytest.raises(Rejected, match=r"^The DNS of a\.test says that there is no such service"):
        srv.check_offered("a.test", none, Service())
    srv.check_offered("a.test", Service())
    srv.check_offered("a.test", none, Service(places=(Place(host="b.test", port=1),)))
    assert hosts(record("."), record("a.test")) == ["a.test"]


@given(records=RECORDS, number=NUMBERS)
def test_few_of_those_that_are_named_are_tried_in_their_order(
    records: list[Record], number: int
) -> None:
    found = srv.read(records, draw=lambda below: number % below)

    named = {(one.target.lower(), one.port): one.priority for one in reversed(records)}
    least = [min(o.priority for o in records if (o.target.lower(), o.port) == at) for at in named]
    by_place = dict(zip(named, least, strict=True))
    places = [(one.host, one.port) for one in found.places]
    assert len(places) <= srv.MOST
    assert all(at in by_place and at[0] != srv.NOWHERE and at[1] for at in places)
    assert not (found.places and found.is_refused)
    if len(set(named)) == len(records):
        assert [by_place[at] for at in places] == sorted(by_place[at] for at in places)


@pytest.mark.parametrize(
    ("texts", "path"),
    [
        ([b"path=/dav"], "/dav"),
        ([b"v=1", b"PATH=/dav/~maya/"], "/dav/~maya/"),
        ([], ""),
        ([b"path="], ""),
        ([b"path=dav"], ""),
        ([b"path=//evil.test/dav"], ""),
        ([b"path=/a/../b"], ""),
        ([b"path=/a b"], ""),
        ([b"path=/a?b#c"], ""),
        ([b"path=/" + b"a" * 255], ""),
        ([b"path=/\xff"], ""),
    ],
)
def test_a_path_is_plain_or_none(texts: list[bytes], path: str) -> None:
    assert srv.read_path(texts) == path


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("a.test", True), ("mail.a.test", True), ("evil-a.test", False), ("a.test.evil", False)],
)
def test_a_server_of_another_site_has_to_be_named(host: str, is_own: bool) -> None:
    place = Place(host=host, port=993)

    assert srv.is_own("a.test", place) == is_own
    if is_own:
        srv.check_own("a.test", [place])
    else:
        with pytest.raises(Rejected) as refused:
            srv.check_own("a.test", [place, Place(host="smtp.evil", port=465)])
        assert str(refused.value) == (
            f"The DNS of a.test names {host}:993 and smtp.evil:465, which is another site. Nothing "
            "was sent there, the password neither. Name that server, if it is the right one."
        )


def test_own_servers_come_before_those_of_others() -> None:
    own, other = Place(host="mail.a.test", port=993), Place(host="b.test", port=993)

    assert srv.prefer_own("a.test", (other, own)) == (own,)
    assert srv.prefer_own("a.test", (other,)) == (other,)
