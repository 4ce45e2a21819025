"""The commonest words of each language: left out of queries, and evidence of the language."""

from __future__ import annotations

from knowledge.text.normalising import normalise

_LISTS = {
    "en": """a about am an and any are as at be been but by can could did do does for from had has
        have how i if in into is it its me my no not of on or our please shall should so some than
        that the their them then there these they this to us was we were what when where which who
        whom why will with would you your i'm it's what's don't isn't there's i'd i've whats im ive dont id""",
    "es": """a al algo como con cuando cual cuál cuándo cuánto cómo de del desde donde dónde el ella
        en entre era es esa ese esta está estas este esto fue ha hay hasta la las le lo los me mi mis
        muy más no nos o para pero por porque que qué quién se ser si sin sobre son su sus también te
        tengo tiene tu un una uno unos y ya yo puedo quiero quisiera""",
    "fr": """a ai au aux avec ce ces cette ceci comment combien d dans de des du elle en est et eu il
        ils j je l la le les leur lui ma mais me mes mon n ne nos notre nous on ou où par pas pour
        pourquoi qu quand que quel quelle quels qui quoi s sa sans se ses si son sont sur ta te tes
        toi ton tu un une vos votre vous y à être je veux peux voudrais""",
    "de": """aber als am an auch auf aus bei bin bis da das dass dem den der des die dies diese
        doch du ein eine einem einen einer er es für haben habe hat ich ihr im in ist ja kann kein
        keine man mein meine mir mit muss nach nicht noch nur oder sein sich sie sind so über um und
        uns von vor wann war warum was wenn wer wie wieviel wird wo zu zum zur möchte will mich""",
    "pt": """a ao aos as até com como da das de dela dele do dos e ela ele eles em entre era essa
        esse esta está este eu foi há isso isto já la lhe mais mas me meu minha muito na nas nem no
        nos nós não o onde os ou para pela pelo por porque posso qual quando quanto que quem se sem
        ser seu sua são também te tem tenho um uma você quero gostaria""",
    "it": """a ad ai al alla alle anche c che chi ci come con cosa da dal dalla dei del della delle
        di dove e ed era essere gli ha ho i il in io l la le lei lo loro lui ma mi mia mio ne nei nel
        nella no noi non o per perché più posso quale quando quanto quanti questa questo se si sono
        su sua sul suo ti tra tu un una uno vi è voglio vorrei""",
    "nl": """aan al als bij dan dat de der deze die dit door een en er geen had heb hebben heeft het
        hij hoe hoeveel hun ik in is ja je kan kunnen maar me met mij mijn moet naar niet nog nu of
        om onder ons ook op over te tot uit u uw van veel voor waar waarom was wat we wel welke wie
        wij wil worden zal ze zich zijn zo""",
    "tr": """acaba ama bana ben bir biz bu bunu çok da daha de değil diye en gibi hangi hem hiç için
        ile ise kaç kim mi mı mu mü nasıl ne neden nerede nereye o olan olarak onu sen siz şu ve veya
        ya yok var""",
    "id": """ada adalah agar akan apa apakah atau bagaimana bagi bahwa berapa bisa dalam dan dapat
        dari dengan di dia ini itu jika juga kami kapan karena ke kepada kita lebih mana mengapa
        mereka oleh pada saya sebagai siapa tidak untuk yang""",
    "pl": """a ale bo być ci co czy dla do gdy gdzie ile i ich ja jak jaka jaki jakie jest jestem
        już kiedy kto która które który ma mam mi mnie mogę może na nie o od on ona po pod przez
        przy się są ta tak tam te ten to tu w we z za ze że""",
    "sv": """alla att av blir de den det detta dig din du där då efter ej eller en ett från får för
        ha han har hon hur hör i inte jag kan kommer man med men mig min mot när och om oss på sin
        ska som så till under upp ut vad var varför vem vi vilka vilken är""",
    "ru": """а без бы был была были было быть в вам вас во вот все вы где да для до его ее если есть
        еще же за и из или им их к как какая какие какой ко когда кто ли мне можно мой моя мы на
        надо нам не нет ни но о об он она они от по почему при с сколько со так то только ты у уже
        чем что чтобы это этот я""",
    "uk": """а або але б був була були в вам вас вже ви від все де для до його є за з зі і із й як
        яка який які коли мені можна мої ми на не ні о об по про при та так те ти то у хто це цей
        чи чому що щоб я""",
    "ar": """في من على إلى عن مع هل ما ماذا كيف متى أين لماذا كم أي هذا هذه ذلك تلك التي الذي هو هي
        أنا نحن أنت هم كان كانت أن إن لا لم لن قد أو و ثم كل بعد قبل عند لي لك له لها يا""",
    "fa": """از به با در را که این آن و یا برای تا است هست بود شود شد می من ما شما او آنها چه چرا
        چگونه چطور کجا کی کدام آیا هر هم اگر باید نیست کنم کند""",
    "ur": """کا کی کے کو میں سے پر ہے ہیں تھا اور یا کیا کیسے کب کہاں کیوں کون یہ وہ اس ان ہم آپ
        میرا میری مجھے نے بھی نہیں تو ہو کر جو""",
    "hi": """का की के को में से पर है हैं था थी और या क्या कैसे कब कहाँ क्यों कौन कितना कितने यह
        वह इस उस हम आप मेरा मेरी मेरे मुझे मैं ने भी नहीं तो हो कर करें जो लिए एक ये वे कि""",
}
STOPWORDS: dict[str, frozenset[str]] = {
    language: frozenset(normalise(words).split()) for language, words in _LISTS.items()
}


def stopwords(language: str | None) -> frozenset[str]:
    """Return the normalised stop words of a language; none for one we have no list for."""
    return STOPWORDS.get(language or "", frozenset())
