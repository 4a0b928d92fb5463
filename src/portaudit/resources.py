"""Where rules/ and templates/ lie: beside the package in a wheel, two folders up in a checkout."""

import os
from pathlib import Path


def root() -> Path:
    """The folder that holds ``rules/`` and ``templates/``; ``PORTAUDIT_DATA`` overrides it."""
    override = os.environ.get("PORTAUDIT_DATA")
    if override:
        return Path(override)
    here = Path(__file__).resolve().parent
    packed = here / "_data"
    return packed if packed.is_dir() else here.parents[1]


def rules() -> Path:
    """The folder of the knowledge base."""
    return root() / "rules"


def templates() -> Path:
    """The folder of the report templates."""
    return root() / "templates"
