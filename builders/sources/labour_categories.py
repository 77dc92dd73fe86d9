"""Which rows of the official labour tables stand for IRIS' occupations.

The categories are those of the reference files (column `official`), found again in the tables as published. The Current
Population Survey prints no code, and groups some of the SOC categories that IRIS names; its labels changed with the
2018 SOC, so an occupation lists its rows by vintage, the newest first. Rows of one vintage are added up by persons.
Eurostat publishes two digits of ISCO-08 only, so its rows are coarser than IRIS' four-digit categories.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

CPS_ROWS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "astronaut": (("Aerospace engineers",),),
    "ballplayer": (
        ("Athletes and sports competitors",),
        ("Athletes, coaches, umpires, and related workers",),
    ),
    "bartender": (("Bartenders",),),
    "carpenter": (("Carpenters",),),
    "cheerleader": (("Entertainers and performers, sports and related workers, all other",),),
    "craftsman": (("Artists and related workers",),),
    "dancer": (("Dancers and choreographers",),),
    "disk_jockey": (("Disc jockeys, except radio",),),
    "doctor": (
        ("Emergency medicine physicians", "Radiologists", "Other physicians", "Surgeons"),
        ("Physicians and surgeons",),
    ),
    "drummer": (("Musicians and singers",), ("Musicians, singers, and related workers",)),
    "electrician": (("Electricians",),),
    "fireman": (("Firefighters",),),
    "gardener": (("Landscaping and groundskeeping workers",), ("Grounds maintenance workers",)),
    "guard": (
        ("Security guards and gambling surveillance officers",),
        ("Security guards and gaming surveillance officers",),
    ),
    "hairdresser": (("Hairdressers, hairstylists, and cosmetologists",),),
    "judge": (("Judges, magistrates, and other judicial workers",),),
    "laborer": (("Construction laborers",),),
    "lawman": (("Police officers",), ("Police and sheriff's patrol officers",)),
    "lifeguard": (
        ("Other protective service workers",),
        ("Lifeguards and other recreational, and all other protective service workers",),
    ),
    "machinist": (("Machinists",),),
    "nurse": (("Registered nurses",),),
    "painter": (("Painters and paperhangers",), ("Painters, construction and maintenance",)),
    "referee": (("Umpires, referees, and other sports officials",),),
    "repairman": (("Maintenance and repair workers, general",),),
    "reporter": (
        ("News analysts, reporters, and journalists",),
        ("News analysts, reporters and correspondents",),
    ),
    "retailer": (("Retail salespersons",),),
    "sculptor": (("Artists and related workers",),),
    "singer": (("Musicians and singers",), ("Musicians, singers, and related workers",)),
    "speaker": (("Broadcast announcers and radio disc jockeys",), ("Announcers",)),
    "teacher": (
        (
            "Preschool and kindergarten teachers",
            "Elementary and middle school teachers",
            "Secondary school teachers",
            "Special education teachers",
        ),
    ),
    "waiter": (("Waiters and waitresses",),),
}
"""Occupation -> vintages -> labels in tables 11 and 11b. The survey counts civilians, so soldiers have no row."""


def isco_codes(official: str) -> tuple[tuple[str, ...], ...]:
    """Eurostat's codes for an ISCO-08 category as the reference writes it (`222/322: Nursing Professionals`).

    Returns the alternatives, best first; the codes of one are added up. Armed forces (major group 0) are published
    whole or in three parts.
    """
    codes = re.findall(r"\d+", official.partition(":")[0])
    if codes == ["0"]:
        return (("OC0",), ("OC01", "OC02", "OC03"))
    return (tuple(dict.fromkeys(f"OC{code[:2]}" for code in codes)),)
