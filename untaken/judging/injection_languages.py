"""How other languages say "ignore the instructions": beginnings of the verb, and of the noun.

In lower case; in Latin script without accents, since a reading has them taken off.
"""

from __future__ import annotations

from typing import Final

_LATIN: Final = (
    (
        *("ignora ", "ignore ", "ignorer ", "ignorez ", "ignoren ", "ignorad ", "ignorate ", "ignorera "),
        *("ignorier", "ignorir", "ignoreer", "ignoruj", "zignor"),
        *("missacht", "vergiss", "vergesst", "vergessen sie", "beachte nicht", "setz dich uber"),  # German
        *("olvid", "descart", "caso omiso", "no hagas caso", "no tengas en cuenta", "por alto"),  # Spanish
        *(
            *("oubli", "ne tiens pas compte", "ne tenez pas compte", "fais abstraction"),
            *("faites abstraction", "passe outre"),
        ),  # French
        *("dimentic", "trascur", "non considerare", "non tenere conto", "lascia perdere"),  # Italian
        *("esquec", "desconsider", "nao leve em conta"),  # Portuguese
        *("negeer", "vergeet", "laat buiten beschouwing"),  # Dutch
        *("pomin", "zapomnij", "nie zwracaj uwagi", "zlekcewaz"),  # Polish
        *("zapomen", "nevsimej", "opomen", "prehlizej"),  # Czech, Slovak
        *("bortse", "glom", "se bort fra", "glem", "strunta"),  # Swedish, Danish, Norwegian
        *("ohita", "unohda", "ala valita"),  # Finnish
        *("yoksay", "yok say", "gormezden gel", "dikkate alma", "unut", "goz ard"),  # Turkish
        *("uita", "nu tine cont", "nu lua in seama"),  # Romanian
        *("hagyd figyelmen", "felejts", "mellozd"),  # Hungarian
        *("abaikan", "lupakan"),  # Indonesian, Malay
        *("bo qua", "phot lo", "quen di"),  # Vietnamese
        *("zanemari", "zaboravi", "puuza", "sahau", "balewalain", "kalimutan"),  # Croatian, Swahili, Tagalog
    ),
    (
        *("instru", "istruz", "anweisung", "vorgabe", "anleitung", "consigne", "directiv", "directri"),
        *("indicacion", "indicazion", "instrukc", "instrukt", "instruks", "polecen", "wytyczn", "pokyn"),
        *("ohje", "maarays", "talimat", "yonerge", "utasit", "petunjuk", "perintah", "arahan"),
        *("huong dan", "chi dan", "chi thi", "opdracht", "aanwijzing", "upute", "uputstv", "maagizo"),
        *("tagubilin", "panuto", "regeln", "reglas", "regles", "regole", "regras", "ordenes", "ordres"),
    ),
)

OTHER_LANGUAGES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    _LATIN,
    (  # Russian, Ukrainian, Bulgarian, Serbian
        ("игнорир", "проигнор", "ігнору", "проігнор", "забудь", "забрави", "не обращай", "пренебре"),
        ("инструкц", "указани", "команд", "правил", "інструкц", "вказів", "настанов", "упутств"),
    ),
    (("αγνόησ", "αγνοήσ", "αγνοείστε", "ξέχασ", "παράβλεψ"), ("οδηγί", "εντολ")),  # Greek
    (  # Arabic, Persian, Urdu
        ("تجاهل", "أهمل", "انس", "نادیده بگیر", "فراموش کن", "نظر انداز", "نظرانداز"),
        ("تعليمات", "الأوامر", "إرشادات", "توجيهات", "دستور", "ہدایات"),
    ),
    (("התעלם", "התעלמ", "תתעלם", "שכח"), ("הוראות", "הנחיות", "ההוראה")),  # Hebrew
    (  # Hindi, Marathi, Bengali
        ("अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "उपेक्षा", "दुर्लक्ष", "भूल", "উপেক্ষা", "অগ্রাহ্য", "ভুলে"),
        ("निर्देश", "अनुदेश", "आदेश", "सूचना", "নির্দেশ"),
    ),
    (("புறக்கணி", "పట్టించుకో", "విస్మరించ"), ("வழிமுறை", "அறிவுறுத்த", "సూచన")),  # Tamil, Telugu
    (("เพิกเฉย", "ละเว้น", "ไม่ต้องสนใจ", "ไม่สนใจ", "ละเลย", "ลืม"), ("คำสั่ง", "คำแนะนำ")),  # Thai
    (  # Chinese, Japanese
        ("忽略", "忽視", "忽视", "无视", "無視", "忘记", "忘記", "不要理会", "不理会", "不要理會", "忘れ"),
        ("指令", "指示", "说明", "說明", "提示", "规则", "規則", "命令", "プロンプト", "ルール"),
    ),
    (("무시", "잊어", "잊으"), ("지시", "지침", "명령", "프롬프트")),  # Korean
)
