"""The wording of reports: one catalogue a language under templates/words/, the same keys in each."""

import json
from functools import cache
from typing import cast

from portaudit import resources

Catalogue = dict[str, str | dict[str, str]]


class Words:
    """The texts of one language. A text that depends on a number has the forms ``one`` and ``other``."""

    def __init__(self, language: str, catalogue: Catalogue) -> None:
        self.language = language
        self.catalogue = catalogue

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, its placeholders filled; ``n`` decides between singular and plural."""
        text = self.catalogue[key]
        if isinstance(text, dict):
            text = text["one" if values.get("n") == 1 else "other"]
        if not values:
            return text
        return text.format(**{k: number(v) if isinstance(v, int) else v for k, v in values.items()})

    def reason(self, reason: str) -> str:
        """Why a file was not read; a reason without text is shown as it is."""
        text = self.catalogue.get(f"reason.{reason}", reason)
        return text if isinstance(text, str) else reason


def number(value: int) -> str:
    """A count as people write it, in groups of three."""
    return f"{value:,}"


@cache
def words(language: str = "en") -> Words:
    """The catalogue of a language."""
    text = (resources.templates() / "words" / f"{language}.json").read_text(encoding="utf-8")
    return Words(language, cast(Catalogue, json.loads(text)))
