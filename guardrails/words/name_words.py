"""Words around names, in the languages of the office: what is a title, a month, a small word, and
which names are ordinary words too. Each as it is written, and as `people.spellings` writes it,
without accents."""

from guardrails.facts.people import spellings


def _read(text: str) -> frozenset[str]:
    return frozenset().union(*({word} | spellings(word) for word in text.split()))


TITLES = _read(
    "mr mrs ms miss mx dr prof professor sir madam frau herr fräulein hr fr mme mlle monsieur "
    "madame mademoiselle docteur sr sra srta señor señora señorita doctor doctora don doña senhor "
    "senhora signor signora signore dott dottore dottoressa sig mevrouw meneer dhr mevr fru pan "
    "pani"
)
# Months and weekdays. Alone they are never a name: somebody called May or Freitag needs a title or
# a second name.
CALENDAR = _read(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri "
    "sat sun january february march april may june july august september october november "
    "december jan feb mar apr jun jul aug sep sept oct nov dec today tomorrow tonight yesterday "
    "spring summer autumn fall winter easter christmas montag dienstag mittwoch donnerstag "
    "freitag samstag sonnabend sonntag januar jänner februar märz mai juni juli oktober dezember "
    "heute morgen gestern sommer herbst ostern weihnachten lundi mardi mercredi jeudi vendredi "
    "samedi dimanche janvier février mars avril juin juillet août septembre octobre novembre "
    "décembre demain noël lunes martes miércoles jueves viernes sábado domingo enero febrero "
    "marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre mañana segunda "
    "terça quarta quinta sexta janeiro fevereiro março maio junho julho setembro outubro novembro "
    "dezembro lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile "
    "maggio giugno luglio settembre ottobre dicembre maandag dinsdag woensdag donderdag vrijdag "
    "zaterdag zondag januari februari maart mei måndag tisdag onsdag torsdag fredag lördag söndag"
) - {"marco"}  # a name; the month is written março
DETERMINERS = _read(
    "the a an this that these those my our your his her its their some any each every no next "
    "last der die das den dem des ein eine einen einem einer mein meine unser unsere le la les un "
    "une mon ma mes notre ce cette el los las una mi mis nuestro o os as um uma meu minha il lo "
    "gli i uno de het een"
)
# What follows somebody's name where no surname does.
FUNCTION = DETERMINERS | _read(
    "to and or with for from at in on of by about as if that when what which who whom how why "
    "where before after until till cc bcc is was are were be has have had does did can could "
    "should would will may might must shall not but so then also too again please now here there "
    "it me us him her them you we i he she they re via per than because since while during into "
    "onto up down out over off both all needs wants asked said wrote sent gave made knows thinks "
    "says und oder mit für von zu zum zur an am im bei auf über nach vor bis ob dass wenn wer wie "
    "ist war hat sind sein ich du er sie es wir ihr mir dir ihm uns euch ihnen bitte auch noch "
    "nicht aber um ab als et ou avec pour par à au aux dans sur chez que qui quand si est sont je "
    "tu il elle nous vous ne pas y o con para por en sobre cuando está e com em no na ao não ed "
    "di da su che non è met voor van aan op och eller med för från på att som inte"
)
SELF = _read("me myself mich mir moi mig mij meg mim")
EXCLUDING = _read(
    "not never without except excluding unless besides nor nicht ohne außer nie kein keine ni "
    "sans sauf pas jamais sin excepto salvo nunca no sem exceto menos não senza tranne eccetto "
    "mai non niet zonder behalve nooit inte utan förutom ikke uden uten undtagen bez oprócz"
)
BUT = _read("but sondern aber mais sino pero mas senão ma bensì maar utan men instead lieber")
# Names that are words of every day. Alone they are names only where a capital says so.
ORDINARY = _read(
    "will mark bill grant chase drew pat sue rob frank dean page price day days long short young "
    "green brown white black gray grey king cook hill hills wood woods lane field fields rich "
    "hope faith joy grace dawn iris lily rose ivy daisy ray skip gene miles pierce reed wade guy "
    "max art wells best sharp love case cash bush bank banks church court cross ford forest fox "
    "gates good hall hand hart head holly house hunt hunter jewel key knight lake law major marsh "
    "mason masters mercy mills miller moon moore noble north olive park parks pearl penny porter "
    "potter power powers prince ruby sky small smart star steel stone storm street strong swift "
    "trip turner victory walker wall ward waters way west wise wright win winner worth yard angel "
    "amber baker bishop booth bond book brook brooks buck bud carpenter carter chance chip "
    "christian clay cliff constant cooper crane dale data derby duke earl early ease east eve "
    "ever farmer fine flint flower free gardener general ginger glen harmony heath heather herb "
    "honor jay jade jasmine jet judge justice kay kit lance lock lot luck lucky manor marble "
    "marina mat mate melody merit mini misty more nature neat nice night norm note notes peach "
    "peak plan pilot pool poppy post pope precious quick rain ranger reason review robin rocky "
    "rusty sage sales sandy saint savage scout sea shade shell sierra silver slate sonny south "
    "spark sterling sugar swan talent team temple tiger trace true trust vale van vice violet "
    "warden wave web wilder willow wit wolf wren ernst klein groß lang kurz bach berg fuchs vogel "
    "koch bauer weber kaiser könig graf richter vogt stolz frei braun schwarz weiß rot grün neu "
    "alt jung gut schön engel stein baum blum wald feld kraft licht recht brand bürger fischer "
    "jäger krämer meister petit grand blanc noir roux fort bon roi marchand boulanger berger "
    "fleur aimée merci ange bello blanco rojo rubio moreno bueno rey reina cruz luz sol "
    "mar paz pilar consuelo dolores mercedes rosa flores vega prado campo campos leal bravo costa "
    "rocha silva lima preto neri conti gallo leone marino groot bos dijk "
    "visser bakker lind ek strand holm stig"
)
# First names that are small words in languages where a capital makes them names.
CAPITALISED = _read("claire marco bruno bianca serena vera")
# What people have, in languages that write “Toms Urlaub” without an apostrophe: after these alone
# the “s” of a word may be a genitive's. After any other word “Jonas Berger” would be a Jona.
HAD = tuple(
    sorted(
        _read(
            "urlaub termin termine terminen kalender mail mails nachricht nachrichten aufgabe "
            "aufgaben ticket tickets meeting meetings besprechung besprechungen bericht "
            "berichte berichts dokument dokumente datei dateien entwurf entwürfe rechnung "
            "rechnungen frage fragen antwort antworten angebot angebote vortrag notizen "
            "geburtstag geburtstags projekt projekte präsentation adresse anruf einladung "
            "einladungen vorschlag anmerkungen kommentar kommentare liste vertretung "
            "abwesenheit bewerbung vertrag unterlagen issue issues semester möte möten mötet "
            "mejl uppgift uppgifter rapport kalendern ledighet møde møder opgave opgaver ferie "
            "besked møte møter oppgave oppgaver vakantie afspraak afspraken vergadering taak "
            "taken agenda verslag uitnodiging verlof"
        )
    )
)
