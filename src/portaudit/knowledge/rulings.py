"""What a fact means for one target: verdict, level, confidence and one sentence. The rules of it stand in
docs/knowledge.md."""

import re
from collections.abc import Callable
from typing import Protocol

import msgspec

from portaudit.knowledge.support import is_bound, is_gone, since_ok
from portaudit.model.evidence import Confidence
from portaudit.model.facts import Fact, Level, Ruling, Target, Verdict

_HIP_COUNT = re.compile(r"\bhip:(\d+)(?: \((\d+) optional)?")
_CUDA_COUNT = re.compile(r"\bcuda[\d.]*:(\d+)")


class Lookup(Protocol):
    """Facts by name."""

    def get(self, name: str, /) -> Fact | None:
        """The fact of a name."""
        ...


class Context:
    """What rulings need beside the fact: families by ``library/family``, policies by library."""

    __slots__ = ("families", "policies")

    def __init__(self, families: Lookup, policies: Lookup) -> None:
        self.families = families
        self.policies = policies


def ruling(fact: Fact, target: Target, nargs: int | None, context: Context) -> Ruling:
    """The ruling for a fact; ``nargs`` is the number of arguments that a call gives."""
    if fact.table == "api":
        return _api(fact, target, nargs, context)
    return _TABLES[fact.table](fact, target)


def _api(fact: Fact, target: Target, nargs: int | None, context: Context) -> Ruling:
    if fact.status == "mapped" or (fact.status == "absent_in_rocm" and _still_there(fact, target)):
        return _mapped(fact, target, nargs, context)
    if fact.status == "roc_only" and fact.verdict is None:
        policy = context.policies.get(fact.library)
        return _changed(
            fact,
            f"{fact.name} has no HIP name; {fact.native} of the native ROCm library answers it",
            (policy.why if policy else "") or "Only the native ROCm library has it, with its own types",
            f"Call {fact.native}" + (f" ({fact.args})" if fact.args else ""),
            Level.FUNCTIONAL,
        )
    return _without_name(fact, target, context)


def _still_there(fact: Fact, target: Target) -> bool:
    """Whether a name that ROCm 10 lost was there at the target."""
    return (
        bool(fact.until and fact.since) and since_ok(fact.since, target) and not is_gone(fact.until, target)
    )


def _mapped(fact: Fact, target: Target, nargs: int | None, context: Context) -> Ruling:
    policy = context.policies.get(fact.library)
    why = fact.why or (policy.why if policy else "")
    if not since_ok(fact.since, target):
        return _not_yet(fact, target)
    if is_gone(fact.until, target):
        return _changed(
            fact,
            f"{fact.equivalent} left ROCm in {fact.until}",
            f"ROCm {target.release} has no {fact.equivalent} any more",
            fact.fix or "Use the call that replaced it",
        )
    if fact.verdict is not None and fact.verdict is not Verdict.DIRECT:
        return _overruled(fact, why)
    if policy is not None and policy.verdict is not None and policy.verdict.rank > Verdict.DIRECT.rank:
        return _changed(
            fact,
            f"{fact.name}: {_counterpart(fact)} has the same purpose, but is no drop-in",
            why,
            fact.fix or f"Rewrite with {_counterpart(fact)}",
            Level.FUNCTIONAL,
        )
    if fact.args:
        changed = _arguments(fact, nargs)
        if changed is not None:
            return changed
    return _renamed(fact)


def _renamed(fact: Fact) -> Ruling:
    same = fact.equivalent == fact.name
    message = (
        f"{fact.name} keeps its name on ROCm, nothing to rename"
        if same
        else f"{fact.name} becomes {fact.equivalent}"
    )
    why = "experimental in HIP" if fact.experimental else fact.note
    if fact.until:
        why = f"{fact.equivalent} leaves ROCm in {fact.until}"
    fix = fact.fix or ("Nothing to rename" if same else f"Write {fact.equivalent}")
    return Ruling(
        "api-renamed", Verdict.DIRECT, fact.level, _confidence(fact), fact.equivalent, message, why, fix
    )


