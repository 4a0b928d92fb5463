"""What all tests share: analyzers and checks that raise are not caught, the cache of the rules is per run."""

import os

import pytest

os.environ.setdefault("PORTAUDIT_RAISE", "1")


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "SOURCE_DATE_EPOCH", "PORTAUDIT_TARGET"):
        monkeypatch.delenv(name, raising=False)
