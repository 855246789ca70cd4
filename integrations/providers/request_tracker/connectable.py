"""Tickets at Request Tracker, as people connect them."""

from integrations.providers.connectable import Asked, Given, Trial
from integrations.providers.request_tracker import trial
from integrations.providers.request_tracker.reader import RtReader
from integrations.providers.request_tracker.servers import read_base
from integrations.providers.trackers import connectable
from integrations.providers.trackers.connectable import projects, tracker


def begin(given: Given) -> Trial:
    return connectable.trial(
        read_base(given.url),
        lambda: trial.try_server(given.url, secret=given.secret, only=given.projects),
    )


CONNECTABLE = tracker(
    product="Request Tracker",
    about="Tickets of a user in {organisation}, at Request Tracker 5.",
    begin=begin,
    reader=RtReader,
    token=trial.HOW,
    who="token",
    first=(
        Asked(
            name="url",
            label="Request Tracker",
            placeholder="https://rt.example.org",
            missing="Name the Request Tracker.",
        ),
    ),
    asked=(projects(label="Only in these queues", placeholder="General, Support"),),
    fold="Which queues",
)