def _not_yet(fact: Fact, target: Target) -> Ruling:
    version = fact.since.removeprefix("<=")
    if is_bound(fact.since):
        seen = f"{fact.equivalent} was first seen in ROCm {version}"
        message = f"{seen}; whether {target.release} has it is not known"
        confidence = Confidence.MEDIUM
    else:
        message = f"{fact.name}: {fact.equivalent} arrives in ROCm {version}, the target is {target.release}"
        confidence = _confidence(fact)
    return Ruling(
        "api-not-yet",
        Verdict.ADAPTATION,
        fact.level,
        confidence,
        f"{fact.equivalent} (ROCm {version})",
        message,
        fact.note or f"No counterpart before ROCm {version} is known",
        f"Move the target to ROCm {version} or do without it",
    )


def _overruled(fact: Fact, why: str) -> Ruling:
    assert fact.verdict is not None
    if fact.verdict is Verdict.BLOCKER:
        return Ruling(
            "api-without-counterpart",
            fact.verdict,
            fact.level,
            fact.confidence,
            fact.equivalent or "none",
            f"{fact.name} has no counterpart on ROCm",
            why,
            fact.fix,
        )
    return _changed(
        fact, f"{fact.name}: {_counterpart(fact)} exists but is not the same", why, fact.fix, fact.level
    )


def _changed(fact: Fact, message: str, why: str, fix: str, level: Level | None = None) -> Ruling:
    return Ruling(
        "api-changed",
        Verdict.ADAPTATION,
        level or fact.level,
        _confidence(fact),
        _counterpart(fact),
        message,
        why or fact.note,
        fix or f"Use {_counterpart(fact)} and check what it gives back",
    )


def _counterpart(fact: Fact) -> str:
    """What to write instead: an NVML call has its AMD SMI call, others their HIP name."""
    return fact.native if fact.table == "api" and fact.library == "nvml" and fact.native else fact.equivalent


def _arguments(fact: Fact, nargs: int | None) -> Ruling | None:
    """A ruling where the parameter lists differ and the call does not fit HIP's, else None."""
    found = _HIP_COUNT.search(fact.args)
    if found is None:
        return None
    most = int(found.group(1))
    least = most - int(found.group(2) or 0)
    counts = [int(n) for n in _CUDA_COUNT.findall(fact.args)]
    if least < most and any(least <= count <= most for count in counts) and nargs is None:
        return None
    if nargs is not None:
        newer_is_longer = bool(counts) and min(counts) >= least
        if least <= nargs <= most or (nargs < least and newer_is_longer):
            return None
    given = f"the call gives {nargs}" if nargs is not None else f"CUDA: {fact.args}"
    return _changed(
        fact,
        f"{fact.name} becomes {fact.equivalent}, which takes {found.group(1)} arguments; {given}",
        "CUDA changed the parameter list between releases and HIP has one form of it",
        f"Write the form with {found.group(1)} arguments",
    )


def _without_name(fact: Fact, target: Target, context: Context) -> Ruling:
    family = context.families.get(f"{fact.library}/{fact.family}")
    if family is None or family.verdict is None:
        verdict = fact.verdict or Verdict.ADAPTATION
        return Ruling(
            "api-without-counterpart",
            verdict,
            fact.level,
            Confidence.LOW,
            fact.equivalent or "none",
            f"{fact.name} has no counterpart in any table",
            fact.why or "No source names a counterpart",
            fact.fix or "Look for the call that does the same, or write it out",
        )
    verdict = fact.verdict or family.verdict
    equivalent = (fact.native if fact.library == "nvml" else "") or family.equivalent or "none"
    why, fix = fact.why or family.why, fact.fix or family.fix
    if equivalent != "none" and not since_ok(family.since, target):
        verdict = verdict if verdict is Verdict.BLOCKER else Verdict.ADAPTATION
        why = f"{why}; {equivalent} needs ROCm {family.since}, the target is {target.release}"
    return Ruling(
        "api-without-counterpart",
        verdict,
        family.level,
        family.confidence if family.confidence.rank < fact.confidence.rank else fact.confidence,
        equivalent,
        _family_message(fact.name, verdict, equivalent),
        why + (f" ({family.gfx})" if family.gfx not in ("", "all") else ""),
        fix,
    )


