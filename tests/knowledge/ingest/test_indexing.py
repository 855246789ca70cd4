"""Search in other languages than English, through the public entrance."""

from typing import Any

import pytest
from django.db import connection

from integrations.contracts import AccountRef
from knowledge import tasks
from knowledge.contracts import SearchRequest
from knowledge.ingest import indexing, write_counts
from knowledge.ingest.ingest import forget, ingest
from knowledge.models import Chunk, ChunkVector, Item
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, document, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

MAILS = {
    "de": "Sehr geehrte Frau Berg, die Verträge mit den Lieferanten müssen noch in dieser Woche "
    "unterschrieben werden. Die Überweisung an Herrn Müller ist schon erledigt.",
    "fr": "Bonjour, les factures du fournisseur n'ont pas été réglées. Pourriez-vous les payer "
    "avant la fin du mois ?",
    "es": "Hola, las reuniones con los clientes se han cancelado porque el vuelo llegó tarde. "
    "Mañana hablamos.",
    "it": "Ciao, le riunioni con i clienti sono state spostate a venerdì per lo sciopero "
    "dei treni.",
    "ru": "Добрый день, договоры с поставщиками ещё не подписаны. Пришлите их до пятницы.",
    "el": "Καλημέρα, τα τιμολόγια του προμηθευτή δεν έχουν πληρωθεί ακόμα.",
    "fi": "Hei, sopimukset toimittajien kanssa ovat vielä allekirjoittamatta, ja se on ongelma.",
    "tr": "Merhaba, bu sözleşmeler için imza gerekiyor, lütfen cuma gününe kadar gönderin.",
    "ar": "مرحبا، لم يتم دفع فواتير المورد حتى الآن.",
    "hi": "नमस्ते, आपूर्तिकर्ताओं के अनुबंध अभी तक हस्ताक्षरित नहीं हुए हैं।",
    "ja": "お世話になっております。来週の会議の資料を添付します。契約書もご確認ください。",
    "zh": "您好，供应商的合同还没有签字，请在星期五之前寄给我们。",
    "ko": "안녕하세요, 공급업체와의 계약서가 아직 서명되지 않았습니다.",
    "th": "สวัสดีครับ สัญญากับผู้จัดจำหน่ายยังไม่ได้ลงนาม",
    "pl": "Dzień dobry, umowy z dostawcami nie zostały jeszcze podpisane, zażółć gęślą jaźń.",
    "en": "Hello, the deliveries were delayed and the supplier was informed about it.",
}


def mails(*codes: str) -> AccountRef:
    """An account with a mail in each of these languages, searched by words alone."""
    owner = account()
    for code in codes:
        mail = email(id=code, subject=f"Nr. {code}", body_text=MAILS[code])
        ingest(account=owner, source_id=code, item=mail, now=NOW)
    ChunkVector.objects.all().delete()
    return owner


@pytest.fixture
def owner(model: ScriptedModel) -> AccountRef:
    return mails("de", "fr", "en")


def find(owner: AccountRef, query: str, **more: Any) -> list[str]:
    request = SearchRequest(account_ids=(owner.id,), query=query, **more)
    return [item.source_id for item in search(request, now=NOW).items]


@pytest.mark.parametrize(
    ("code", "query"),
    [
        ("de", "Vertrag"),
        ("de", "Überweisungen"),
        ("de", "Muller"),
        ("de", "Welcher Lieferant hat noch nicht unterschrieben?"),
        ("fr", "facture"),
        ("fr", "réglé"),
        ("fr", "reglees"),
        ("es", "reunión"),
        ("es", "¿Cuándo se canceló la reunión con el cliente?"),
        ("es", "manana"),
        ("it", "riunione"),
        ("it", "sciopero treno"),
        ("ru", "договор"),
        ("ru", "еще не подписан"),
        ("el", "προμηθευτής"),
        ("fi", "sopimus toimittaja"),
        ("tr", "sözleşme"),
        ("ar", "الفواتير"),
        ("hi", "अनुबंध"),
        ("en", "delivery delay"),
    ],
)
def test_a_word_is_found_in_another_form(model: ScriptedModel, code: str, query: str) -> None:
    assert find(mails("en", "ja", code), query)[:1] == [code]


