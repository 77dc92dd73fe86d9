import base64
import fnmatch
import hashlib
import json
import re
import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import downloadable, known, part, readable, store_of, writable
from tests.hub.card_rules import check_card
from tests.hub.errors import RefusalError, not_found
from tests.hub.storage import ATTRIBUTES, Commit, File, Repository, Store, lfs_of


async def lfs_batch(request: Request) -> Response:
    """POST /{T/}id.git/info/lfs/objects/batch: upload addresses of objects that are not stored yet."""
    repository, asked, store = writable(request), await request.json(), store_of(request)
    objects: list[dict[str, Any]] = []
    for wanted in asked["objects"]:
        answer = {"oid": wanted["oid"], "size": wanted["size"], "authenticated": True}
        if not re.fullmatch(r"[0-9a-f]{64}", wanted["oid"]):
            answer["error"] = {"code": 422, "message": "no sha256"}
        elif asked["operation"] == "upload" and not store.object(wanted["oid"]).is_file():
            href = f"{str(request.base_url).rstrip('/')}/objects/{wanted['oid']}/{wanted['size']}"
            answer["actions"] = {"upload": {"href": href}}
        objects.append(answer)
    return JSONResponse({"transfer": "basic", "objects": objects, "repository": repository.id})


async def lfs_upload(request: Request) -> Response:
    """PUT of an object to the batch answer's address, without a token; on the Hub the address is signed."""
    oid, size = part(request, "oid"), int(part(request, "size"))
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


_LARGE = 10 * 2**20


async def tree(request: Request) -> Response:
    """GET /api/T/id/tree/R[/P]?recursive&expand, all on one page."""
    store, query = store_of(request), request.query_params
    commit = store.commit_of(readable(request), part(request, "revision"))
    folder = part(request, "path").strip("/") if "path" in request.path_params else ""
    below = [path for path in commit.files if not folder or path.startswith(f"{folder}/")]
    if folder and not below:
        raise not_found(f"Folder {folder}", "EntryNotFound")
    recursive = query.get("recursive", "false").lower() in ("true", "1")
    entries: dict[str, dict[str, Any]] = {}
    for path in below:
        inside = path[len(folder) + 1 if folder else 0 :].split("/")
        for depth in range(1, len(inside)):
            name = f"{folder}/{'/'.join(inside[:depth])}".strip("/")
            entries.setdefault(name, _folder(commit, name))
            if not recursive:
                break
        if recursive or len(inside) == 1:
            entries[path] = _entry(commit, path, commit.files[path], "expand" in query)
    return JSONResponse(list(entries.values()))


async def paths_info(request: Request) -> Response:
    """POST /api/T/id/paths-info/R; missing paths are left out."""
    commit = store_of(request).commit_of(readable(request), part(request, "revision"))
    form = await request.form()
    entries = []
    for path in map(str, form.getlist("paths")):
        name = path.strip("/")
        if name in commit.files:
            entries.append(_entry(commit, name, commit.files[name], str(form.get("expand")).lower() == "true"))
        elif any(other.startswith(f"{name}/") for other in commit.files):
            entries.append(_folder(commit, name))
    return JSONResponse(entries)


def _entry(commit: Commit, path: str, file: File, expand: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "oid": file.oid, "size": file.size, "path": path}
    if about := lfs_of(file):
        entry["lfs"] = about
    if expand:
        entry["lastCommit"] = {"id": commit.id, "title": commit.title, "date": commit.date}
    return entry


def _folder(commit: Commit, path: str) -> dict[str, Any]:
    inside = sorted((p, f.oid) for p, f in commit.files.items() if p.startswith(f"{path}/"))
    oid = hashlib.sha1(json.dumps(inside).encode(), usedforsecurity=False).hexdigest()
    return {"type": "directory", "oid": oid, "size": 0, "path": path}


async def commits(request: Request) -> Response:
    """GET /api/T/id/commits/R, the newest first."""
    store = store_of(request)
    head = store.commit_of(readable(request), part(request, "revision"))
    listed = [
        {"id": c.id, "title": c.title, "message": c.message, "authors": [{"user": c.author}], "date": c.date}
        for c in store.history(head.id)
    ]
    return JSONResponse(listed)


async def preupload(request: Request) -> Response:
    """POST /api/T/id/preupload/R: files for LFS."""
    repository, store, asked = writable(request), store_of(request), await request.json()
    commit = store.commit_of(repository, part(request, "revision"))
    patterns, answers = store.lfs_patterns(commit), []
    for file in asked["files"]:
        path, known_file = file["path"], commit.files.get(file["path"])
        binary = b"\0" in base64.b64decode(file["sample"])
        lfs = _matches(path, patterns) or file["size"] > _LARGE or binary
        answers.append(
            {
                "path": path,
                "uploadMode": "lfs" if lfs else "regular",
                "shouldIgnore": False,
                "oid": (known_file.sha256 or known_file.oid) if known_file else None,
            }
        )
    return JSONResponse({"files": answers})


