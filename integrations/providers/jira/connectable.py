"""Issues at Jira, as people connect them."""

from integrations.providers.connectable import Asked, Given, Trial
from integrations.providers.jira import trial
from integrations.providers.jira.reader import JiraReader
from integrations.providers.jira.servers import read_base
from integrations.providers.trackers import connectable
from integrations.providers.trackers.connectable import projects, tracker


def begin(given: Given) -> Trial:
    return connectable.trial(
        read_base(given.url),
        lambda: trial.try_server(
            given.url, user_name=given.user_name, secret=given.secret, only=given.projects
        ),
    )


CONNECTABLE = tracker(
    product="Jira",
    about="Issues of a user in {organisation}, at Jira Cloud or Jira Data Center.",
    begin=begin,
    reader=JiraReader,
    token=trial.HOW,
    who="user",
    first=(
        Asked(
            name="url",
            label="Jira",
            placeholder="https://acme.atlassian.net",
            missing="Name the Jira.",
        ),
    ),
    asked=(projects(placeholder="PLAN, OPS"),),
)
