"""Uploads of large files by git LFS, basic transfer: ask where to, send there."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import part, store_of, writable
from tests.hub.errors import RefusalError

_SECRET = secrets.token_bytes(16)


async def lfs_batch(request: Request) -> Response:
    """POST /{T/}id.git/info/lfs/objects/batch: where to send which object; stored ones need no sending."""
    repository, asked, store = writable(request), await request.json(), store_of(request)
    objects: list[dict[str, Any]] = []
    for wanted in asked["objects"]:
        answer = {"oid": wanted["oid"], "size": wanted["size"], "authenticated": True}
        if not re.fullmatch(r"[0-9a-f]{64}", wanted["oid"]):
            answer["error"] = {"code": 422, "message": "no sha256"}
        elif asked["operation"] == "upload" and not store.object(wanted["oid"]).is_file():
            href = f"{str(request.base_url).rstrip('/')}/objects/{wanted['oid']}/{wanted['size']}"
            answer["actions"] = {"upload": {"href": f"{href}?signature={_sign(wanted['oid'], wanted['size'])}"}}
        objects.append(answer)
    return JSONResponse({"transfer": "basic", "objects": objects, "repository": repository.id})


async def lfs_upload(request: Request) -> Response:
    """PUT of an object to the address that the batch answer gave; no token, the address is signed."""
    oid, size = part(request, "oid"), int(part(request, "size"))
    if not hmac.compare_digest(request.query_params.get("signature", ""), _sign(oid, size)):
        raise RefusalError(403, "The signature of the address is wrong")
    target = store_of(request).object(oid)
    unfinished, digest, received = target.with_name(f"{oid}.{secrets.token_hex(4)}"), hashlib.sha256(), 0
    try:
        with unfinished.open("wb") as stream:
            async for piece in request.stream():
                stream.write(piece)
                digest.update(piece)
                received += len(piece)
        if (digest.hexdigest(), received) != (oid, size):
            raise RefusalError(400, "The content does not have the announced sha256 and size")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return Response()


def _sign(oid: str, size: int) -> str:
    return hmac.new(_SECRET, f"{oid}/{size}".encode(), hashlib.sha256).hexdigest()


ROUTES = [
    Route("/objects/{oid}/{size}", lfs_upload, methods=["PUT"]),
    Route("/{kind}/{owner}/{name}.git/info/lfs/objects/batch", lfs_batch, methods=["POST"]),
    Route("/{owner}/{name}.git/info/lfs/objects/batch", lfs_batch, methods=["POST"]),
]
