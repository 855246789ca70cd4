"""Files over WebDAV, as people connect them."""

from integrations.providers.connectable import (
    USERS_ADDRESS,
    Asked,
    Connectable,
    Found,
    Given,
    Trial,
    host_of,
    port_of,
)
from integrations.providers.webdav import changes, trial


def begin(given: Given) -> Trial:
    """In the folder that is named."""
    url = trial.read_url(given.url)

    def run() -> Found:
        tried = trial.try_url(
            url, user_name=given.user_name, secret=given.secret, readers=given.readers
        )
        return Found(
            host=host_of(tried.server.home),
            abilities=tried.abilities,
            servers=tried.server.to_json(),
            folders=tried.folders,
        )

    return Trial(ports=(port_of(url),), run=run)


CONNECTABLE = Connectable(
    what="folder",
    title="Connect files",
    about="A folder of a user in {organisation}, on any server with WebDAV.",
    in_short="a folder of files",
    begin=begin,
    first=(
        Asked(
            name="url",
            label="Folder (WebDAV)",
            hint=trial.HOW,
            placeholder="https://cloud.example.org/dav/maya/",
            missing="Name the folder.",
        ),
        Asked(
            name="readers",
            label="Who else reads it",
            hint="Mail addresses with commas between them, or “nobody”. Empty: you do not know. "
            "Then nothing is written there, unless the server itself tells.",
            placeholder="nobody",
        ),
    ),
    fold="Another user name",
    address_hint=USERS_ADDRESS,
    has_display_name=False,
    port_kind="file",
    command="connect_files",
    look=changes.look,
    trouble={
        "not_permitted": "The server refuses to show the files.",
        "not_found": "The folder is not where it was. Connect it again.",
        "rejected": "The folder is not where it was, or holds too many folders.",
    },
)