async def commit(request: Request) -> Response:
    """POST /api/T/id/commit/R: JSON lines, a header and the changes."""
    repository, store, user = writable(request), store_of(request), known(request)
    lines = [json.loads(line) for line in (await request.body()).splitlines() if line.strip()]
    header = next((line["value"] for line in lines if line["key"] == "header"), None)
    if header is None or not header.get("summary"):
        raise RefusalError(400, "A commit needs a header with a summary")
    repository = writable(request)  # again: others may have written while the body arrived
    branch = part(request, "revision")
    changed = _changes(store, repository, branch, lines)
    done = store.commit(
        repository,
        branch,
        header.get("parentCommit"),
        header["summary"],
        header.get("description", ""),
        user.name,
        changed,
    )
    kind = "" if repository.kind == "model" else f"{repository.kind}s/"
    url = f"{str(request.base_url).rstrip('/')}/{kind}{repository.id}/commit/{done.id}"
    answer = {"success": True, "commitOid": done.id, "commitUrl": url, "hookOutput": ""}
    return JSONResponse(answer)


def _changes(store: Store, repository: Repository, branch: str, lines: list[dict[str, Any]]) -> dict[str, File | None]:
    """Path -> new content. An LFS file without a pattern adds a line to `.gitattributes`."""
    head = store.commit_of(repository, branch)
    changed: dict[str, File | None] = {}
    uncovered = []
    for line in lines:
        value = line["value"]
        if line["key"] == "header":
            continue
        path = _safe(value["path"])
        if line["key"] == "file":
            content = base64.b64decode(value["content"], validate=True)
            if path == "README.md":
                errors, _ = check_card(content.decode(), repository.kind)
                if errors:
                    raise RefusalError(400, "Invalid metadata in README.md: " + "; ".join(errors))
            changed[path] = store.add_blob(content)
        elif line["key"] == "lfsFile":
            changed[path] = store.pointer(value["oid"], value["size"])
            if not _matches(path, store.lfs_patterns(head)):
                uncovered.append(f"{path} filter=lfs diff=lfs merge=lfs -text\n")
        elif line["key"] == "deletedFile":
            changed[path] = None
        elif line["key"] == "deletedFolder":
            changed |= {name: None for name in head.files if name.startswith(f"{path.rstrip('/')}/")}
        else:
            raise RefusalError(400, f"unknown operation {line['key']!r}")
    if uncovered and ATTRIBUTES not in changed:
        before = head.files.get(ATTRIBUTES)
        text = store.content(before).read_text(encoding="utf-8") if before else ""
        changed[ATTRIBUTES] = store.add_blob((text + "".join(sorted(uncovered))).encode())
    return changed


def _safe(path: str) -> str:
    if path.startswith("/") or any(step in ("", ".", "..", ".git") for step in path.rstrip("/").split("/")):
        raise RefusalError(400, f"{path!r} is no valid path")
    return path


def _matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(path, p) or fnmatch.fnmatch(path.rsplit("/", 1)[-1], p) for p in patterns)


async def resolve(request: Request) -> Response:
    """HEAD and GET of a file, whole or a Range of it."""
    repository, store = downloadable(request), store_of(request)
    found = store.commit_of(repository, part(request, "revision"))
    path = part(request, "path")
    file = found.files.get(path)
    if file is None:
        missing = not_found(f"Entry {path}", "EntryNotFound")
        missing.headers["X-Repo-Commit"] = found.id
        raise missing
    headers = {"X-Repo-Commit": found.id, "ETag": f'"{file.sha256 or file.oid}"', "Accept-Ranges": "bytes"}
    if file.sha256:
        headers |= {"X-Linked-Etag": headers["ETag"], "X-Linked-Size": str(file.size)}
    return FileResponse(store.content(file), headers=headers, media_type="application/octet-stream")


_REPOSITORY = "/api/{kind}/{owner}/{name}"
ROUTES = [
    Route(f"{_REPOSITORY}/tree/{{revision}}", tree),
    Route(f"{_REPOSITORY}/tree/{{revision}}/{{path:path}}", tree),
    Route(f"{_REPOSITORY}/paths-info/{{revision}}", paths_info, methods=["POST"]),
    Route(f"{_REPOSITORY}/commits/{{revision}}", commits),
    Route(f"{_REPOSITORY}/preupload/{{revision}}", preupload, methods=["POST"]),
    Route(f"{_REPOSITORY}/commit/{{revision}}", commit, methods=["POST"]),
    Route("/{kind}/{owner}/{name}/resolve/{revision}/{path:path}", resolve),
    Route("/{owner}/{name}/resolve/{revision}/{path:path}", resolve),
    Route("/objects/{oid}/{size}", lfs_upload, methods=["PUT"]),
    Route("/{kind}/{owner}/{name}.git/info/lfs/objects/batch", lfs_batch, methods=["POST"]),
    Route("/{owner}/{name}.git/info/lfs/objects/batch", lfs_batch, methods=["POST"]),
]
