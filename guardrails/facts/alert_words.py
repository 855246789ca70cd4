"""Words that alerts have in their subjects, in English, German, French, Spanish, Italian, Dutch,
Portuguese, Polish, Swedish, Czech, Japanese, Chinese and a few more. Pure.

Each list is searched for as plain words, in one pass: there is nothing a hostile subject could make
slow. They are written as they are compared (`folded`), most of them as the beginning of a word.
"""

import re
from collections.abc import Mapping

from guardrails.facts.senders import Kind
from integrations.mail.text import normalised

LETTER_AFTER = r"(?![^\W\d_])"
SCRIPTS_WITHOUT_BLANKS = "\u2e80"  # the first sign of these

# What only an alert says: anybody may send it.
ANYBODY_WORDS = """
security alert|security notice|security warning|security code|sign-in|signin |new sign in|log-in
login
new device|unusual activity|suspicious|unauthorized|unauthorised|breach|password|passcode
verification code|one-time|two-factor|two-step|2fa|recovery code|recovery email|recovery phone
forwarding rule|forwarding address|access granted|access was given|was granted access
delivery status|undeliverable|undelivered|api key|ssh key|personal access token|third-party app
account locked|account suspended|account has been|account was|payout|bank details|app password
sicherheitswarnung|sicherheitshinweis|sicherheitsmeldung|sicherheitsbenachrichtigung
sicherheitscode
neue anmeldung|anmeldeversuch|anmeldecode|neues gerat|ungewohnliche aktivitat|verdachtige
passwort|kennwort|bestatigungscode|verifizierungscode|einmalcode|einmalpasswort|zwei-faktor
konto gesperrt|konto wurde|weiterleitungsadresse|weiterleitungsregel|zugriff gewahrt
unzustellbar
auszahlung|bankverbindung
alerte de securite|nouvelle connexion|tentative de connexion|nouvel appareil
activite inhabituelle
activite suspecte|mot de passe|code de verification|code de securite|code de connexion
usage unique
deux facteurs|double authentification|compte bloque|compte suspendu|adresse de transfert
acces accorde|non remis|echec de la remise|coordonnees bancaires
alerta de seguridad|aviso de seguridad|inicio de sesion|nuevo dispositivo|actividad inusual
actividad sospechosa|contrasena|codigo de verificacion|codigo de seguridad|codigo de acceso
dos pasos|cuenta bloqueada|direccion de reenvio|acceso concedido|no se pudo entregar
avviso di sicurezza|nuovo accesso|tentativo di accesso|nuovo dispositivo|attivita insolita
attivita sospetta|codice di verifica|codice di sicurezza|codice di accesso|due passaggi
account bloccato|indirizzo di inoltro|mancata consegna
beveiligingswaarschuwing|beveiligingsmelding|nieuwe aanmelding|nieuwe inlog|inlogpoging
inlogcode
nieuw apparaat|ongebruikelijke activiteit|verdachte activiteit|wachtwoord|verificatiecode
beveiligingscode|tweestaps|account geblokkeerd|doorstuuradres|niet bezorgd
alerta de seguranca|aviso de seguranca|novo login|novo acesso|inicio de sessao|novo dispositivo
atividade incomum|atividade suspeita|senha|palavra-passe|codigo de verificacao
codigo de seguranca
duas etapas|conta bloqueada|acesso concedido|nao entregue
alert bezpieczenstwa|alert dotyczacy bezpieczenstwa|nowe logowanie|proba logowania
nowe urzadzenie
nietypowa aktywnosc|podejrzana aktywnosc|hasło|hasła|kod weryfikacyjny|kod bezpieczenstwa
dwuetapow|konto zablokowane|nie dostarczono
sakerhetsvarning|sakerhetsmeddelande|ny inloggning|inloggningsforsok|ny enhet|ovanlig aktivitet
misstankt aktivitet|losenord|verifieringskod|sakerhetskod|engangskod|tvastegs|kontot har
sikkerhedsadvarsel|sikkerhetsvarsel|adgangskode|passord|ny innlogging|nyt login|engangskode
bezpecnostni upozorneni|nove prihlaseni|pokus o prihlaseni|nove zarizeni|neobvykla aktivita
podezrela aktivita|heslo|hesla|overovaci kod|bezpecnostni kod|dvoufazov|ucet byl|nedoruceno
suojausilmoitus|uusi kirjautuminen|salasana|vahvistuskoodi
guvenlik uyar|yeni oturum|sifre|dogrulama kodu
оповещение безопасности|предупреждение безопасности|новыи вход|вход в аккаунт|пароль
код подтверждения|подозрительн
セキュリティ通知|セキュリティ警告|セキュリティアラート|セキュリティに関する|新しいログイン
ログイン通知
ログインのお知らせ|サインイン|新しいデバイス|不審な|不正ログイン|パスワード|認証コード
確認コード
ワンタイム|二段階認証|2段階認証|配信できません
安全提醒|安全警报|安全警告|安全通知|登录提醒|新登录|新登入|异常登录|異常登入|登入通知|新设备
新裝置
密码|密碼|验证码|驗證碼|两步验证|雙重驗證|退信
보안 알림|보안 경고|새로운 로그인|로그인 알림|비밀번호|인증번호|인증 코드
"""
DELIVERY_WORDS = """
undeliver|delivery|returned mail|mail system|failure|unzustellbar|nicht zugestellt|non remis
remise
no entregado|entrega|consegna|bezorg|niet afgeleverd|nao entregue|nie dostarczono|leverans
levererats
nedoruc|dorucen|配信|送信できません|退信|无法投递|無法傳送
"""
# What the known senders of alerts say in such mail, by what it is about. In anybody else's it would
# be ordinary.
SENDERS_WORDS: Mapping[Kind, str] = {
    "access": """
new app |application|third-party|oauth|access|permission|authorized|authorised|token|key|delegate
integration|connected|zugriff|berechtigung|verbunden|schlussel|acces|autoris|cle |acceso|permiso
clave|aplicacion|accesso|autorizza|chiave|toegang|machtiging|sleutel|acesso|permissao|chave
dostep|uprawnien|klucz|atkomst|behorighet|nyckel|pristup|opravneni|klic|アクセス|アプリ|許可
連携|キー
访问|授权|授權|应用|應用|权限|權限|密钥|金鑰|접근|권한
""",
    "account": """
your account|account change|profile|email address|e-mail address|phone number|address changed
recovery
settings changed|identity|locked|suspended|closed|verify|confirm|domain|nameserver|dns|expire
renew
ownership|certificate|ihr konto|dein konto|kontos|telefonnummer|adresse geandert|gesperrt
bestatig
votre compte|numero de telephone|confirmez|domaine|expir|tu cuenta|su cuenta|telefono|confirma
dominio
conferma|tuo account|uw account|je account|rekening|bevestig|verloopt|sua conta|confirme
telefone
twoje konto|twojego konta|potwierd|wygas|ditt konto|bekrafta|ucet|potvrd|アカウント|口座
登録情報|変更
账户|账号|帳戶|帳號|变更|變更|계정|аккаунт
""",
    "code": """
your code|code is|is your|ihr code|dein code|votre code|tu codigo|su codigo|tuo codice|je code
uw code
seu codigo|twoj kod|din kod|vas kod|コード|验证|驗證|코드|код
""",
    "payment": """
payment|paid|payout|transfer|transaction|refund|withdraw|deposit|you sent|sent you|money|charged
debit
zahlung|uberweisung|abbuchung|lastschrift|ruckerstattung|paiement|virement|versement|prelevement
remboursement|pago|transferencia|retiro|reembolso|cargo|pagamento|bonifico|addebito|rimborso
betaling
overboeking|uitbetaling|terugbetaling|incasso|saque|pix |płatnosc|przelew|wypłata|zwrot
betalning
overforing|utbetalning|aterbetalning|platba|prevod|vyber|支払|振込|送金|入金|出金|引き落とし
ご利用
付款|支付|转账|轉帳|提现|提現|退款|收款|扣款|결제|송금|출금|платеж|перевод
""",
    "signin": """
login|log in|logged in|sign in|signed in|device|session|location|angemeldet|anmeldung|gerat
connexion
appareil|sesion|dispositivo|aangemeld|inlog|apparaat|sessao|zalogowan|logowani|urzadzeni|inlogg
enhet
prihlas|zarizeni|ログイン|デバイス|端末|登录|登入|设备|裝置|로그인|기기|вход
""",
}
CODE_WORDS = """
verification code|security code|login code|log-in code|sign-in code|confirmation code
access code
authentication code|one-time code|one-time password|passcode|otp|your code is
bestatigungscode|sicherheitscode|verifizierungscode|einmalcode|einmalpasswort|anmeldecode
code de verification|code de securite|code de connexion|code de confirmation|usage unique
codigo de verificacion|codigo de seguridad|codigo de acceso|codigo de confirmacion
codice di verifica|codice di sicurezza|codice di accesso|codice di conferma
verificatiecode|beveiligingscode|inlogcode|bevestigingscode|eenmalige code
codigo de verificacao|codigo de seguranca|codigo de confirmacao
kod weryfikacyjny|kod bezpieczenstwa|kod potwierdzajacy|kod jednorazowy|jednorazowy kod
verifieringskod|sakerhetskod|engangskod|bekraftelsekod|engangskode|bekreftelseskode
overovaci kod|bezpecnostni kod|potvrzovaci kod|jednorazovy kod|vahvistuskoodi|dogrulama kodu
код подтверждения|認証コード|確認コード|ワンタイムパスワード|验证码|驗證碼|校验码|인증번호
인증 코드
"""


