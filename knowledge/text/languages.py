"""Which language a text is written in, as far as full text search knows it. Pure.

By its script where that says enough, else by the little words that every sentence has. Measured
on the translations of Django (`tests/knowledge/text/test_languages.py`).
"""

import re
from collections import defaultdict
from functools import cache

UNKNOWN = "simple"  # PostgreSQL's configuration that knows no language
LOOKED_AT = 3_000  # characters
_SURE = 0.12  # so much of a text are little words of its language
_AHEAD = 1.25  # so much more than of any other

# The most frequent words of languages that PostgreSQL has a stemmer for, by its name of the
# configuration; and, after an underscore, of some that it has none for, so that they are
# not taken for those.
_LITTLE_WORDS = {
    "basque": "eta da ez bat dira du ere baina dut izan egin hau hori zen zuen dute edo den behar "
    "gure nire duzu dago dituzte mesedez",
    "catalan": "el la els les de del i que un una per amb no es és en al dels però més com ha són "
    "aquest aquesta si us plau he va hem vam sobre quan també nosaltres",
    "danish": "og i det at en den til er som på de med han af for ikke der var mig sig men et har "
    "om vi havde jeg du kan skal vil være nogen hvad blev også efter fra eller dette denne hvis",
    "dutch": "de het een en van ik te dat die in is niet zijn op aan met als voor er maar om dan "
    "zou of wat mijn dit zo door over ze bij ook tot je naar heeft hebben wij u worden kan geen uw "
    "deze wordt moet nog",
    "english": "the of and to a in is that it for was on are with as at be this have from or by "
    "not but what all were we when your can you an which will if there please how been has more "
    "would our do does about they their",
    "finnish": "ja on ei se että en oli hän mutta ovat kun mitä niin olen tai jos kuin sen myös "
    "tämä voi ole minä sinä me te joka ovat vain sekä mukaan kanssa ennen jälkeen",
    "french": "de la le et les des en un une du est que qui dans pour pas au sur ne plus par avec "
    "ce il sont vous nous cette ou se je mais votre être aux ont été son sa ses leur comme si y "
    "fait tout merci",
    "german": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als "
    "auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über "
    "einen so zum war haben nur oder aber vor zur bis mehr durch man wir ich uns bitte kann wann "
    "wenn diese dieser keine sein",
    "hungarian": "a az és hogy nem is egy ez meg de van csak volt kell már ha mint vagy azt ki "
    "még lehet után minden ezt nincs majd kérem fel ennek annak",
    "indonesian": "yang dan di ini itu dengan untuk tidak dari dalam akan pada juga saya ke karena "
    "ada mereka kita anda bisa atau oleh telah adalah sudah kami harus silakan",
    "irish": "an na agus ar i is ní le go do tá bhí sé ag mar a ó atá sin seo níl don leis nó "
    "faoi gur",
    "italian": "di e che la il un a è per in una sono non del della con si le da i gli al più ma "
    "lo come ha alla nel dei delle ci questo questa o anche se mi dal nella essere stato quando "
    "ho vi grazie sul",
    "lithuanian": "ir į yra kad iš su ne tai buvo bet kaip už apie jis nuo ar per dėl arba šis "
    "gali tik jūs mes jau prašome",
    "norwegian": "og i det er på en til som at med for av de ikke den har jeg om et men så var "
    "vi du kan meg seg fra skal han ble eller hva noe være også etter hvis dette denne må ingen",
    "portuguese": "de a o que e do da em um para é com não uma os no se na por mais as dos como "
    "mas foi ao das tem à seu sua ou ser quando nos já está eu também pelo pela até isso são "
    "você este esta obrigado",
    "romanian": "de și în a la cu pe nu că o este din un care pentru mai sunt ce se au fost sau "
    "dar fi prin am îi acest această după dacă vă",
    "spanish": "de la que el en y a los del se las por un para con no una su al lo como más pero "
    "sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde es son "
    "está nos ha usted gracias fue",
    "swedish": "och i att det som en på är av för med den till inte om ett han men var jag från "
    "de så kan vi när ska eller har hade du där sig vad alla skulle också efter denna detta måste "
    "ingen",
    "turkish": "ve bir bu da de için ile çok olarak daha ne var gibi olan kadar sonra değil ama "
    "en her ben o mi olduğu veya ki lütfen şu biz siz tarafından",
    "_croatian": "i je u na se da su za ne koji od nije s će kao što bi ili ali biti ako",
    "_czech": "a se v na je že s z do o i to pro jsou k po ale být jako nebo který není by když "
    "tento",
    "_estonian": "ja on ei et ta ma see oli kui ka või mis seda aga siis oma selle pole",
    "_polish": "i w na z się nie do to że jest o jak za od po ale przez dla co są był czy lub "
    "już może",
    "_slovak": "a sa v na je že s z do o i to pre sú k po ale byť ako alebo ktorý nie by keď tento",
    "_slovene": "in je v na se da za so ne ki od ni s kot bo bi ali pa biti če",
    "_vietnamese": "và của là có không được cho một các trong này với những để người",
    "_latvian": "un ir no ar par ka uz nav kas bet vai lai šis tas to jau",
    "_icelandic": "og að í á er sem til við um ekki af fyrir með það en var ég þú eða",
    "_albanian": "të e në dhe për me që një nga është nuk ka si por më",
    "_esperanto": "la kaj de en estas ne al por ke vi ĝi kun el tiu aŭ",
}
_TWINS = {"danish", "norwegian"}
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = {
    "german": "ß",
    "hungarian": "őű",
    "spanish": "ñ¿¡",
    "portuguese": "ãõ",
    "turkish": "ğış",
    "romanian": "ățșţ",
    "lithuanian": "ėųį",
    "french": "çœ",
    "danish": "æø",
    "norwegian": "æø",
    "swedish": "å",
    "_polish": "łąęśźż",
    "_czech": "řěů",
    "_vietnamese": "ạảấầẩậắằẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹđơư",
    "_icelandic": "þð",
    "_latvian": "āēīņļķģ",
    "_esperanto": "ĉĝĥĵŝŭ",
}
_BY_LETTER = {
    letter: tuple(name for name, its in _LETTERS.items() if letter in its)
    for letter in "".join(_LETTERS.values())
}
_SCRIPTS = {
    "latin": re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
    "armenian": re.compile("[\u0530-\u058f]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "unspaced": re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]"),
}
_NEPALI = re.compile("(?:^|\\s)(?:छ|को|र|मा|हो|छन्|छैन|गर्नुहोस्|भएको|लागि)(?=\\s|$|।)")
_HINDI = re.compile("(?:^|\\s)(?:है|हैं|का|की|के|में|और|से|नहीं|करें|को|लिए)(?=\\s|$|।)")


