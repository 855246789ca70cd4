"""What a domain's DNS is asked, at a real server on loopback, and what it may answer."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dns import message, rrset
from dns.message import Message
from dns.rcode import Rcode

from integrations.exceptions import Rejected
from integrations.network import services, srv
from integrations.network.srv import Place, Service
from tests.dns_world import HUGE, Dns

DOMAIN, SERVICE = "office.test", "_caldavs"
NAME = f"{SERVICE}._tcp.{DOMAIN}"
NOTHING = Service()


def find() -> Service:
    return services.Domain(DOMAIN).find(SERVICE)


def find_urls(*, may_name_path: bool = True) -> tuple[str, ...]:
    return services.find_urls(
        DOMAIN, SERVICE, path="/.well-known/caldav", may_name_path=may_name_path
    )


def test_a_domain_says_where_its_service_is(dns: Dns) -> None:
    dns.srv(NAME, "10 0 8443 backup.office.test.", "0 0 443 Dav.office.test.")

    assert find().places == (
        Place(host="dav.office.test", port=443),
        Place(host="backup.office.test", port=8443),
    )
    assert dns.asked == [(f"{NAME}.", "SRV")]  # and nothing below the resolver's own domain


def test_an_alias_of_the_service_is_followed(dns: Dns) -> None:
    def alias(query: Message) -> bytes:
        said = message.make_response(query)
        said.answer = [
            rrset.from_text(f"{NAME}.", 60, "IN", "CNAME", "hosted.test."),
            rrset.from_text("hosted.test.", 60, "IN", "SRV", "0 0 443 dav.office.test."),
        ]
        return said.to_wire()

    dns.raw = alias

    assert find().places == (Place(host="dav.office.test", port=443),)


def test_web_addresses_have_the_path_that_is_named(dns: Dns) -> None:
    dns.srv(NAME, "0 0 443 dav.office.test.", "1 0 8443 dav.office.test.")
    assert find_urls() == (
        "https://dav.office.test/.well-known/caldav",
        "https://dav.office.test:8443/.well-known/caldav",
    )

    dns.records[f"{NAME}.", "TXT"] = ('"path=/dav/"',)

    assert find_urls()[0] == "https://dav.office.test/dav/"
    assert find_urls(may_name_path=False)[0] == "https://dav.office.test/.well-known/caldav"


def test_another_site_is_not_taken_and_not_asked_for_its_path(dns: Dns) -> None:
    dns.srv(NAME, "0 0 443 dav.evil.test.")

    with pytest.raises(Rejected, match=r"names dav\.evil\.test:443, which is another site"):
        find_urls()
    assert dns.asked == [(f"{NAME}.", "SRV")]

    dns.srv(NAME, "0 0 443 dav.evil.test.", "5 0 443 dav.office.test.")
    assert find_urls() == ("https://dav.office.test/.well-known/caldav",)


def test_a_service_that_is_not_offered_is_said(dns: Dns) -> None:
    dns.srv(NAME, "0 0 0 .")

    with pytest.raises(Rejected, match="says that there is no such service"):
        find_urls()


def silent(query: Message) -> None:
    return None


def pointing_at_itself(query: Message) -> bytes:
    """Its answer's name is a pointer to that very pointer."""
    head = query.to_wire()
    return (
        head[:2]
        + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"
        + head[12:]
        + ((0xC000 | len(head)).to_bytes(2, "big") + b"\x00\x21\x00\x01" + bytes(6))
    )


def aliases_in_a_ring(query: Message) -> bytes:
    said = message.make_response(query)
    said.answer = [
        rrset.from_text(f"{NAME}.", 60, "IN", "CNAME", "ring.test."),
        rrset.from_text("ring.test.", 60, "IN", "CNAME", f"{NAME}."),
    ]
    return said.to_wire()


def of_another_kind(query: Message) -> bytes:
    said = message.make_response(query)
    said.answer = [
        rrset.from_text(f"{NAME}.", 60, "IN", "TXT", '"0 0 443 dav.office.test."'),
        rrset.from_text(f"{NAME}.", 60, "IN", "A", "192.0.2.1"),
    ]
    return said.to_wire()


def to_another_question(query: Message) -> bytes:
    other = message.make_query("_caldavs._tcp.evil.test.", "SRV", id=query.id)
    said = message.make_response(other)
    said.answer = [rrset.from_text(f"{NAME}.", 60, "IN", "SRV", "0 0 443 dav.office.test.")]
    return said.to_wire()


def under_another_number(query: Message) -> bytes:
    said = message.make_response(query)
    said.id ^= 1
    said.answer = [rrset.from_text(f"{NAME}.", 60, "IN", "SRV", "0 0 443 dav.office.test.")]
    return said.to_wire()


def nonsense(query: Message) -> bytes:
    return query.to_wire()[:2] + bytes(range(256)) * 200


def refused(query: Message) -> bytes:
    said = message.make_response(query)
    said.set_rcode(Rcode.REFUSED)
    return said.to_wire()


@pytest.mark.parametrize(
    "answer",
    [
        silent,
        pointing_at_itself,
        aliases_in_a_ring,
        of_another_kind,
        to_another_question,
        under_another_number,
        nonsense,
        refused,
    ],
)
def test_what_a_stranger_answers_wrongly_is_nothing(
    dns: Dns,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[Message], bytes | None],
) -> None:
    monkeypatch.setattr(services, "SECONDS", 0.5)
    dns.raw = answer

    assert find() == NOTHING
    assert find_urls() == ()
    assert dns.asked


def test_of_a_huge_answer_a_few_are_taken(dns: Dns) -> None:
    records = tuple(f"{one} 0 443 d{one}.office.test." for one in range(1500))
    dns.srv(NAME, *reversed(records))

    assert [one.host for one in find().places] == [f"d{one}.office.test" for one in range(srv.MOST)]
    assert len(dns.answer(message.make_query(f"{NAME}.", "SRV").to_wire()) or b"") < HUGE


def test_when_the_time_is_over_nothing_more_is_asked(
    dns: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    dns.srv(NAME, "0 0 443 dav.office.test.")
    monkeypatch.setattr(services, "SECONDS", 0.0)

    assert find() == NOTHING
    assert dns.asked == []


@pytest.mark.parametrize("written", ["", "# nothing\n", "nameserver nonsense\n", None])
def test_without_a_resolver_nothing_is_asked(
    dns: Dns, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: str | None
) -> None:
    dns.srv(NAME, "0 0 443 dav.office.test.")
    other = tmp_path / "other"
    if written is not None:
        other.write_text(written)
    monkeypatch.setattr(services, "RESOLV_CONF", str(other))

    assert find() == NOTHING
    assert dns.asked == []


@pytest.mark.parametrize("name", ["x" * 64 + ".test", "a..test", "\\300.test"])
def test_a_name_that_dns_cannot_have_is_not_asked_for(dns: Dns, name: str) -> None:
    assert services.Domain(name).find(SERVICE) == NOTHING
    assert dns.asked == []
