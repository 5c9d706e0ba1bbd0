"""The rules by which signs of injected instructions are found, read on text in lower case with single spaces.

Every repetition has a bound, so that the time grows with the length of the text. One of the words of `IN_…` is in all
that a rule can find, so that most texts need not be read by it.
"""

from __future__ import annotations

import re
from typing import Final

_NOT_NEGATED: Final = r"(?<!not\s)(?<!n't\s)(?<!n’t\s)(?<!never\s)(?<!not\sto\s)(?<!cannot\s)"
_WHO: Final = r"(?:the|your)\s(?:user|human|operator|owner|reviewer)s?"

# Earlier instructions are set aside. Both halves are needed: "ignore earlier answers" is advice.
_SET_ASIDE: Final = r"(?:ignore|disregard|forget|override|bypass|overrule|drop|skip)(?:\s(?:about|all))?"
_EARLIER: Final = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|initial|original|system|safety|your)"
)
_RULES: Final = (
    r"(?:instructions?|rules|prompts?|directions|directives|guidelines|guardrails|commands|orders|policies|programming)"
)
_GAP: Final = r"[\s,]{1,3}"
OVERRIDE: Final = re.compile(
    rf"""
    {_NOT_NEGATED}\b{_SET_ASIDE}{_GAP}
      (?:(?:all|any|every|each|both|of|the|these|those|my|our|other|and){_GAP}){{0,4}}
      (?:{_EARLIER}{_GAP}(?:(?:and|or|system|user|safety|given){_GAP}){{0,3}}){{1,3}}
      {_RULES}
    | {_NOT_NEGATED}\b(?:ignore|disregard|forget)\s(?:all|everything|anything)\s(?:of\s)?(?:that\s)?
      (?:you\s(?:were|have\sbeen|know)|(?:was|is|stands|comes|came|written|said)\s(?:above|before)|above|before\sthis)
    | \bignor(?:iere?n?|ez?|a|e|em)\s(?:sie\s|bitte\s)?(?:alle|toutes|todas|tutte)?\s?(?:die\s|les\s|las\s|as\s|le\s)?
      (?:vorherigen|vorigen|bisherigen|obigen|instructions|consignes|instrucciones|instruções|istruzioni)
      \s?(?:anweisungen|regeln|vorgaben|anteriores|previas|precedenti|précédentes|ci-dessus)
    | (?:忽略|无视|忽視|無視)(?:之前|以上|上述|先前|前面|所有)(?:的|所有|全部){{0,2}}(?:指令|指示|规则|規則|提示|说明)
    | игнорируй(?:те)?\s(?:все\s)?(?:предыдущие|прежние)\s(?:инструкции|указания|правила)
    | (?:以前|これまで|上記|前)の(?:すべての)?(?:指示|命令|ルール)を(?:無視|忘れ)
    """,
    re.VERBOSE,
)

IN_OVERRIDE: Final = (
    *("ignor", "disregard", "forget", "override", "bypass", "overrule", "drop", "skip"),
    *("忽略", "无视", "忽視", "無視", "忘れ", "игнорируй"),
)

# A message of somebody else is imitated: by the marks of chat templates, or by a heading and an order behind it.
_ORDER: Final = (
    r"(?:you|ignore|disregard|always|never|do\snot|don't|from\snow|new\s|the\suser|override|execute|run\s|reveal|send)"
)
_LINE_START: Final = r"^[\s>\#*_\[-]{0,8}"
ROLE: Final = re.compile(
    rf"""
    <\|\s?(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|system|user|assistant)\s?\|>
    | <</?sys>> | \[/?inst\] | <(?:start|end)_of_turn>
    | {_LINE_START}(?:system|developer|admin(?:istrator)?)
      (?:\s(?:prompt|message|instructions?|notice|override|note))?[*_]{{0,2}}\s?[:\]][*_\s]{{0,4}}{_ORDER}
    | {_LINE_START}(?:new|updated|revised|real|actual)\s(?:system\s)?(?:instructions?|prompt)
      \s?(?:for\s[\w ]{{1,30}})?[\]*_]{{0,2}}:
    | {_LINE_START}(?:assistant|ai|model)\s?:\s{{0,3}}(?:i\swill|sure|ok|yes|understood)\b
    """,
    re.VERBOSE | re.MULTILINE,
)

