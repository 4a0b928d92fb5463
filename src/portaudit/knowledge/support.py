"""Versions and targets: does a fact hold for this ROCm release, and what does the user mean by a target."""

import re
from collections.abc import Mapping
from typing import Protocol

from portaudit.errors import UsageError
from portaudit.model.facts import Gfx, Target

_RELEASE = re.compile(r"\d+(?:\.\d+){0,2}$")
_DEFAULT_GFX = "gfx942"


class Known(Protocol):
    """The part of the knowledge that targets are checked against."""

    @property
    def gfx(self) -> Mapping[str, Gfx]:
        """Architectures by name."""
        ...

    @property
    def products(self) -> Mapping[str, str]:
        """Architecture names by short product name, e.g. ``mi300x``."""
        ...

    @property
    def releases(self) -> tuple[str, ...]:
        """ROCm releases, ascending."""
        ...


def numbers(version: str) -> tuple[int, ...]:
    """``7.2.1`` or ``<=7.2.1`` as numbers, empty when the text is no version."""
    bare = version.removeprefix("<=")
    return tuple(int(n) for n in bare.split(".")) if _RELEASE.match(bare) else ()


def is_bound(version: str) -> bool:
    """Whether a version is only known as an upper bound: it may have been there before."""
    return version.startswith("<=")


def since_ok(version: str, target: Target) -> bool:
    """Whether something that exists since ``version`` exists at the target; empty means always.

    A target of two numbers means the newest release of that series: 7.0 has what came with 7.0.2.
    """
    return numbers(version)[: len(target.rocm)] <= target.rocm


def is_gone(version: str, target: Target) -> bool:
    """Whether something that a release ``version`` dropped is missing at the target."""
    found = numbers(version)
    return bool(found) and found[: len(target.rocm)] <= target.rocm


def parse_target(text: str | None, knowledge: Known) -> Target:
    """A target from ``rocm=7.2,gfx942,gfx1100`` or with product names (``mi300x``, ``rx7900xtx``).

    Without text: the newest release in the table and gfx942. Raises ``UsageError`` with the accepted values.
    """
    release, devices = "", dict[str, Gfx]()
    for part in re.split(r"[,\s]+", (text or "").strip()):
        key, equal, value = part.partition("=")
        if key.lower() == "rocm" and equal:
            release = _release(value, knowledge)
        elif key.lower() in ("gfx", "device", "gpu") and equal:
            device = _device(value, knowledge)
            devices[device.name] = device
        elif part:
            if _RELEASE.match(part):
                release = _release(part, knowledge)
            else:
                device = _device(part, knowledge)
                devices[device.name] = device
    gfx = tuple(devices.values()) or (knowledge.gfx[_DEFAULT_GFX],)
    return Target(_short(release or knowledge.releases[-1]), gfx)


def _short(release: str) -> tuple[int, ...]:
    found = numbers(release)
    return found[:2] if len(found) == 3 and found[2] == 0 else found


def _release(text: str, knowledge: Known) -> str:
    wanted = numbers(text)
    known = [numbers(r) for r in knowledge.releases]
    if not wanted or not any(r[: len(wanted)] == wanted for r in known):
        series = dict.fromkeys(".".join(map(str, r[:2])) for r in known)
        raise UsageError(f"target: no ROCm release {text!r} is known; accepted: {', '.join(series)}")
    if len(wanted) == 1:
        return _newest(wanted, known)
    return text


def _newest(wanted: tuple[int, ...], known: list[tuple[int, ...]]) -> str:
    newest = max(r for r in known if r[: len(wanted)] == wanted)
    return ".".join(map(str, newest[:2]))


def _device(text: str, knowledge: Known) -> Gfx:
    name = text.lower().partition(":")[0]
    short = re.sub(r"^(?:instinct|radeon|ryzen|amd)+", "", re.sub(r"[-_ ]", "", name))
    found = knowledge.gfx.get(name) or knowledge.gfx.get(knowledge.products.get(short, ""))
    if found is None:
        import difflib

        names = [*knowledge.gfx, *knowledge.products]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        accepted = ", ".join([*knowledge.gfx, *sorted(knowledge.products)])
        raise UsageError(f"target: unknown device {text!r}; {hint}accepted: {accepted}")
    return found
