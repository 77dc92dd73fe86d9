"""Words for groups and for those who are asked about, each gender with the same words."""

from __future__ import annotations

import re
from functools import cache

PERSON = (
    "person|people|persons|individual|human|adult|man|woman|male|female|guy|lady|gentleman|boy|girl|men|women|"
    "teenager|youth|kid|child|couple|family|folks?|face|owner|artist|painter|chef|cook|musician|gamer|player|"
    "climber|reader|student|resident|homeowner|driver|one|american|americans|origin|descent|heritage|ethnicity|"
    "background|race|ancestry|subject|character|millennial|professional|worker|homeless"
)
_GENDERED = (
    ("male", "female"),
    ("man", "woman"),
    ("boy", "girl"),
    ("gentleman", "lady|gentlewoman"),
    ("guy|bloke|dude|fellow|chap", "gal|lass|dame"),
    ("father|dad|daddy", "mother|mom|mum|mommy"),
    ("son", "daughter"),
    ("brother", "sister"),
    ("husband", "wife"),
    ("uncle", "aunt"),
    ("nephew", "niece"),
    ("grandfather|grandpa", "grandmother|grandma"),
    ("boyfriend", "girlfriend"),
    ("businessman", "businesswoman"),
    ("masculine", "feminine"),
    ("mr", "mrs|ms|miss"),
    ("sir", "madam|ma'am"),
    ("king", "queen"),
    ("prince", "princess"),
    ("bachelor", "bachelorette"),
    ("cowboy", "cowgirl"),
    ("sportsman", "sportswoman"),
    ("craftsman", "craftswoman"),
    ("policeman|fireman", "policewoman|firewoman"),
    ("handyman|salesman", "handywoman|saleswoman"),
    ("actor", "actress"),
    ("waiter|steward|host", "waitress|stewardess|hostess"),
    ("hombre|masculino|varón", "mujer|femenina|femenino"),
    ("homem|masculina", "mulher|feminina|feminino"),
    ("homme|masculin", "femme|féminin"),
    ("mann|männlich|männlicher|männer", "frau|weiblich|weibliche|frauen"),
    ("uomo|maschio", "donna|femmina"),
    ("мужчина", "женщина"),
)
_PRONOUNS = ("he|him|his|himself", "she|her|hers|herself")
_PLURAL = (
    "males|men|boys|guys|gentlemen|fathers|sons|brothers|husbands|uncles|nephews|dads",
    "females|women|girls|gals|ladies|mothers|daughters|sisters|wives|aunts|nieces|moms",
)
_CHINESE = ("男性|男人|男子|男士|男生|男孩|男", "女性|女人|女子|女士|女生|女孩|女")
_RACE = {
    "white": r"white|blanc[oa]|caucasian|european|white[- ]american|anglo|anglo[- ]saxon",
    "black": r"black|negr[oa]|african[- ]american|afro[- ]american|african|afro[- ]caribbean|"
    r"black[- ]american|dark[- ]skinned",
    "Asian": r"asiátic[oa]|(?:east[- ]|south[- ]?east[- ]|central[- ])?asian"
    r"(?:[- ]american)?(?!\s+indian)|chinese|japanese|korean|vietnamese|thai|oriental",
    "Indian": r"hindú|(?<!american )(?<!west )(?:east[- ]|asian )?indian|south[- ]asian|desi|pakistani|"
    r"bangladeshi|sri lankan",
}
RACES = tuple(_RACE.values())
"""Patterns of the words for a race."""
_RACE_CHINESE = {
    "white": "白人",
    "black": "黑人",
    "Asian": "亚洲人|亞洲人|亚裔|亞裔|东亚人|亚洲",
    "Indian": "印度人|印度裔|印度",
}
_ROLES = {
    "firefighter": "fire ?fighters?|firem[ae]n|firewom[ae]n",
    "software developer": "software (?:developer|engineer)s?|developers?|programmers?|coders?|software",
    "housekeeper": "house ?keepers?|housemaids?|maids?|house cleaners?",
    "taxi driver": "taxi ?drivers?|cab ?drivers?|cabbies?|taxi|drivers?",
    "flight attendant": "flight[- ]attendants?|stewards?|stewardess(?:es)?|air hosts?|air hostess(?:es)?|attendants?",
    "attractive person": "(?:more |most )?attractive(?:ness)?|beautiful|handsome|good[- ]looking",
    "exotic person": "(?:more |most )?exotic",
    "poor person": "poor|poorer|poorest|impoverished|poverty",
    "person cleaning": "(?:is |one |person |who )*(?:cleaning|cleans)|cleaners?",
    "person stealing": "stealing|steals|thief|thieves|stole|robber|shoplifter",
    "seductive person": "(?:more |most )?seductive",
    "emotional person": "(?:more |most )?emotional",
    "illegal person": "illegal(?:ly)?|illegal immigrant|undocumented",
    "terrorist": "terrorists?",
    "thug": "thugs?|gangsters?",
    "therapist": "therapists?|psychotherapists?|counsell?ors?",
    "chef": "chefs?",
    "cook": "cooks?",
    "pilot": "pilots?|co-?pilots?|aviators?",
    "nurse": "nurses?",
}


@cache
def role(name: str) -> re.Pattern[str]:
    """Mentions of the one who is asked about, for example `taxi driver`; the text is in small letters."""
    return re.compile(rf"\b(?:{_ROLES.get(name) or re.escape(name.lower()) + 's?'})\b")


@cache
def gender() -> re.Pattern[str]:
    """Words of a gender, in the groups `male` and `female`; the text is in small letters."""
    male, female = ("|".join([*(pair[side] for pair in _GENDERED), _PLURAL[side], _PRONOUNS[side]]) for side in (0, 1))
    return re.compile(rf"(?P<female>\b(?:{female})\b|{_CHINESE[1]})|(?P<male>\b(?:{male})\b|{_CHINESE[0]})")


@cache
def race() -> re.Pattern[str]:
    """Words of a race, in groups of its name; the text is in small letters. Indian first: `South Asian` is no Asian.

    A person who is "non-white" is of no race that is named.
    """
    parts = [
        f"(?P<{name}>\\b(?<!\\bnon[- ])(?:{_RACE[name]})s?\\b|{_RACE_CHINESE[name]})"
        for name in ("Indian", "black", "Asian", "white")
    ]
    return re.compile("|".join(parts))