# The model is made somebody else, or asked for its prompt.
_BEHAVE: Final = r"(?:act|answer|be|behave|respond|reply|obey|follow|ignore|pretend|speak|do\s)"
_ITS_PROMPT: Final = r"""
    (?:your\s(?:(?:full|entire|hidden|secret|initial|original|complete|exact|own|system)\s){0,2}(?:prompt|instructions)
    |the\s(?:(?:full|entire|original|complete|exact)\s)?
      (?:system\sprompt|(?:hidden|secret|initial)\s(?:prompt|instructions)))
"""
PERSONA: Final = re.compile(
    rf"""
    \byou\sare\s(?:now|no\slonger)\s
      (?:an?\s|the\s|in\s|called\s|my\s|bound\s|dan\b|free\b|unrestricted|jailbroken|allowed)
    | \bfrom\snow\son,?\s(?:you\s(?:are|must|will|shall|should|have\sto)\s(?:only\s|always\s|never\s)?{_BEHAVE}
      |(?:obey|ignore|act\sas|pretend)\b)
    | {_NOT_NEGATED}\b(?:pretend|act\sas\sif)\s(?:that\s)?you\s(?:are|have\sno|were|can\sdo|do\snot)
    | \b(?:developer|god|jailbreak|dan|unrestricted|debug)\smode\s(?:is\s)?(?:now\s)?(?:enabled|activated|on\b)
    | {_NOT_NEGATED}\b(?:reveal|print|show|repeat|output|display|tell\sme|disclose|leak|recite)\s
      (?:me\s)?(?:all\s(?:of\s)?)?{_ITS_PROMPT}
    """,
    re.VERBOSE,
)

IN_PERSONA: Final = ("now", "longer", "pretend", "act", "mode", "prompt", "instructions")

# Something is kept from the user. "Never delete a file without telling the user" is the opposite: see `without`.
SECRECY: Final = re.compile(
    rf"""
    \b(?:do\snot|don't|don’t|never)\s
      (?:(?:tell|inform|alert|notify)\s{_WHO}(?:\s(?:about|of|that)\s(?:this|it|these|you|any\sof)|\s?(?:[.,;!\n]|$))
      |(?:mention|reveal|disclose|show)\s(?:this|that|it|any\sof\sthis)\sto\s{_WHO})
    | (?P<without>\bwithout\s(?:telling|informing|alerting|notifying|the\sknowledge\sof)\s{_WHO})
    | \b(?:keep|hide)\s(?:this|it)\s(?:(?:a\s)?secret\s|hidden\s)?from\s{_WHO}\b(?!['’])
    """,
    re.VERBOSE,
)
NEGATION: Final = re.compile(r"\b(?:not|never|nobody|cannot|avoid)\b|n['’]t\b")

# What is known is sent to an address. Some things are often sent to one in ordinary work: of these, only all at once.
_SEND: Final = (
    r"(?:send|post|upload|forward|leak|e-?mail|exfiltrate|transmit|submit|report|copy|deliver|ship|append|put)"
)
_OFTEN_SENT: Final = (
    r"(?:data|files?|documents?|contents?|details|keys?|tokens?|passwords?|credentials?|information|everything"
    r"|contacts?)"
)
_SELDOM_SENT: Final = (
    r"(?:messages?|conversations?|chats?|prompts?|memories|secrets?|cookies|answers?|(?:message|chat|browser)\shistory"
    r"|environment\svariables|env\svars|\.env|private\skeys?|system\sprompt|cheatsheet)"
)
_ALL_OF: Final = (
    r"(?:all|your|everything|whatever|(?:the\s)?(?:full|whole|entire|complete)"
    r"|(?:the\s)?(?:user|customer|owner)(?:'s|’s|s')?)\b"
)
_ADDRESS: Final = r"(?:https?://|ftp://|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.)"
_TO: Final = rf"\b[^.!?\n]{{0,40}}?\s(?:to|at|via|into|with)\s(?:[^\s]{{1,20}}\s){{0,3}}?{_ADDRESS}"
_TO_BE_FILLED_IN: Final = (
    r"[{<\[](?:all|your|the|user|conversation|secret|api|password|history|system|env|notes|memory|data)"
)
EXFILTRATION: Final = re.compile(
    rf"""
    {_NOT_NEGATED}\b{_SEND}\s(?:me\s|out\s)?
      (?:{_ALL_OF}[^.!?\n]{{0,60}}?(?<![^\W_])(?:{_OFTEN_SENT}|{_SELDOM_SENT}){_TO}
      | everything{_TO}
      | (?:every|each|any|the|its|their)\s(?:[\w-]{{1,20}}\s){{0,2}}?{_SELDOM_SENT}{_TO})
    | (?:contents?\sof|\.env|environment\svariables|secrets|api\skeys?|credentials|passwords)\b[^!?\n]{{0,60}}?
      \b{_SEND}\s(?:it|them|this|these|that)\s(?:to|at|via)\s{_ADDRESS}
    | !\[[^\]\n]{{0,80}}\]\(\s?https?://[^)\s]{{1,200}}[?&][^)\s=]{{1,40}}=[^)\s]{{0,40}}(?:[{{<\[$]|%7b|%24)
    | {_ADDRESS}[^\s]{{0,120}}[?&][^\s=]{{1,40}}=[^\s]{{0,20}}?{_TO_BE_FILLED_IN}
    """,
    re.VERBOSE,
)
IN_EXFILTRATION: Final = ("://", "www.", "@")
