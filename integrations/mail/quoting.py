"""How mail programs of many languages mark what was quoted, passed on or signed. Pure.

Two readers use it, each in its own doubt: a search index keeps what may be the sender's own,
the guardrails take it away from what a person typed.
"""

# ruff: noqa: RUF001 - other languages have letters that look like Latin ones

# What stands between a name and a colon: “On Monday, Ann wrote:”.
VERBS = (
    "wrote|writes|said|schrieb|skrev|a écrit|escribió|escreveu|schreef|ha scritto|kirjoitti"
    "|napisał|napisała|napisał\\(a\\)|napsal|napsala|написал|написала|пише|写道|寫道"
    "|書きました|のメッセージ"
)
# How such a line begins.
OPENERS = "On|Am|Den|Le|El|Op|Il|Em|Dne|Dnia|W dniu|В|On|于|在|\\d{4}|\\d{1,2}[./-]"
ORIGINAL = (
    "Original Message|Reply message|Ursprüngliche Nachricht|Message d'origine"
    "|Mensaje original|Mensagem original|Messaggio originale|Oorspronkelijk bericht"
    "|Ursprungligt meddelande|Oprindelig meddelelse|Wiadomość oryginalna|Původní zpráva"
    "|Исходное сообщение|原始邮件|元のメッセージ"
)
FORWARDED = (
    "Forwarded (?:message|text|by)|Weitergeleitete Nachricht"
    "|Message transféré|Mensaje reenviado|Mensagem encaminhada|Messaggio inoltrato"
    "|Doorgestuurd bericht|Vidarebefordrat meddelande|Videresendt meddelelse"
    "|Wiadomość przekazana|Přeposlaná zpráva|Пересылаемое сообщение|转发邮件|転送されたメッセージ"
)
FORWARDED_WHOLE = (
    "Begin forwarded message:|Anfang der weitergeleiteten Nachricht:|Début du message transféré ?:"
    "|Inicio del mensaje reenviado:|Inizio messaggio inoltrato:|Begin doorgestuurd bericht:"
)
# The head that Outlook and others put above the mail that is answered.
FROM = "From|Von|De|Da|Van|Från|Fra|Od|От|发件人|差出人"
SENT = (
    "Sent|Gesendet|Envoyé|Enviado(?: el| em)?|Inviato|Verzonden|Skickat|Sendt"
    "|Wysłano|Odesláno|Отправлено|发送时间|送信日時"
)
OTHER = (
    f"{SENT}|Date|Datum|Fecha|Data|To|An|À|Para|A|Aan|Till|Til|Do|Komu|Кому|收件人|宛先"
    "|Cc|Kopie|CC|Копия|Reply-To|Importance|Subject|Betreff|Objet|Asunto|Assunto|Oggetto"
    "|Onderwerp|Ämne|Emne|Temat|Předmět|Тема|主题|件名"
)
SENT_FROM = (
    "Sent from my |Get Outlook for |Skickat från min |Sendt fra min |Von meinem "
    "|Gesendet von |Envoyé de mon |Enviado desde mi |Enviado do meu |Inviato da |Verzonden vanaf "
    "|Wysłane z |Odesláno z |Отправлено с |发自我的|從我的|iPhoneから送信"
)
# What people write above their name, alone in a line.
GREETINGS = (
    "(?:best|kind|warm|many)? ?(?:regards|wishes)|best|cheers|sincerely(?: yours)?"
    "|yours (?:sincerely|truly)"
    "|(?:mit )?(?:freundliche|beste|viele|liebe|herzliche)n? gr(?:ü|ue)(?:ß|ss)en?|mfg|vg"
    "|(?:bien )?cordialement|bien à (?:vous|toi)|salutations(?: distinguées)?"
    "|(?:un )?(?:cordial )?saludos?(?: cordiales)?|atentamente"
    "|cordiali saluti|distinti saluti|saluti"
    "|(?:met )?(?:vriendelijke|hartelijke) groet(?:en)?|groet(?:jes|en)?"
    "|atenciosamente|cumprimentos|abraços?|z poważaniem|pozdrawiam|serdecznie"
    "|(?:med )?(?:vänlig|vänliga|bästa) hälsning(?:ar)?|mvh|hälsningar"
    "|(?:med )?(?:venlig|venlige|bedste) hilsen(?:er)?|vh|s pozdravem|с уважением"
    "|よろしくお願い(?:いた)?します|敬具|此致|祝好"
)
