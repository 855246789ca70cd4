"""Builds the docs as a site of plain files, without a network, and looks over what came out.

    python -m scripts.site build/site

MkDocs, with a template of ours: no script, and nothing is loaded from elsewhere. A link that leads
nowhere, a page that no guide names and anything from another host fail the build.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from textwrap import indent
from urllib.parse import urlsplit

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

from scripts.references import LINK, list_pages
from scripts.room_graph import PROJECT

HERE = Path(__file__).parent
LOADS = {"src", "srcset", "poster", "data", "action", "background"}
FENCED_IN_LIST = re.compile(
    r"^(?P<margin> {4,})```\w*\n(?P<code>.*?)^(?P=margin)```$", re.DOTALL | re.MULTILINE
)
OUTSIDE = re.compile(r"url\(|@import|https?:|//", re.IGNORECASE)


def slug(text: str, separator: str) -> str:
    """A heading as links name it: as GitHub does, and `scripts.references`."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", separator)


def indent_fenced(text: str) -> str:
    """Code between fences in an item of a list as Python-Markdown knows it there: by its margin."""
    return FENCED_IN_LIST.sub(lambda found: indent(found["code"], " " * 4), text)


def gather(folder: Path) -> None:
    """Copies the pages, and the files that they link to, to where the same links lead to them."""
    for page in list_pages():
        linked = (page.parent / match["path"] for match in LINK.finditer(page.read_text("utf-8")))
        for path in {page, *(one.resolve() for one in linked if one.is_file())}:
            to = folder / path.relative_to(PROJECT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
            if path.suffix == ".md":
                to.write_text(indent_fenced(path.read_text("utf-8")), "utf-8")


def build(output: Path) -> None:
    """The site at `output`. Raises MkDocsException with what is wrong."""
    with tempfile.TemporaryDirectory(prefix="remit-site-") as folder:
        gather(Path(folder))
        config = load_config(
            str(HERE / "site_theme" / "mkdocs.yml"), docs_dir=folder, site_dir=str(output)
        )
        build_site(config)


class _Loaded(HTMLParser):
    """What a page loads or runs, other than by a person's click."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        loaded = [value for name, value in given.items() if name in LOADS]
        if tag != "a" and "href" in given:
            loaded.append(given["href"])
        if tag in ("script", "iframe", "object", "base", "style"):
            self.wrong.append(f"<{tag}>")
        self.wrong += [name for name in given if name.startswith("on") or name == "style"]
        self.wrong += [url for url in loaded if urlsplit(url).netloc or urlsplit(url).scheme]


def find_foreign(site: Path) -> Iterator[str]:
    """Sentences about what a page would run, or load from another host."""
    for page in sorted(site.rglob("*.html")):
        if page.parent.name == "examples":
            continue  # a page for developers to copy, which talks to a Remit of theirs
        found = _Loaded()
        found.feed(page.read_text("utf-8"))
        yield from (f"{page.relative_to(site)}: {one}" for one in found.wrong)
    for sheet in sorted(site.rglob("*.css")):
        if OUTSIDE.search(sheet.read_text("utf-8")):
            yield f"{sheet.relative_to(site)} loads something."
    yield from (f"{one.relative_to(site)} is a script." for one in sorted(site.rglob("*.js")))


def main(arguments: list[str]) -> int:
    output = Path(arguments[0] if arguments else "build/site").resolve()
    try:
        build(output)
    except MkDocsException as error:
        print(f"The site was not built: {error}", file=sys.stderr)
        return 1
    foreign = list(find_foreign(output))
    pages = len(list(output.rglob("*.html")))
    print("\n".join(foreign) or f"The site is in {output}, {pages} pages.")
    return 1 if foreign else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
