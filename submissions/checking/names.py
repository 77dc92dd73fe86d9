"""Checks for names that imitate others: mixed scripts, invisible marks, look-alikes.

Two names look alike if their skeletons are equal: NFKC, letters of other scripts as the Latin look-alikes (Unicode's
confusables, UTS 39), accents dropped, lower case, letters and digits alone; 0 is o, and 1 and i are l.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import groupby

from fairspace.builders.registry import table
from fairspace.submissions.format.faults import CODES, Collector, Fault, show
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.reading.tables import META

FIELDS = ("model", "organisation")
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories of invisible characters and of those that turn their neighbours."""
_JOINERS = "\u200c\u200d"
_BLANK = set("\u115f\u1160\u2800\u3164\uffa0")
_WORD = re.compile(r"[^\W_]+")
_ALIKE = str.maketrans("01i", "oll")
_FORMS = frozenset(
    (
        *("ag", "ai", "bv", "co", "company", "corp", "corporation", "foundation", "gmbh", "inc", "incorporated"),
        *("labs", "limited", "llc", "llp", "ltd", "pbc", "plc", "sa", "sarl"),
    )
)
"""Optional words of an organisation's name."""
OURS, _BASELINE = "fairspace", "baseline"
"""Names of the maintainers' own rows: a part of any name, and the beginning of one."""
HUB = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,95})/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")


@lru_cache(1 << 14)
def skeleton(name: str) -> str:
    """The skeleton of a name; '' for one without letters and digits."""
    latin = name
    if not name.isascii():
        latin = "".join(_latin().get(mark) or _bare(mark) for mark in unicodedata.normalize("NFKC", name))
    return "".join(filter(str.isalnum, latin.casefold())).translate(_ALIKE)


def organisation_skeletons(name: str) -> set[str]:
    """Skeletons of the whole name and of the name without legal forms; "Open AI Inc." is "OpenAI"."""
    words = re.findall(r"[^\s,()]+", unicodedata.normalize("NFKC", name))
    kept = list(words)
    ways = {skeleton(name)}
    while len(kept) > 1 and kept[-1].casefold().replace(".", "") in _FORMS:
        kept.pop()
        ways.add(skeleton(" ".join(kept)))
    return ways - {""}


def check_names(meta: SubmissionMeta, faults: Collector) -> None:
    """Note names with invisible characters, or with a word of two scripts."""
    for field in FIELDS:
        if why := _unclear(getattr(meta, field)):
            faults.add(
                "LOOK_ALIKE_NAME", META, f"{field} {why}", expected="letters of one script in a word", kind=field
            )


def names_taken(meta: SubmissionMeta) -> list[Fault]:
    """Faults for names in `submission.json` that are reserved for their owners; a baseline's are ours."""
    return [] if meta.baseline is not None else taken_names(meta.model, meta.organisation)


def owner_of(model: str, accounts: Iterable[str]) -> str:
    """The account that owns a model named as a Hub repository, OWNER/NAME; '' for none."""
    owner = model.partition("/")[0]
    return owner if owner.casefold() in {account.casefold() for account in accounts} and HUB.fullmatch(model) else ""


def hub_address(model: str) -> str:
    """The address of the model card of a model named as a Hub repository, or of a printed model; '' for another."""
    name = next((row["hub"] for row in table("models") if row["model"] == model and row["hub"]), model)
    return f"https://huggingface.co/{name}" if HUB.fullmatch(name) else ""


