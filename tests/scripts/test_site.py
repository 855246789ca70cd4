"""The docs as a site: strict about links, and nothing in it runs or comes from elsewhere."""

from pathlib import Path

import pytest

from scripts import site
from tests import chromium
from tests.browser.windows import find_too_narrow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    assert site.main([str(output)]) == 0
    return output


def test_every_page_is_there_once_under_a_guide_and_loads_nothing_foreign(built: Path) -> None:
    start = (built / "index.html").read_text()

    pages = {page.relative_to(built).as_posix() for page in built.rglob("*.html")}
    for page in pages - {"docs/examples/chat.html"}:
        assert start.count(f'<li><a href="{page}">') + (page == "index.html") == 1, page
    for guide in ("operators", "approvers", "users", "auditors", "integrators"):
        assert f"<summary>For {guide}</summary>" in start
    assert "Content-Security-Policy" in start
    assert (built / "docs/screenshots/approval.png").exists()
    assert (built / "docs/recordings/approving.webm").exists()
    assert list(site.find_foreign(built)) == []


@pytest.mark.browser
def test_every_page_fits_a_phone_and_a_screen_and_code_is_code(built: Path) -> None:
    wrong: list[tuple[str, object]] = []
    with chromium.launched() as browser:
        page = browser.new_page()
        for path in sorted(built.rglob("*.html")):
            page.goto(path.as_uri())
            wrong += [(path.name, width) for width in find_too_narrow(page)]
            if "```" in page.inner_text("body"):
                wrong.append((path.name, "```"))
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        '<img src="https://evil.example/x.png">',
        '<link rel="stylesheet" href="//fonts.example/a.css">',
        "<script>1</script>",
        '<p onclick="x()">',
        '<p style="color: red">',
    ],
)
def test_what_runs_or_comes_from_elsewhere_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(text)

    assert list(site.find_foreign(tmp_path)) != []


def test_a_link_to_elsewhere_is_no_load_and_a_font_is(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://example.org/">there</a>')
    assert list(site.find_foreign(tmp_path)) == []

    (tmp_path / "a.css").write_text("@font-face { src: url(https://fonts.example/a) }")
    assert list(site.find_foreign(tmp_path)) == ["a.css loads something."]


@pytest.mark.parametrize("link", ["[x](docs/nowhere.md)", "[x](docs/staff.md#nowhere)"])
def test_a_link_that_leads_nowhere_fails_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    copy = site.gather

    def gather(folder: Path) -> None:
        copy(folder)
        with (folder / "SECURITY.md").open("a") as page:
            page.write(f"\n{link}\n")

    monkeypatch.setattr(site, "gather", gather)

    assert site.main([str(tmp_path / "site")]) == 1
