"""Drive folders by their names, which are paths: what lies above one, and who reads it. Pure."""

from collections.abc import Sequence
from itertools import accumulate

from integrations.contracts import Folder


def readers(folders: Sequence[Folder], folder_id: str | None) -> tuple[str, ...] | None:
    """Everybody who sees what lies in this drive folder, by itself or by a folder above it. None
    when that is not known: a folder above it that was not listed may have readers."""
    if folder_id is None:
        return ()
    drive = [one for one in folders if one.kind == "drive"]
    here = next((one for one in drive if one.id == folder_id), None)
    if here is None:
        return None
    wanted = _paths(here.name)
    found = [one for one in drive if _paths(one.name)[-1] in wanted]
    if any(one.shared_with is None for one in found):
        return None
    if not {_paths(one.name)[-1] for one in found}.issuperset(wanted[1:]):
        return None
    return tuple(reader for one in found for reader in one.shared_with or ())


def above(folders: Sequence[Folder], folder_id: str | None) -> tuple[str, ...]:
    """The ids of this drive folder and of those above it, the nearest first."""
    drive = [one for one in folders if one.kind == "drive"]
    name = next((one.name for one in reversed(drive) if one.id == (folder_id or "")), "")
    by_path = {_paths(one.name)[-1]: one.id for one in drive}
    return tuple(by_path[path] for path in reversed(_paths(name)) if path in by_path)


def _paths(name: str) -> list[str]:
    """The top folder, every folder above the one of this name, and itself, as paths."""
    return ["", *accumulate(f"/{part}" for part in name.strip("/").split("/") if part)]