def folded(text: str) -> str:
    """The text as it is compared: other forms of letters and accents taken off, in small letters,
    its blanks single."""
    if not text.isascii():
        apart = normalised("NFKD", text)
        # Marks of Latin, Greek and Cyrillic letters; those of other scripts tell words apart.
        apart = "".join(one for one in apart if not "\u0300" <= one <= "\u036f")
        text = normalised("NFKC", apart)
    return " ".join(text.casefold().split())


def _any_of(words: str) -> re.Pattern[str]:
    """Finds one of these words where a word begins. Scripts without blanks have no such place."""
    # A blank at the end: the word ends there too.
    listed = [one for line in words.splitlines() for one in line.split("|") if one]
    patterns = [re.escape(folded(one)) + LETTER_AFTER * one.endswith(" ") for one in listed]
    spaced = "|".join(one for one in patterns if one[0] < SCRIPTS_WITHOUT_BLANKS)
    others = [one for one in patterns if one[0] >= SCRIPTS_WITHOUT_BLANKS]
    return re.compile("|".join([rf"(?<![^\W\d_])(?:{spaced})", *others]))


ANYBODY = _any_of(ANYBODY_WORDS)
DELIVERY = _any_of(DELIVERY_WORDS)
CODE = _any_of(CODE_WORDS)
OF_SENDERS: Mapping[Kind, re.Pattern[str]] = {
    kind: _any_of(words) for kind, words in SENDERS_WORDS.items()
}