def _family_message(name: str, verdict: Verdict, equivalent: str) -> str:
    if verdict is Verdict.BLOCKER:
        tail = f"; nearest is {equivalent}" if not equivalent.startswith("none") else ""
        return f"{name} has no counterpart on ROCm{tail}"
    if equivalent.startswith("none"):
        return f"{name} is not needed on ROCm" if verdict is Verdict.DIRECT else f"{name} has no name in HIP"
    return f"{name} has no name of its own in HIP; use {equivalent}"


def _confidence(fact: Fact) -> Confidence:
    if fact.experimental and fact.confidence is Confidence.HIGH:
        return Confidence.MEDIUM
    return fact.confidence


def _of_table(rule: str, verb: str) -> Callable[[Fact, Target], Ruling]:
    def rule_of(fact: Fact, target: Target) -> Ruling:
        return _simple(rule, fact, _sentence(fact, verb), target)

    return rule_of


def _sentence(fact: Fact, verb: str) -> str:
    if fact.verdict is Verdict.PORTABLE:
        return f"{fact.name} works on ROCm as it is"
    if fact.equivalent in ("", "none") or fact.equivalent.startswith(("none ", "none:")):
        return f"{fact.name} {verb} and has no counterpart on ROCm"
    return f"{fact.name} {verb}; on ROCm: {fact.equivalent}"


def _simple(rule: str, fact: Fact, message: str, target: Target) -> Ruling:
    verdict = fact.verdict or Verdict.ADAPTATION
    why = fact.why or fact.note
    if not since_ok(fact.since, target):
        if verdict.rank < Verdict.ADAPTATION.rank:
            verdict = Verdict.ADAPTATION
        version = fact.since.removeprefix("<=")
        why = f"{why}; it needs ROCm {version}, the target is {target.release}"
    equivalent = fact.equivalent or "none"
    fix = fact.fix or ("Do without it" if equivalent == "none" else f"Use {equivalent}")
    return Ruling(rule, verdict, fact.level, fact.confidence, equivalent, message, why, fix)


def _header(fact: Fact, target: Target) -> Ruling:
    mapped = fact.status == "mapped"
    rule = "header-renamed" if mapped else "header-without-counterpart"
    if mapped and fact.equivalent == fact.name:
        message = f"<{fact.name}> keeps its path on ROCm"
    elif mapped:
        message = f"<{fact.name}> becomes <{fact.equivalent}>"
    elif fact.equivalent in ("", "none"):
        message = f"<{fact.name}> has no counterpart on ROCm"
    else:
        message = f"<{fact.name}> has no counterpart of the same shape; nearest is {fact.equivalent}"
    return _simple(rule, fact, message, target)


def _package(fact: Fact, target: Target) -> Ruling:
    if fact.name.startswith("system:"):
        fact = msgspec.structs.replace(fact, name=fact.name.removeprefix("system:"))
    if fact.status == "bundled":
        return _simple("package-bundled-cuda", fact, _sentence(fact, "brings NVIDIA's own software"), target)
    if fact.verdict is Verdict.BLOCKER or fact.status == "none":
        return _simple("package-cuda-only", fact, _sentence(fact, "runs on NVIDIA only"), target)
    return _simple("package-other-build", fact, _sentence(fact, "needs another build"), target)


def _flag(fact: Fact, target: Target) -> Ruling:
    if fact.kind == "container":
        message = _sentence(fact, "hands NVIDIA devices to a container")
        return _simple("container-option", fact, message, target)
    return _simple("flag-nvcc", fact, _sentence(fact, "is an option of nvcc"), target)


_TABLES: dict[str, Callable[[Fact, Target], Ruling]] = {
    "header": _header,
    "package": _package,
    "module": _of_table("module-imported", "is a Python module for CUDA"),
    "image": _of_table("image-cuda", "is an image for CUDA"),
    "tool": _of_table("tool-nvidia", "is a tool for NVIDIA devices"),
    "env": _of_table("env-cuda", "is read by NVIDIA's software"),
    "library": _of_table("library-linked", "is a library of CUDA"),
    "flag": _flag,
    "key": _of_table("key-nvidia", "asks for NVIDIA"),
    "ptx": _of_table("ptx-instruction", "is PTX"),
}
