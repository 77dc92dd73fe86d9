"""Pull requests: their list, and the branch that each has."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import readable
from tests.hub.storage import Repository, Store, now


def open_proposal(store: Store, repository: Repository, title: str, author: str) -> str:
    """Open a pull request from the head of the main branch; the name of its branch."""
    branch = f"refs/pr/{len(repository.proposals) + 1}"
    repository.branches[branch] = repository.branches["main"]
    repository.proposals[branch] = {"title": title, "author": author, "status": "open", "createdAt": now()}
    store.save(repository)
    return branch


async def discussions(request: Request) -> Response:
    """GET /api/T/id/discussions?type&status&author; all on one page."""
    asked, repository = request.query_params, readable(request)
    listed = [
        {
            "num": int(branch.rpartition("/")[2]),
            "author": {"name": about["author"]},
            "title": about["title"],
            "status": about["status"],
            "repo": {"name": repository.id, "type": repository.kind},
            "isPullRequest": True,
            "createdAt": about["createdAt"],
        }
        for branch, about in repository.proposals.items()
        if asked.get("author", about["author"]) == about["author"]
        and asked.get("status", about["status"]) == about["status"]
    ]
    return JSONResponse({"discussions": listed, "count": len(listed), "start": 0})


ROUTES = [Route("/api/{kind}/{owner}/{name}/discussions", discussions)]
