"""What a browser that somebody is logged in with is called."""

import pytest

from integrations.web.sessions import name_browser

MOZILLA = "Mozilla/5.0"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (
            f"{MOZILLA} (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
            "Firefox (Linux)",
        ),
        (f"{MOZILLA} (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36", "Chrome (Windows)"),
        (f"{MOZILLA} (Windows NT 10.0) {CHROME} Safari/537.36 Edg/142.0", "Edge (Windows)"),
        (f"{MOZILLA} (Linux; Android 15; K) {CHROME} Mobile Safari/537.36", "Chrome (Android)"),
        (
            f"{MOZILLA} (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1",
            "Safari (iPhone)",
        ),
        (
            f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/18.5 Safari/605",
            "Safari (macOS)",
        ),
        ("curl/8.5.0", ""),
        ("", ""),
        ("<script>alert(1)</script> Firefox", "Firefox"),
    ],
)
def test_a_browser_is_called_by_words_of_ours_alone(said: str, name: str) -> None:
    assert name_browser(said) == name
