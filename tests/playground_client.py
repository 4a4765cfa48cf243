"""A client for tests of the playground: real requests to the application, without a network."""

from __future__ import annotations

import asyncio

import httpx

from taskalgebra.apps.playground.app import create_app

LOCAL = "http://127.0.0.1:8765"


class Client:
    """Asks one application, as a browser on this machine would."""

    def __init__(self):
        self.app = create_app()

    def request(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=LOCAL) as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, document, **options):
        return self.request("POST", path, json=document, **options)

    def solve(self, world, expression, *, slices=False):
        """The answer to a solve request, which must succeed."""
        asked = {"world": world, "expression": expression, "slices": slices}
        response = self.post("/api/solve", asked)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path, document):
        """Status and error of a request that must be refused."""
        response = self.post(path, document)
        assert 400 <= response.status_code < 500, response.text
        return response.status_code, response.json()["error"]


def drawn(*rows, goals, tasks=(), **rewards):
    """A world document: goals and tasks as {name: cell} and {name: goals}."""
    return {
        "map": list(rows),
        "goals": [{"name": name, "cell": list(cell)} for name, cell in goals.items()],
        "tasks": [{"name": name, "goals": list(wanted)} for name, wanted in dict(tasks).items()],
        **rewards,
    }


CORRIDOR = drawn(
    "#######",
    "#.....#",
    "###.###",
    "#.....#",
    "#######",
    goals={"A": (1, 1), "B": (1, 5), "C": (3, 1), "D": (3, 5)},
    tasks={"top": "AB", "left": "AC"},
)
