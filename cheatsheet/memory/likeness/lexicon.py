"""Words that change what a sentence says, and words that do not: what `facts` and `sameness` read texts with.

English in full; of other languages, the negations. A word that is missing here can only keep two bullets apart that
could have been one, or leave a filler word where it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Scripts that put no spaces between words: each of their characters is read as a word.
NO_SPACES = (
    r"\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
IDEOGRAPHS = re.compile(r"[\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
# Vowel signs and accents that Python does not count as letters, though they are parts of words.
_MARKS = r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{NO_SPACES}]|[{_MARKS}])"
WORD = re.compile(rf"[{NO_SPACES}]|{_LETTER}+(?:'{_LETTER}+)*")

NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor without avoid cannot stop refrain unless except hardly "
    "barely rarely seldom dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt mustnt wouldnt hasnt "
    "havent hadnt forbidden prohibited lacks lacking "
    "nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais sans aucun aucune nunca sin jamás não nem "
    "sem non mai senza niet geen nooit zonder inte aldrig ikke aldri utan nie nigdy bez не нет никогда без ні немає "
    "değil yok لا لم لن بدون غير ليس नहीं मत न बिना לא אין אל בלי không đừng chưa tidak jangan tanpa bukan".split()
)
NEGATIONS_NO_SPACES = re.compile(
    "不|没|沒|別|别|勿|莫|无|無|非(?!常)|未|禁|避免|ない|なく|なけ|ません|ずに|않|없|말고|말라|마세요|못|안 |"
    "ไม่|อย่า|ห้าม|มิ|ບໍ່|មិន|កុំ"
)

# Phrases as they are read: those that say nothing are left out, those that compare become a sign.
_PHRASES = (
    (r"(?:do\s+not|don'?t|never)\s+(?:forget|neglect|fail)\s+to", " "),
    (r"(?:make|be)\s+sure\s+(?:that\s+you|that|to|you)?", " "),
    (r"(?:remember|note|keep\s+in\s+mind)\s+(?:that|to)", " "),
    (r"(?:it\s+is|it's)\s+(?:important|crucial|essential|necessary|best)\s+(?:that\s+you|that|to)", " "),
    (r"(?:need|needs|have|has)\s+to\b", " should "),
    (r"in\s+order\s+to", " to "),
    (r"prior\s+to", " before "),
    (r"as\s+well\s+as", " and "),
    (r"instead\s+of|rather\s+than|no\s+longer|as\s+opposed\s+to", " not "),
    (r"at\s+least|no\s+less\s+than|no\s+fewer\s+than|not\s+less\s+than", " ≥ "),
    (r"at\s+most|no\s+more\s+than|not\s+more\s+than|up\s+to|(?:not|never)\s+exceed(?:ing)?", " ≤ "),
    (r"(?:more|greater|larger|higher|longer|bigger)\s+than|exceeds?|exceeding", " > "),
    (r"(?:less|fewer|smaller|lower|shorter)\s+than", " < "),
    (r"(?:is\s+)?equal\s+to|equals", " = "),
    (r"multiplied\s+by|times(?=\s+\d)", " * "),
    (r"divided\s+by", " / "),
    (r"only\s+(?:if|when)", " only "),
)
_MEANINGS = {f"_{number}": meaning for number, (_, meaning) in enumerate(_PHRASES)}
_PHRASE = re.compile(
    r"\b(?:" + "|".join(f"(?P<_{number}>{pattern})" for number, (pattern, _) in enumerate(_PHRASES)) + r")(?!\w)",
    re.IGNORECASE,
)

# A lesson with a condition is another lesson than the same one without.
CONDITIONS = frozenset(
    "if when whenever unless until till while only except sometimes usually mostly often occasionally provided "
    "assuming but however although otherwise else wenn falls nur außer sofern si quand seulement cuando solo если "
    "только".split()
)
CONDITIONS_NO_SPACES = re.compile("如果|只|除非|若|当|當|もし|場合|だけ|なら|とき|만약|경우|만 |면 |ถ้า|เมื่อ|เฉพาะ")

# Words behind which the order of what is said counts.
ORDERING = frozenset(
    "before after than over into from to until by unless if when then between minus per versus".split()
)

_OPPOSITES = """
before after | first last | first second | second third | on off | on under | over under | above below | up down
left right | north south | east west | north east | north west | south east | south west | top bottom
front back | inside outside | in out | to from | by to | and or | for against | into from | with except
enable disable | enable block | increase decrease | increase reduce | raise lower | grow shrink
maximum minimum | max min | maximise minimise | maximize minimize | most least | more less | more fewer
include exclude | allow deny | allow forbid | allow block | permit forbid | accept reject | approve reject
always sometimes | start end | start stop | begin end | open close | open closed | true false | yes no
add remove | add subtract | multiply divide | sum difference | plus minus | upper lower | buy sell | even odd
positive negative | public private | internal external | input output | import export | encode decode
encrypt decrypt | compress decompress | push pull | push pop | read write | load store | lock unlock | show hide
send receive | ascending descending | horizontal vertical | row column | rows columns | prefix suffix
numerator denominator | source target | old new | early late | earlier later | long short | high low | hot cold
fast slow | strong weak | full empty | all any | all some | any some | all most | must may | must might
must can | must should | should may | may shall | required optional | mandatory optional | local remote
local global | parent child | client server | sync async | debit credit | asset liability | profit loss
gross net | male female | day night | morning evening | today tomorrow | yesterday today | daily weekly
weekly monthly | monthly yearly | daily monthly | hourly daily | quarterly annual | single multiple
singular plural | success failure | pass fail | 前 后 | 前 後 | 上 下 | 左 右 | 东 西 | 東 西 | 南 北 | 大 小
多 少 | 开 关 | 開 閉 | 増 減 | 增 减 | 高 低 | 长 短 | 真 假 | 先 后 | 先 後 | 内 外 | 新 旧 | 始 終 | 入 出
买 卖 | 買 売 | 전 후 | 북 남 | 동 서
"""
OPPOSITES: dict[str, frozenset[str]] = {}
for _left, _right in map(str.split, re.split(r"[|\n]", _OPPOSITES.strip())):
    OPPOSITES[_left] = OPPOSITES.get(_left, frozenset()) | {_right}
    OPPOSITES[_right] = OPPOSITES.get(_right, frozenset()) | {_left}
OPPOSITE_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "anti", "over", "under", "re", "pre")

_CONTRASTS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
    "red orange yellow green blue purple black white grey gray brown",
    "first second third fourth fifth sixth seventh eighth ninth tenth last",
    "small medium large",
    "breakfast lunch dinner",
    "spring summer autumn winter",
    "seconds minutes hours days weeks months years",
    "hourly daily weekly monthly quarterly yearly annually",
    "mean median mode",
    "integer float string boolean",
    "get post put patch delete",
)
CONTRASTS: dict[str, int] = {word: group for group, words in enumerate(_CONTRASTS) for word in words.split()}

# Words that carry no content of their own.
EMPTY = frozenset(
    "a an the this that these those it its is are was were be been being am do does did doing done to of in on at for "
    "with by from as and or so then than you your yours we our ours they their them he she his her i my me us there "
    "here which who whom whose what how also too very please just can could should would will shall may might must "
    "have has had having into onto about upon over if when whenever before after while until always every each all "
    "both either such own same any some only but however again ever well carefully properly explicitly simply really "
    "actually possible needed given let lets".split()
) | set(
    "的了要请請应應该該在把被将將和与與及是有就都也会會能可以用时時候等于對对對为為您你我他它们們一个個这這那地得着过過吗呢吧"
    "にをはがでとものへやかねよなたてだるれらりしすせさいうくっ를을은는이가에의도로와과다하고서지요세해야"
)

PASSIVE = frozenset("be is are was were been being".split())

_SYNONYMS = """
check verify ensure confirm verification recheck
use using used uses usage utilize utilise utilizing utilising employ
answer reply respond response
remove delete removal deletion removing deleting
create generate produce creation
choose select pick chosen selection choice
compute calculate computation calculation computing calculating
begin start commence beginning
show display
big large
quick fast rapid quickly rapidly
error mistake
method approach way technique
problem issue
result outcome
important crucial essential vital key
convert transform conversion
get obtain
need require needed requires required
fix repair
entire whole complete
wrong incorrect
right correct
step stage
careful cautious
final ultimate
run execute execution running
write writing written wrote
read reading
give giving gives given provide providing
"""
SYNONYMS: dict[str, str] = {word: line.split()[0] for line in _SYNONYMS.strip().splitlines() for word in line.split()}

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_VALUES = dict(zip(_ONES, range(20), strict=True)) | {word: 20 + 10 * at for at, word in enumerate(_TENS)}
_SPELLED = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))
SPELLED_NUMBER = re.compile(rf"\b(?:{_SPELLED})(?:(?:[\s-]+(?:and\s+)?)(?:{_SPELLED}))*\b", re.IGNORECASE)

_UNITS = """
% percent pct
s sec secs second seconds
ms millisecond milliseconds
min mins minute minutes
h hr hrs hour hours
d day days
wk week weeks
month months
yr yrs year years
kg kilogram kilograms
g gram grams
mg milligram milligrams
km kilometre kilometres kilometer kilometers
m metre metres meter meters
cm centimetre centimetres centimeter centimeters
mm millimetre millimetres millimeter millimeters
mi mile miles
ft foot feet
inch inches
lb lbs pound pounds
oz ounce ounces
l litre litres liter liters
ml millilitre millilitres milliliter milliliters
$ usd dollar dollars
€ eur euro euros
£ gbp
¥ jpy yen
¢ cent cents
KB kilobyte kilobytes
MB megabyte megabytes
GB gigabyte gigabytes
TB terabyte terabytes
°C celsius
°F fahrenheit
K kelvin
° deg degree degrees
x times
bps
Hz hertz
kHz
MHz
GHz
W watt watts
kW
MW
mW
kWh
V volt volts
A amp amps
k thousand
M million
bn billion
us µs microsecond microseconds
ns nanosecond nanoseconds
"""
UNITS: dict[str, str] = {word: line.split()[0] for line in _UNITS.strip().splitlines() for word in line.split()}

_VOWEL = re.compile("[aeiouy]")
_DOUBLED = re.compile(r"([bcdfghjklmnpqrstvwxz])\1$")


def without_phrases(text: str) -> str:
    """The text with its set phrases as they are meant: `make sure to` says nothing, `at least` is `≥`."""
    return _PHRASE.sub(lambda found: _MEANINGS[found.lastgroup or ""], text)


def spelled_value(text: str) -> int:
    """The number that words such as `twenty-five` or `three hundred and two` say."""
    total = current = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in _VALUES:
            current += _VALUES[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
    return total + current


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without endings that only inflect it; words of like meaning become one."""
    known = SYNONYMS.get(word)
    if known is not None:
        return known
    if not (word.isascii() and word.isalpha()) or len(word) < 4:
        return word
    bare = _uninflected(word)
    return SYNONYMS.get(bare) or SYNONYMS.get(bare + "e") or _DOUBLED.sub(r"\1", bare).rstrip("e") or bare


def _uninflected(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes")) else word[:-1]
        word = f"{word[:-2]}y" if word.endswith("ie") and len(word) > 4 else word
    if word.endswith("ied") and len(word) > 4:
        return f"{word[:-3]}y"
    for ending in ("ing", "ed"):
        if word.endswith(ending) and _VOWEL.search(word, 0, len(word) - len(ending)) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
