"""The maintainers' signature on a `verified` event: a log that was edited by hand does not make a row verified.

The key follows from FAIRSPACE_SECRET and is used for nothing else. Events from before there were signatures have none;
pages say so, and `fairspace store` counts them.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from fairspace.submissions.reading.canonical import canonical_json

SIGNATURE = "signature"
_PURPOSE = b"fairspace: verified events"


def signing_key(secret: str) -> bytes:
    """The key that a secret gives; empty for no secret, with which nothing is signed or checked."""
    return hmac.digest(secret.encode(), _PURPOSE, "sha256") if secret else b""


def signed(body: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """The body of an event with its signature; as it is without a key."""
    return {**body, SIGNATURE: _signature(body, key)} if key else dict(body)


def is_forged(body: Mapping[str, Any], key: bytes) -> bool:
    """Whether a body has a signature that the key does not give; without a key nobody can say."""
    return bool(key) and SIGNATURE in body and not hmac.compare_digest(str(body[SIGNATURE]), _signature(body, key))


def _signature(body: Mapping[str, Any], key: bytes) -> str:
    bare = {name: part for name, part in body.items() if name != SIGNATURE}
    return hmac.digest(key, canonical_json(bare), "sha256").hex()
