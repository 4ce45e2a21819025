"""Turns that need no search: greetings, short acknowledgements and farewells in seven languages.

A phrase missing here costs one search; a wrong one would cost an answer, so the lists are short.

Source: en, hi sayhindi.com/vocabulary/common-greetings-and-farewells-in-hindi; es
spanish.hku.hk/SALUDOS_Y_DESPEDIDAS.htm and, for answering the telephone, slroute.com resumen-4-2;
de homepage.alexanderkeck.de/Core/HfD (forms and regions) and, for the telephone ("Auf
Wiederhören"), personelgroup.pl lektion-1; fr citiesinsider.com/country/france/paris/common-phrases
and moon.com/2016/04/helpful-french-phrases-for-travelers; ar tdivs.ru, greetings and their replies,
with colloquial forms of Gulf and Egypt; zh howtolearnalanguage.info, Chinese greetings and farewells.
"""

from functools import lru_cache

from earmark_worker.languages.folding import words

_GREETINGS = {
    "en": "hi/hello/hey/hi there/hello there/good morning/good afternoon/good evening/good day/"
    "how are you/how are you doing/how do you do/nice to meet you/is anyone there/can you hear me/"
    "are you there",
    "ar": "مرحبا/مرحبا بك/أهلا/أهلا وسهلا/هلا/هلا والله/السلام عليكم/وعليكم السلام/"
    "السلام عليكم ورحمة الله/السلام عليكم ورحمة الله وبركاته/صباح الخير/صباح النور/مساء الخير/"
    "مساء النور/كيف حالك/كيفك/شلونك/إزيك/ألو/هل تسمعني",
    "es": "hola/buenos días/buen día/buenas tardes/buenas noches/buenas/qué tal/cómo está/cómo estás/"
    "mucho gusto/diga/dígame/aló/bueno/me oye/me escucha",
    "de": "hallo/guten morgen/guten tag/guten abend/grüß gott/grüezi/servus/moin/moin moin/hi/"
    "wie geht es ihnen/wie gehts/hören sie mich/sind sie da",
    "fr": "bonjour/bonsoir/salut/allô/coucou/comment allez vous/comment ça va/ça va/enchanté/"
    "vous m'entendez",
    "hi": "नमस्ते/नमस्कार/हैलो/हेलो/हाय/सुप्रभात/शुभ संध्या/आप कैसे हैं/कैसे हैं आप/राम राम/क्या आप सुन रहे हैं/सलाम",
    "zh": "你好/您好/喂/早上好/上午好/中午好/下午好/晚上好/早安/哈喽/嗨/大家好/你好吗/很高兴认识你/听得到吗",
}

_ACKNOWLEDGEMENTS = {
    "en": "yes/yeah/yep/yup/no/nope/nah/ok/okay/k/sure/right/alright/all right/fine/great/good/perfect/"
    "got it/i see/i understand/understood/uh huh/mm hmm/mhm/hmm/mm/correct/exactly/thats right/"
    "that is right/that's right/please/yes please/no thanks/no thank you/thanks/thank you/"
    "thank you very much/thanks a lot/go ahead/of course/sounds good/cool/hold on/one moment/"
    "one second/just a moment/wait/sorry/pardon/what/maybe/not really/i think so/i dont know/"
    "i don't know/not sure/that's all/thats all/that is all/nothing else",
    "ar": "نعم/أيوه/أيوة/إيه/اي/لا/كلا/لأ/تمام/طيب/حسنا/ماشي/أوكي/اوكيه/صح/صحيح/بالضبط/فهمت/مفهوم/"
    "أكيد/طبعا/من فضلك/لو سمحت/شكرا/شكرا لك/شكرا جزيلا/مشكور/لا شكرا/نعم من فضلك/تفضل/لحظة/"
    "ثانية/آسف/عفوا/ربما/لا أعرف/ما أعرف/مدري/هذا كل شيء/بس/إن شاء الله/الحمد لله/ممتاز",
    "es": "sí/no/vale/de acuerdo/ok/okey/claro/claro que sí/por supuesto/bien/muy bien/perfecto/"
    "entiendo/entendido/ya veo/ajá/exacto/correcto/así es/por favor/sí por favor/no gracias/"
    "gracias/muchas gracias/adelante/un momento/espere/perdón/perdone/cómo/quizás/tal vez/"
    "no sé/no lo sé/eso es todo/nada más/listo",
    "de": "ja/nein/nee/jawohl/ok/okay/gut/sehr gut/alles klar/in ordnung/genau/richtig/stimmt/"
    "verstehe/ich verstehe/verstanden/aha/hm/mhm/natürlich/klar/bitte/ja bitte/nein danke/danke/"
    "danke schön/dankeschön/vielen dank/einen moment/moment/warten sie/entschuldigung/wie bitte/"
    "vielleicht/ich weiß nicht/weiß nicht/das ist alles/das wars/sonst nichts/super/perfekt/doch",
    "fr": "oui/non/si/ok/d'accord/bien/très bien/parfait/entendu/compris/je comprends/je vois/"
    "exactement/c'est ça/exact/bien sûr/s'il vous plaît/oui s'il vous plaît/non merci/merci/"
    "merci beaucoup/allez y/un moment/un instant/attendez/pardon/désolé/comment/peut être/"
    "je ne sais pas/je sais pas/c'est tout/rien d'autre/euh/hum/voilà",
    "hi": "हाँ/हां/जी/जी हाँ/जी हां/हाँ जी/नहीं/जी नहीं/ना/ठीक/ठीक है/अच्छा/सही/बिल्कुल/समझ गया/समझ गई/"
    "समझा/ओके/ओह/हम्म/कृपया/प्लीज़/धन्यवाद/शुक्रिया/बहुत धन्यवाद/बहुत शुक्रिया/थैंक यू/एक मिनट/रुकिए/"
    "माफ़ कीजिए/क्या/शायद/पता नहीं/मुझे नहीं पता/बस/बस इतना ही/और कुछ नहीं/ज़रूर",
    "zh": "是/是的/对/对的/不/不是/不对/好/好的/好吧/行/可以/没问题/嗯/嗯嗯/哦/噢/啊/明白/明白了/知道了/"
    "懂了/了解/没错/当然/请/谢谢/谢谢你/谢谢您/多谢/不用/不用了/不用谢/等一下/请稍等/稍等/对不起/抱歉/"
    "不好意思/什么/也许/不知道/我不知道/不清楚/就这些/没有了/没了/没有/有/要/不要",
}

