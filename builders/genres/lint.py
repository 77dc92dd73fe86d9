"""Words that may not stand in a scenario or in the description of an image of GENRES.

Scenarios "without gender" (section 3.2) and descriptions in which gender "should not be distinguishable" (Figure 9)
hold no gendered word and no role of one gender. Descriptions also omit the characters' roles (appendix B.2, step 1) and
clothes of one gender, so that the image does not say who is who.
"""

from __future__ import annotations

import re
import unicodedata


def words(text: str) -> list[str]:
    """The words of a text, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.findall(r"[a-z]+", plain.lower())


GENDERED = frozenset(
    words("""
    he him his himself she her hers herself mr mrs ms miss sir madam madame lord lady ladies gentleman gentlemen
    man men woman women boy boys girl girls guy guys bloke lad lass male female males females masculine feminine
    husband husbands wife wives boyfriend girlfriend fiance fiancee bride groom bachelor widow widower
    mother mothers father fathers mum mom mommy dad daddy mama papa son sons daughter daughters brother brothers
    sister sisters uncle uncles aunt aunts auntie nephew niece grandmother grandfather grandma grandpa granny
    grandson granddaughter godfather godmother stepmother stepfather brotherhood sisterhood fatherly motherly
    king queen prince princess duke duchess waiter waitress steward stewardess actress heroine hostess landlord
    landlady policeman policewoman fireman chairman chairwoman salesman saleswoman businessman businesswoman
    fisherman craftsman handyman spokesman spokeswoman workman foreman cameraman mankind manpower masseuse monk nun
    priestess goddess pregnant pregnancy motherhood fatherhood maternity paternity beard moustache
    """)
)
STEREOTYPED = frozenset(
    words("""
    nurse nurses secretary secretaries receptionist housewife housewives homemaker househusband housekeeper maid
    nanny babysitter midwife beautician hairdresser seamstress cheerleader ballerina librarian
    engineer engineers programmer programmers mechanic plumber electrician carpenter builder soldier soldiers
    firefighter quarterback lumberjack butcher trucker bouncer surgeon boss ceo cleaner cleaners gossip doctor
    """)
)
LOOKS = frozenset(
    words("""
    bearded mustache stubble shaven blouse blouses skirt skirts dress dresses sundress gown gowns tuxedo tuxedos
    tie ties necktie neckties bra heels lipstick mascara makeup earrings ponytail pigtails
    """)
)
"""Looks mostly of one gender; for descriptions of images."""
ROLES = frozenset(
    words("""
    student seller buyer gamer photographer photography organizer colleague driver passenger provider guest host
    consultant client teacher therapist illustrator editor instructor customer lawyer researcher renting owner gardener
    monitor classmate captain teammate leader member director actor founder assistant manager employee principal
    coordinator officer chief journalist head attendee professor physician representative supervisor
    """)
)
"""Words that tell the two characters of an asymmetric relationship apart (Tables 7 and 8)."""
_PERSON = re.compile(r"(wo)?m[ae]n$")
_NO_PERSON = frozenset(words("human inhuman german roman ottoman omen specimen abdomen regimen acumen stamen"))


def gendered(text: str) -> set[str]:
    """The words of a text that tell a gender or name a role tied to one."""
    vocabulary = set(words(text))
    return (vocabulary & (GENDERED | STEREOTYPED)) | {w for w in vocabulary - _NO_PERSON if _PERSON.search(w)}


def roles(description: str) -> set[str]:
    """The role words of an asymmetric relationship ("one is the ... and the other is the ..."), else none."""
    if not description.startswith("one is the "):
        return set()
    roles = set(words(description)) & ROLES
    return roles | {f"{word}s" for word in roles}


def telling(text: str, description: str) -> set[str]:
    """The words of an image's `text`, for a relationship's description, that tell who is who."""
    return gendered(text) | (set(words(text)) & (LOOKS | roles(description)))