def language_of(text: str) -> str:
    """The text search configuration of PostgreSQL that fits `text`; `simple` in doubt."""
    text = text[:LOOKED_AT].lower()
    if text.isascii():
        return _by_little_words(text)
    letters = {name: len(its.findall(text)) for name, its in _SCRIPTS.items()}
    # One character of these says as much as two or three letters.
    letters["unspaced"] *= 2
    script = max(letters, key=lambda name: letters[name])
    match script:
        case "latin":
            return _by_little_words(text)
        case "cyrillic":
            return _cyrillic(text)
        case "arabic":
            return UNKNOWN if re.search("[پچگژکی]", text) else "arabic"
        case "devanagari":
            return "nepali" if len(_NEPALI.findall(text)) > len(_HINDI.findall(text)) else "hindi"
        case "greek" | "tamil" | "armenian":
            return script
        case _:
            return UNKNOWN


@cache
def little_words(language: str) -> frozenset[str]:
    """Words of a language that say nothing about what a text is about."""
    return frozenset(_LITTLE_WORDS.get(language, "").split())


def _by_little_words(text: str) -> str:
    words = _WORD.findall(text)
    found: dict[str, float] = defaultdict(float)
    for word in words:
        languages = _languages_with().get(word, ())
        for language in languages:
            found[language] += 1 / (1 + len(languages)) + 0.5
    for letter in set(text) & _BY_LETTER.keys():
        for language in _BY_LETTER[letter]:
            found[language] += 0.7
    if not found:
        return UNKNOWN
    [(best, most), *others] = sorted(found.items(), key=lambda one: -one[1])[:3]
    if {best, *(name for name, _ in others[:1])} == _TWINS:
        others = others[1:]  # either stemmer does
    if most < _SURE * len(words) or (others and most < _AHEAD * others[0][1]):
        return UNKNOWN
    return UNKNOWN if best.startswith("_") else best


@cache
def _languages_with() -> dict[str, tuple[str, ...]]:
    by_word: dict[str, list[str]] = {}
    for language, words in _LITTLE_WORDS.items():
        for word in words.split():
            by_word.setdefault(word, []).append(language)
    return {word: tuple(dict.fromkeys(languages)) for word, languages in by_word.items()}


def _cyrillic(text: str) -> str:
    if re.search("[ђјљњћџ]", text):
        return "serbian"
    if re.search("[іїєґўқғңүұөһә]", text):
        return UNKNOWN  # Ukrainian, Belarusian, Kazakh, Mongolian
    if not re.search("[ыэё]", text) and re.search("ъ(?![еёюя])", text):
        return UNKNOWN  # Bulgarian
    return "russian"
