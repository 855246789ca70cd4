"""Who else sees a user's mailbox and drive folders: set by the control API, given by reads."""

from sandbox.data_service.store import Store
from sandbox.data_service.values import Value


class Colleague(Value):
    """Somebody of the organisation, or with `group` a group of its people."""

    address: str
    name: str = ""
    other_names: list[str] = []
    group: bool = False


class Audiences(Value):
    """Addresses: of who reads the mailbox, and of who reads each folder, by its id; those that are
    groups, behind which many people are; and the members of projects, by the project's key. And
    the organisation's directory; None is the office's."""

    mailbox: list[str] = []
    folders: dict[str, list[str]] = {}
    groups: list[str] = []
    projects: dict[str, list[str]] = {}
    directory: list[Colleague] | None = None


def stored(store: Store, *, user_id: str) -> Audiences:
    return Audiences.model_validate_json(store.option(_name(user_id), "{}"))


def put(store: Store, *, user_id: str, audiences: Audiences) -> None:
    store.set_option(_name(user_id), audiences.model_dump_json())


def _name(user_id: str) -> str:
    return f"audiences:{user_id}"
