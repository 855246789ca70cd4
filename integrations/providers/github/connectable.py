"""Issues at GitHub, as people connect them."""

from integrations.providers.connectable import Asked, Given, Trial
from integrations.providers.github import trial
from integrations.providers.github.reader import GitHubReader
from integrations.providers.github.servers import read_server
from integrations.providers.trackers import connectable
from integrations.providers.trackers.connectable import projects, tracker


def begin(given: Given) -> Trial:
    """At the server that is named, or at github.com."""
    server = read_server(given.url)
    return connectable.trial(
        server.api, lambda: trial.try_server(server, secret=given.secret, only=given.projects)
    )


CONNECTABLE = tracker(
    product="GitHub",
    about="Issues of a user in {organisation}, at GitHub or a GitHub Enterprise Server.",
    begin=begin,
    reader=GitHubReader,
    token=trial.HOW,
    who="token",
    asked=(
        projects(label="Only in these repositories", placeholder="owner/name, owner/other"),
        Asked(
            name="url",
            label="GitHub Enterprise Server",
            hint="Empty: github.com.",
            placeholder="https://github.example.org",
        ),
    ),
    fold="Server, and which projects",
)
