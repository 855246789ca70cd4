"""The folders of a drive at Microsoft, as they are now.

Graph lists them among all files alone. So what was listed is kept with the link to what has changed
since, and the next time that is asked for. What was kept is never taken for what is: where Graph
has lost the link, all is listed anew.
"""

from integrations.contracts import Folder
from integrations.exceptions import CursorExpired
from integrations.models import FolderTree
from integrations.providers.drives.folders import Place, path_of
from integrations.providers.microsoft_files import grants
from integrations.providers.microsoft_files.files import Files

# Of one listing, which goes on from there the next time; and folders of which it is asked who reads
# them, one by one.
MAX_PAGES, MAX_FOLDERS = 100, 400
Places = dict[str, Place]


def list_folders(own: Files) -> tuple[Folder, ...]:
    """All folders by their paths. Of more than anybody looks through, those that lie deepest have
    readers whom nobody knows."""
    places = _look(own)
    root = next((id for id, place in places.items() if place.above is None), "")
    paths = {id: path_of(id, places, root=root) for id in places}
    nearest = sorted(paths, key=lambda id: (id != root, paths[id].count("/")))
    known = own.grants_of(nearest[:MAX_FOLDERS])
    return tuple(
        Folder(
            id=id,
            name=paths[id],
            kind="drive",
            shared_with=grants.readers(known.get(id), own.owner),
        )
        for id in paths
    )


def _look(own: Files) -> Places:
    row = FolderTree.objects.filter(account_id=own.account.id).first()
    if row is not None:
        try:
            return _follow(own, {id: Place(*one) for id, one in row.folders.items()}, row.link)
        except CursorExpired:
            pass
    return _follow(own, {}, "")


def _follow(own: Files, places: Places, begin: str) -> Places:
    link = begin
    for count, page in enumerate(own.changes(begin), start=1):
        for one in page.value:
            if one.is_folder and one.deleted is None:
                above = None if one.root is not None else one.folder_id
                places[one.id] = Place(one.name or "", above)
            else:
                places.pop(one.id, None)
        further = page.next_link or page.delta_link
        link = own.session.path_of(further) if further else link
        if count == MAX_PAGES:
            break
    if link != begin:
        FolderTree.objects.update_or_create(
            account_id=own.account.id, defaults={"link": link, "folders": places}
        )
    return places