_FAREWELLS = {
    "en": "bye/goodbye/good bye/bye bye/see you/see you later/talk to you later/have a nice day/"
    "have a good day/have a great day/good night/take care/cheers",
    "ar": "مع السلامة/وداعا/إلى اللقاء/باي/في أمان الله/تصبح على خير/يومك سعيد/نهارك سعيد/سلام",
    "es": "adiós/hasta luego/hasta mañana/hasta pronto/chao/chau/nos vemos/que tenga un buen día/"
    "que tenga buen día/buen día/cuídese",
    "de": "tschüss/tschüs/auf wiedersehen/auf wiederhören/ciao/bis dann/bis später/bis bald/"
    "schönen tag/schönen tag noch/einen schönen tag/gute nacht/ade",
    "fr": "au revoir/à bientôt/à plus tard/à plus/bonne journée/bonne soirée/bonne nuit/adieu/"
    "à demain/ciao",
    "hi": "अलविदा/फिर मिलेंगे/बाय/बाय बाय/शुभ रात्रि/शुभ रात/आपका दिन शुभ हो/चलता हूँ/चलती हूँ/टाटा",
    "zh": "再见/拜拜/回头见/明天见/晚安/一会儿见/祝你愉快/祝您愉快/保重/先这样/挂了",
}

_FILLERS = {
    "en": "um/uh/er/ah/oh/well/so/then/and/but/sir/madam/maam",
    "ar": "يعني/و/ثم/أخي/أستاذ/يا",
    "es": "eh/pues/este/entonces/y/señor/señora/señorita",
    "de": "äh/ähm/also/na/und/dann/so",
    "fr": "euh/ben/alors/et/donc/monsieur/madame/bon",
    "hi": "तो/और/अरे/भाई/सर/मैडम",
    "zh": "呃/那/那么/就/吧/呀/哈/了/啦/呢",
}

_ANSWER_WORDS = {
    "en": "option/number/star/hash/pound/out of/press",
    "ar": "خيار/رقم/الخيار/الرقم",
    "es": "opción/número/la/el",
    "de": "option/nummer/die",
    "fr": "option/numéro/le/la",
    "hi": "विकल्प/नंबर",
    "zh": "选项/号/分/选",
}


def _phrases(*tables: dict[str, str]) -> frozenset[tuple[str, ...]]:
    listed = (entry for table in tables for line in table.values() for entry in line.split("/"))
    return frozenset(words(entry) for entry in listed)


@lru_cache(maxsize=1)
def courtesies() -> frozenset[tuple[str, ...]]:
    """Every phrase that asks for nothing, as folded words, of all languages together."""
    return _phrases(_GREETINGS, _ACKNOWLEDGEMENTS, _FAREWELLS, _FILLERS)


@lru_cache(maxsize=1)
def answer_words() -> frozenset[tuple[str, ...]]:
    """Words that stand around a number when a caller answers a menu or a rating question."""
    return _phrases(_ANSWER_WORDS)
