"""The words that people sort issues by, in English, German, French, Spanish and Italian. Pure.

Each phrase is in small letters, its words with one blank between them.
"""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases_of(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


TO_DO, IN_PROGRESS, IN_REVIEW, DONE = "To Do", "In Progress", "In Review", "Done"
OPEN = frozenset({TO_DO, IN_PROGRESS, IN_REVIEW})

# What an issue is called: its type, empty for any, and whether it is several.
NOUNS: Mapping[str, tuple[str, bool]] = {
    one: (kind, many)
    for kind, single, several in (
        (
            "",
            "issue ticket task aufgabe vorgang tâche tarea incidencia attività problema problème",
            "issues tickets tasks ones aufgaben vorgänge tâches tareas incidencias problemi",
        ),
        ("bug", "bug fehler bogue error errore", "bugs bogues errores errori"),
        ("story", "story histoire historia storia", "stories storys histoires historias storie"),
        ("epic", "epic épopée", "epics"),
    )
    for text, many in ((single, False), (several, True))
    for one in text.split()
}
EVERYTHING = frozenset({"everything", "alles", "tout", "todo", "tutto"})
ALL = _words(
    "all every each alle allen aller sämtliche sämtlichen tous toutes todos todas tutti tutte"
)
THE = _words("the die der den das dem les la le los las el i gli il lo")
MY = _words("my meine meinen meiner mein meinem mes mon ma mis mi miei mie mio mia mine")
OF = _words("of von de d' di du")


def _phrases(given: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    return {phrase.strip(): value for text, value in given.items() for phrase in text.split(",")}


STATUSES = _phrases(
    {
        "to do,todo,zu erledigen,à faire,por hacer,da fare": frozenset({TO_DO}),
        "in progress,in arbeit,in bearbeitung,en cours,en curso,en progreso,in corso": frozenset(
            {IN_PROGRESS}
        ),
        "in review,im review,in prüfung,en revue,en relecture,en revisión,in revisione": frozenset(
            {IN_REVIEW}
        ),
        "done,closed,finished,erledigt,erledigte,erledigten,fertig,fertige,fertigen,"
        "abgeschlossene,abgeschlossenen,terminé,terminés,terminée,terminées,fermé,fermés,fermée,"
        "fermées,terminado,terminados,terminada,terminadas,cerrado,cerrados,cerrada,cerradas,"
        "hecho,hechos,hecha,hechas,chiuso,chiusi,chiusa,chiuse,completato,completati,completata,"
        "completate": frozenset({DONE}),
        "open,unfinished,offen,offene,offenen,ouvert,ouverts,ouverte,ouvertes,abierto,abiertos,"
        "abierta,abiertas,pendiente,pendientes,aperto,aperti,aperta,aperte": OPEN,
    }
)
OVERDUE = _phrases_of(
    "overdue,past due,überfällig,überfällige,überfälligen,en retard,vencido,vencidos,"
    "vencida,vencidas,atrasado,atrasados,atrasada,atrasadas,retrasado,retrasados,"
    "retrasada,retrasadas,scaduto,scaduti,scaduta,scadute,in ritardo"
)
PRIORITIES: Mapping[str, str] = {
    phrase: level
    for level, words in {
        "lowest": ("lowest", "niedrigster", "minimale", "mínima", "minima"),
        "low": ("low", "niedriger", "basse", "baja", "bassa"),
        "medium": ("medium", "mittlerer", "moyenne", "media", "media"),
        "high": ("high", "hoher", "haute", "alta", "alta"),
        "highest": ("highest", "höchster", "maximale", "máxima", "massima"),
    }.items()
    for phrase in (
        f"{words[0]} priority",
        f"with {words[0]} priority",
        f"mit {words[1]} priorität",
        f"de priorité {words[2]}",
        f"de prioridad {words[3]}",
        f"con prioridad {words[3]}",
        f"con priorità {words[4]}",
    )
}
LABELLED = _phrases_of(
    "labelled,labeled,tagged,with label,with the label,mit label,mit dem label,"
    "avec le label,avec l' étiquette,con la etiqueta,con etiqueta,con l' etichetta,"
    "con etichetta"
)
ASSIGNED = frozenset(
    {"assigned to", "attribuées à", "attribués à", "asignadas a", "asignados a", "assegnati a"}
)
ME = frozenset({"me", "moi", "mí", "mi"})
THAT = _words("that which die was qui que che")
IS = _words("is are ist sind est sont está están es son è sono")
STILL = _words("still noch encore aún todavía ancora")
DUE = frozenset(
    {"due", "due on", "fällig", "fällig am", "pour", "que vencen", "que vencen el", "in scadenza"}
)
AIMS = _words("to into as auf an nach zu à a al au en in para per")
AND = _words("and und et y")
# Verbs behind whose object a status is what becomes of it: “put Tom's tasks in progress”.
PUTS = _words(
    "put move set take setz setze stell stelle nimm mets passe mettre pon pasa mueve metti sposta "
    "passa"
)
LEVELS = _words("urgent review done") | frozenset(
    one.split()[0] for one in PRIORITIES if one.endswith(" priority")
)
# Articles and the like of several things, and those that are so before these nouns.
SEVERAL = _words("les los las gli i mes mis miei mie")
SEVERAL_OF = frozenset({"die", "meine"})
ONE_AS_MANY = frozenset({"fehler", "bug", "ticket", "epic"})
# What makes the words outside of a phrase say less than it does.
LIMITING = _words(
    "only just nur bloß seulement uniquement solo sólo solamente soltanto if wenn falls si se or "
    "oder ou o those which whose whom about than older newer first last oldest newest latest "
    "project projekt projet proyecto progetto"
)
# What is done to issues alone.
ABOUT_ISSUES = _words(
    "assign reassign status priority backlog weise zuweisen priorität attribue assigne statut "
    "priorité asigna asignar estado prioridad assegna assegnare stato priorità"
)
ABOUT = _words("about on zu zum zur über mit sur du des de d' sobre del su dei della delle con")
LONGEST = 4  # words of a phrase
