import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import django
import pytest

from knowledge.text.languages import language_of, little_words

LOCALES = Path(django.__file__).parent / "conf" / "locale"
_TRANSLATION = re.compile(r'^msgstr(?:\[\d\])? ((?:".*"\n)+)', re.MULTILINE)
_PLACE = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Could you please send the signed contract by Friday?", "english"),
        ("Bitte senden Sie mir den Vertrag bis Freitag, damit wir weiterkommen.", "german"),
        ("Merci de nous envoyer le contrat signé avant vendredi.", "french"),
        ("Por favor, envíe el contrato firmado antes del viernes.", "spanish"),
        ("Per favore, inviate il contratto firmato entro venerdì.", "italian"),
        ("Stuur ons het getekende contract voor vrijdag, dan kunnen we door.", "dutch"),
        (
            "Envie o contrato assinado até sexta-feira, por favor, para que não se perca.",
            "portuguese",
        ),
        ("Kan du skicka det undertecknade avtalet till oss före fredag?", "swedish"),
        ("Voisitko lähettää sopimuksen ennen perjantaita, se on jo myöhässä.", "finnish"),
        ("Kérem, küldje el a szerződést péntekig, mert már nagyon várjuk.", "hungarian"),
        ("Sözleşmeyi cuma gününe kadar gönderir misiniz, bu bizim için çok önemli.", "turkish"),
        ("Пришлите, пожалуйста, подписанный договор до пятницы.", "russian"),
        ("Στείλτε μας παρακαλώ το συμβόλαιο μέχρι την Παρασκευή.", "greek"),
        ("يرجى إرسال العقد الموقع قبل يوم الجمعة.", "arabic"),
        ("कृपया शुक्रवार तक अनुबंध भेजें, यह बहुत ज़रूरी है।", "hindi"),
        ("契約書を金曜日までに送ってください。", "simple"),
        ("请在星期五之前把合同寄给我们。", "simple"),
        ("금요일까지 계약서를 보내 주세요.", "simple"),
        ("กรุณาส่งสัญญาภายในวันศุกร์", "simple"),
        ("Proszę o przesłanie umowy do piątku, bo już jest po terminie.", "simple"),
        ("Будь ласка, надішліть договір до п'ятниці.", "simple"),
        ("INV-2231 88,20 EUR", "simple"),
        ("", "simple"),
    ],
)
def test_the_language_of_a_sentence(text: str, language: str) -> None:
    assert language_of(text) == language


def translations(code: str) -> Iterator[str]:
    """Sentences as people translated them, of at least 60 characters."""
    files = LOCALES.parent.parent.glob(f"**/locale/{code}/LC_MESSAGES/django.po")
    for file in files:
        for found in _TRANSLATION.finditer(file.read_text(encoding="utf-8")):
            text = "".join(re.findall('"(.*)"', found.group(1)))
            text = _PLACE.sub("", text.replace("\\n", " ").replace('\\"', '"'))
            if len(text) >= 60 and "Project-Id" not in text and "<" not in text:
                yield text


@pytest.mark.parametrize(
    ("code", "languages", "share"),
    [
        ("en_GB", ["english"], 0.98),
        ("de", ["german"], 0.98),
        ("fr", ["french"], 0.95),
        ("it", ["italian"], 0.9),
        ("nl", ["dutch"], 0.95),
        ("pt", ["portuguese"], 0.85),
        ("sv", ["swedish"], 0.8),
        ("da", ["danish", "norwegian"], 0.8),
        ("nb", ["danish", "norwegian"], 0.75),
        ("es", ["spanish"], 0.65),
        ("fi", ["finnish"], 0.6),
        ("hu", ["hungarian"], 0.85),
        ("ro", ["romanian"], 0.9),
        ("tr", ["turkish"], 0.9),
        ("ru", ["russian"], 0.95),
        ("el", ["greek"], 0.98),
        ("ar", ["arabic"], 0.95),
        ("hi", ["hindi"], 0.98),
        *((code, ["simple"], 0.9) for code in ("pl", "cs", "uk", "vi", "ja", "th", "he", "et")),
    ],
)
def test_the_language_of_real_translations(code: str, languages: list[str], share: float) -> None:
    found = Counter(map(language_of, translations(code)))

    total = found.total()
    assert total > 15
    assert sum(found[language] for language in languages) / total >= share
    # A wrong stemmer is worse than none.
    assert sum(found[language] for language in (*languages, "simple")) / total >= 0.95


def test_little_words_say_nothing() -> None:
    assert {"der", "die", "und"} <= little_words("german")
    assert little_words("simple") == frozenset()