def taken_names(model: str, organisation: str, accounts: Collection[str] = ()) -> list[Fault]:
    """A fault for each name of ours, of a printed model, or of its organisation, that the accounts may not use.

    `accounts` are the user and, confirmed by the Hub, the organisation behind the submission.
    """
    proved, by = {skeleton(account) for account in accounts}, owner_of(model, accounts)
    models, organisations = _printed()
    faults = []
    if OURS not in {account.casefold() for account in accounts}:
        for field, name in (("model", model), ("organisation", organisation)):
            if any(map(_is_ours, {by} if by and field == "model" else {name, name.rpartition("/")[2]})):
                expected = f"a name without {OURS} that does not begin with {_BASELINE}: such rows are ours"
                faults.append(Fault("NAME_TAKEN", f"{META}, {field}", show(name), expected, "choose another name"))
    printed = models.get(skeleton(model)) or models.get(skeleton(model.rpartition("/")[2]))
    if printed is not None and not by and not proved & set(map(skeleton, printed[1])):
        expected = f"another name than that of a printed model, {printed[0]}"
        mend = "add the version or the date that was run, or hand it in for the organisation that owns the model"
        faults.append(Fault("NAME_TAKEN", f"{META}, model", show(model), expected, mend))
    owner = next((organisations[way] for way in organisation_skeletons(organisation) if way in organisations), None)
    if owner is not None and not proved & organisation_skeletons(organisation):
        expected = f"an organisation that you belong to on the Hub; {owner} made a printed model"
        mend = "name who hands the answers in; whose model it is follows from `model`, written OWNER/NAME as on the Hub"
        faults.append(Fault("NAME_TAKEN", f"{META}, organisation", show(organisation), expected, mend))
    return faults


def look_alikes(model: str, others: Collection[str]) -> list[Fault]:
    """A fault if a model's name looks like another row's without being the same as any."""
    for other in () if model in others else others:
        if skeleton(model) and skeleton(model) == skeleton(other):
            expected = f"a name that is not taken for {show(other)}, which is on a board"
            return [Fault("LOOK_ALIKE_NAME", f"{META}, model", show(model), expected, CODES["LOOK_ALIKE_NAME"].mend)]
    return []


def _is_ours(name: str) -> bool:
    bare = skeleton(name)
    return skeleton(OURS) in bare or bare.startswith(skeleton(_BASELINE))


def _bare(mark: str) -> str:
    """A Latin letter without its accents; any other mark as it is."""
    first = unicodedata.normalize("NFKD", mark)[:1]
    return first if first.isascii() else mark


def _unclear(name: str) -> str:
    for place, mark in enumerate(name):
        if mark in _JOINERS and _are_joined(name[max(place - 1, 0) : place], name[place + 1 : place + 2]):
            continue
        if (
            unicodedata.category(mark) in _UNSEEN
            or mark in _BLANK
            or "VARIATION SELECTOR" in unicodedata.name(mark, "")
        ):
            return f"{show(name)} has a character that is not seen, U+{ord(mark):04X}"
    for word in _WORD.findall(unicodedata.normalize("NFKC", name)):
        of_latin = groupby(word, lambda mark: mark.isascii() or "LATIN" in unicodedata.name(mark, ""))
        runs = [[*run] for latin, run in of_latin if not latin]
        foreign = [run[0] for run in runs if all(mark in _latin() for mark in run)]  # any other letter tells the script
        if foreign and any(mark.isascii() and mark.isalpha() for mark in word):
            what = unicodedata.name(foreign[0], "a letter").lower()
            return f"{show(name)} has {what} (U+{ord(foreign[0]):04X}) among Latin letters"
    return ""


def _are_joined(*letters: str) -> bool:
    """Whether letters are of a script, such as Arabic or Devanagari, with joiners between them."""
    return all(
        mark and not mark.isascii() and unicodedata.category(mark)[0] in "LM" and "LATIN" not in unicodedata.name(mark)
        for mark in letters
    )


@lru_cache
def _latin() -> Mapping[str, str]:
    """Letter beyond ASCII -> its look-alike within."""
    from confusable_homoglyphs.confusables import confusables_data

    return {
        mark: min(alike)
        for mark, others in confusables_data.items()
        if len(mark) == 1 and not mark.isascii() and mark.isalpha()
        if (alike := [other["c"] for other in others if len(other["c"]) == 1 and re.match("[A-Za-z0-9]", other["c"])])
    }


@lru_cache
def _printed() -> tuple[dict[str, tuple[str, list[str]]], dict[str, str]]:
    """Skeleton -> printed model and its organisations; skeleton -> organisation."""
    rows = [(row["model"], row["organisation"]) for row in table("models")]
    models = {skeleton(model): (model, organisation.split(" and ")) for model, organisation in rows}
    owners = {part for _, organisation in rows for part in (organisation, *organisation.split(" and "))}
    return models, {way: part for part in owners for way in organisation_skeletons(part)}
