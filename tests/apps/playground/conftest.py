"""One application for all tests of the server: it keeps nothing of its clients."""

from __future__ import annotations

import pytest

from playground_client import Client


@pytest.fixture(scope="session")
def client():
    return Client()


@pytest.fixture(scope="session")
def presets(client):
    """Presets by their id."""
    return {preset["id"]: preset for preset in client.get("/api/presets").json()}