@pytest.mark.parametrize(
    ("code", "query"),
    [
        ("ja", "会議"),
        ("ja", "来週の会議はいつですか"),
        ("ja", "契約書"),
        ("zh", "合同"),
        ("zh", "供应商的合同签字了吗？"),
        ("ko", "계약서"),
        ("ko", "공급업체 계약"),
        ("th", "สัญญา"),
        ("pl", "zazolc"),
        ("pl", "umowy"),
    ],
)
def test_where_there_is_no_stemmer_something_is_found(
    model: ScriptedModel, code: str, query: str
) -> None:
    assert find(mails("en", "de", code), query)[:1] == [code]


def test_the_passage_that_is_shown_holds_the_words(model: ScriptedModel) -> None:
    owner = account(source="gdrive")
    text = "最初の段落です。" * 400 + "\n\n秘密の計画について。\n\n" + "後の段落です。" * 400
    ingest(account=owner, source_id="d1", item=document(content_text=text), now=NOW)
    ChunkVector.objects.all().delete()
    assert Chunk.objects.count() > 2
    request = SearchRequest(account_ids=(owner.id,), query="秘密の計画")

    [item] = search(request, now=NOW).items

    assert "秘密の計画" in item.text


def test_items_of_before_are_found_until_they_are_indexed_and_after(owner: AccountRef) -> None:
    with connection.cursor() as cursor:  # as the column was generated before
        cursor.execute(
            "UPDATE knowledge_item SET languages = NULL, search ="
            " setweight(to_tsvector('simple', title), 'A') ||"
            " setweight(to_tsvector('simple', summary), 'B') ||"
            " setweight(to_tsvector('simple', left(text, 100000)), 'C')"
        )
    assert indexing.is_behind()
    assert find(owner, "Verträge") == ["de"]
    assert find(owner, "réglées") == ["fr"]
    assert find(owner, "delivery") == []

    tasks.index_again()

    assert not indexing.is_behind()
    assert find(owner, "Vertrag") == ["de"]
    assert find(owner, "réglées")[0] == "fr"
    assert "german" in (Item.objects.get(source_id="de").languages or [])


def test_indexing_again_goes_in_steps(owner: AccountRef, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "AT_ONCE", 2)
    Item.objects.update(languages=None)

    assert [indexing.index_again() for _ in range(3)] == [2, 1, 0]


def test_searches_go_by_the_four_most_frequent_languages(model: ScriptedModel) -> None:
    owner = mails(*MAILS)
    for code in ("de", "fr", "es"):
        mail = email(id=f"{code}2", body_text=MAILS[code])
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW)

    found = write_counts.load_write_counts([owner.id]).languages

    assert len(found) == 4
    assert {"german", "french", "spanish"} <= set(found)


def test_nothing_is_left_of_a_removed_item(owner: AccountRef) -> None:
    forget(account=owner, source_id="de", at=NOW)

    with connection.cursor() as cursor:
        cursor.execute("SELECT search::text FROM knowledge_item WHERE source_id = 'de'")
        assert cursor.fetchone() == ("",)
    assert find(owner, "Verträge") == []


@pytest.mark.parametrize("letters", ["漢字", "हिन्दी", "thé"])
def test_the_longest_text_is_kept(model: ScriptedModel, letters: str) -> None:
    owner = account(source="gdrive")
    low = ord(letters[0])
    marks = "ि" if letters == "हिन्दी" else ""
    text = " और है में ".join(
        f"{chr(low + n % 50)}{marks}{chr(low + n // 50 % 50)}{chr(low + n // 2_500)}"
        for n in range(30_000)
    )
    run = "".join(chr(0x4E00 + n * 7 % 20_000) + chr(0x4E00 + n // 3) for n in range(50_000))
    item = document(content_text=run if letters == "漢字" else text)
    ingest(account=owner, source_id="d1", item=item, now=NOW)

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_size(search) > 0 FROM knowledge_item")
        assert cursor.fetchone() == (True,)
