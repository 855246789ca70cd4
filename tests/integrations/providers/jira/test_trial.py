import pytest

from integrations.exceptions import NotFound, NotPermitted, RateLimited, Rejected
from integrations.providers.jira import trial
from integrations.providers.jira.servers import read_base
from tests.jira_world import ADDRESS, OTHER, PROJECT, TOKEN, Jira
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def test_which_kind_it_is_and_what_can_be_done_there_is_found(jira: Jira) -> None:
    tried = trial.try_server(jira.origin, user_name=ADDRESS, secret=TOKEN)

    assert tried.server["is_cloud"] is jira.is_cloud
    assert tried.server["me"] == ("id-nora" if jira.is_cloud else "nora")
    assert tried.projects == (PROJECT, OTHER)
    assert [one.grade for one in tried.abilities] == ["A", "C", "C", "C", "C", "C"]
    assert jira.writes == []


@pytest.mark.parametrize(
    ("refusal", "kind", "sentence"),
    [
        (Refuse(429, headers={"retry-after": "600"}), RateLimited, "no more requests now"),
        (Refuse(404), NotFound, "answers, but not as Jira does"),
    ],
)
def test_what_is_wrong_is_said(
    jira: Jira, refusal: Refuse, kind: type[Exception], sentence: str
) -> None:
    jira.refuse = [refusal]
    with pytest.raises(kind, match=sentence):
        trial.try_server(jira.origin, user_name=ADDRESS, secret=TOKEN)
    with pytest.raises(NotPermitted, match="refused the sign-in"):
        trial.try_server(jira.origin, user_name=ADDRESS, secret="wrong")


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("acme.atlassian.net", "https://acme.atlassian.net"),
        ("https://acme.atlassian.net/jira/software", "https://acme.atlassian.net"),
        ("https://jira.example.org/jira/", "https://jira.example.org/jira"),
        ("jira.example.org:8443", "https://jira.example.org:8443"),
    ],
)
def test_where_it_is(text: str, base: str) -> None:
    assert read_base(text) == base


@pytest.mark.parametrize("text", ["", "http://jira.example.org", "https://"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Rejected, match="Name the Jira"):
        read_base(text)
