"""One requirement of pip or a lock file -> distribution name and attributes; URLs of package indexes."""

import re
from urllib.parse import unquote

Attrs = dict[str, str | int | bool]

_LENGTH_LIMIT = 2000
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)")
_LOOSE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})[ \t]{0,8}(?:\[([^\]]{0,200})\])?[ \t]{0,8}"
    r"((?:[=<>!~]=?=?[^;,#\s]{1,80},?[ \t]{0,4}){0,6})"
)
_PLAIN = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)[ ]{0,4}(?:\[([A-Za-z0-9._, -]{1,200})\])?[ ]{0,4}"
    r"((?:(?:===|==|~=|!=|<=|>=|<|>)[ ]{0,4}[A-Za-z0-9.*+!_-]{1,60}[ ]{0,4},?[ ]{0,4}){1,8})?"
)
_MAY_BE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}[ \t]{0,8}(?:$|[;@\[<>=!~,*]|\([ ]?[<>=!~])")
_VERSION = re.compile(r"(?:===?|~=|[<>]=?)[ \t]{0,4}[^,;\s]{0,60}?\+([A-Za-z0-9.]{2,40})")
_CUDA_TAG = re.compile(r"(?<![A-Za-z0-9])cu(?:da)?[-_]?(\d{1,3}(?:\.\d{1,2})?)(?![0-9])(?!\d)")
_OPTIONS_BEHIND = re.compile(r"\s--?[a-z][a-z-]{1,30}(?:[= ]|$)")
_WHEEL = re.compile(r"(?:^|/)([A-Za-z0-9_.]{1,80}?)-(\d[A-Za-z0-9_.!+]{0,60})-[^/]{3,120}\.whl", re.ASCII)
_REPOSITORY = re.compile(r"[/:]([A-Za-z0-9_.-]{1,80}?)(?:\.git)?(?:@[^#]{0,100})?(?:#.*)?$")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9_.-]{1,80})")


def parse_requirement_line(text: str) -> tuple[str, Attrs] | None:
    """Normalised name and attributes of a requirement, None when the text is none.

    Understands PEP 508, pip's hashes and options behind a requirement, URLs and wheel files. Attributes:
    specifier, extras, local, marker, url.
    """
    line = _without_comment(text[:_LENGTH_LIMIT]).strip().rstrip("\\").strip()
    for prefix in ("-e ", "--editable ", "--editable="):
        line = line.removeprefix(prefix)
    line = line.strip()
    if not line or line.startswith("-"):
        return None
    options = _OPTIONS_BEHIND.search(line)
    if options:
        line = line[: options.start()].rstrip()
    if "://" in line.partition("@")[0] or (line.endswith(".whl") and "@" not in line):
        return _from_url(line)
    if plain := _PLAIN.fullmatch(line):
        return _from_parts(*plain.groups())
    if not _MAY_BE.match(line):
        return None
    # Imported late: the library costs 36 ms, and most files have no requirement.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(line)
    except (InvalidRequirement, RecursionError):
        return _loosely(line)
    attrs: Attrs = {}
    if requirement.url:
        attrs["url"] = requirement.url
        _add_local(attrs, unquote(requirement.url))
    if requirement.specifier:
        attrs["specifier"] = str(requirement.specifier)
        _add_local(attrs, str(requirement.specifier))
    if requirement.extras:
        attrs["extras"] = ",".join(sorted(requirement.extras))
    if requirement.marker:
        attrs["marker"] = str(requirement.marker)
    return _normal(requirement.name), attrs


def _from_parts(name: str, extras: str | None, specifier: str | None) -> tuple[str, Attrs]:
    """A requirement in its common form; the standard's own parser takes thirty times as long."""
    attrs: Attrs = {}
    if specifier:
        clauses = sorted(clause.replace(" ", "") for clause in specifier.split(",") if clause.strip())
        joined = attrs["specifier"] = ",".join(clauses)
        _add_local(attrs, joined)
    if extras:
        attrs["extras"] = ",".join(sorted(extra.strip() for extra in extras.split(",") if extra.strip()))
    return _normal(name), attrs


def normal_name(text: str) -> str:
    """A distribution name as PEP 503 writes it, empty when it is none."""
    match = _NAME.fullmatch(text.strip())
    return _normal(match.group(1)) if match else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def cuda_tag(text: str) -> str:
    """``cu124`` when a version, file name or URL bears the tag of a CUDA build, else empty."""
    match = _CUDA_TAG.search(text.lower())
    return "cu" + match.group(1).replace(".", "") if match else ""


def local_version(specifier: str) -> str:
    """The local part of a pinned version: ``cu124`` of ``==2.6.0+cu124``."""
    match = _VERSION.search(specifier)
    return match.group(1).lower() if match else ""


def _from_url(line: str) -> tuple[str, Attrs] | None:
    url = line.partition(" ")[0]
    attrs: Attrs = {"url": url}
    plain = unquote(url)
    if wheel := _WHEEL.search(plain):
        attrs["specifier"] = f"=={wheel.group(2)}"
        _add_local(attrs, plain)
        return _normal(wheel.group(1)), attrs
    match = _EGG.search(plain) or _REPOSITORY.search(plain)
    if match is None or not plain.startswith(("git+", "hg+", "svn+", "bzr+")):
        return None
    return _normal(match.group(1)), attrs


def _loosely(line: str) -> tuple[str, Attrs] | None:
    """A requirement with a version or marker that PEP 508 does not know; its name is still certain."""
    match = _LOOSE.match(line)
    if match is None or line[match.end() : match.end() + 1] not in ("", ";", " ", ",", "*"):
        return None
    attrs: Attrs = {}
    specifier = match.group(3).strip().rstrip(",")
    if specifier:
        attrs["specifier"] = specifier
        _add_local(attrs, specifier)
    if match.group(2):
        attrs["extras"] = match.group(2).replace(" ", "")
    _, semicolon, marker = line.partition(";")
    if semicolon:
        attrs["marker"] = marker.strip()
    return _normal(match.group(1).rstrip("._-")), attrs


def _add_local(attrs: Attrs, text: str) -> None:
    local = local_version(text)
    if not local:
        wheel = _WHEEL.search(text)
        local = wheel.group(2).partition("+")[2].lower() if wheel else ""
    if local:
        attrs["local"] = local


def _without_comment(line: str) -> str:
    """``#`` opens a comment at the start or behind a blank; in a URL it belongs to the fragment."""
    if line.startswith("#"):
        return ""
    at = line.find(" #")
    tab = line.find("\t#")
    ends = [e for e in (at, tab) if e >= 0]
    return line[: min(ends)] if ends else line
