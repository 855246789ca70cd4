"""In which of four languages a request is, by its little words (pure)."""

from typing import Literal

from sandbox.offline_model import german
from sandbox.offline_model.language import word_set, words

Language = Literal["en", "de", "fr", "es"]

_GERMAN_ORDERS = word_set(
    """
    archiviere markiere verschiebe lösche entwirf schreibe verfasse sende schicke leite erstelle
    lege trage sage ändere setze weise kommentiere teile ergänze füge beschrifte
    """
)
_FRENCH = word_set(
    """
    le les du des une est et je mon ma mes dans pour avec qui sur au aux à où quand combien quel
    quelle merci votre vos ce cette crée créer envoie prépare rédige écris réponds déplace supprime
    ajoute annule partage transfère marque mets met réunion courriel tâche tickets dossier rendez
    """
)
_SPANISH = word_set(
    """
    el los las una y mi mis con para por qué del al cuándo cuánto cuál quién gracias su este esta
    crea envía prepara escribe redacta responde mueve borra elimina añade cancela comparte reenvía
    marca archiva etiqueta pon reunión correo tarea carpeta cita
    """
)
LEAST = 2  # telling words, or one that begins the request


def language_of(text: str) -> Language:
    """English where no word says another."""
    said = [word.casefold() for word in words(text)]
    if german.is_german(text) or (said and said[0] in _GERMAN_ORDERS):
        return "de"
    telling: dict[Language, frozenset[str]] = {"fr": _FRENCH, "es": _SPANISH}
    counts = {name: sum(word in known for word in said) for name, known in telling.items()}
    best = max(counts, key=lambda name: counts[name])
    begins = bool(said) and said[0] in telling[best]
    return best if counts[best] >= LEAST or begins else "en"
