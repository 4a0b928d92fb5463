"""Reports made by hand: small, large, empty and hostile ones, all deterministic."""

from collections import Counter, defaultdict
from hashlib import blake2b

from portaudit.model.evidence import Confidence, Guard
from portaudit.model.facts import Element, Example, Gfx, Level, Rule, Target, Verdict
from portaudit.model.findings import Finding, State
from portaudit.model.places import Kind, Skip, Span
from portaudit.model.report import Component, Counts, FileReport, Report, Unknown

MI300 = Gfx("gfx942", "MI300X", 64, 64, False, "fnuz", "mfma", "6.0", "")
TARGET = Target((7, 2), (MI300,))

# rule, subject, equivalent, verdict, line of source
SITES = (
    ("api-renamed", "cudaMalloc", "hipMalloc", Verdict.DIRECT, "    CHECK(cudaMalloc(&buffer, bytes));"),
    (
        "api-renamed",
        "cublasSgemm",
        "hipblasSgemm",
        Verdict.DIRECT,
        "  cublasSgemm(h, OP_N, OP_N, m, n, k, &a, A);",
    ),
    (
        "ballot-in-int",
        "__ballot_sync",
        "unsigned long long",
        Verdict.ADAPTATION,
        "\tunsigned v = __ballot_sync(m, p);",
    ),
    ("warp-size-constant", "32", "warpSize", Verdict.ADAPTATION, "  const int lane = threadIdx.x % 32;"),
    (
        "ptx-wgmma",
        "wgmma.mma_async",
        "none",
        Verdict.BLOCKER,
        '  asm volatile("wgmma.mma_async.sync.aligned;");',
    ),
    (
        "optix-program",
        "optixTrace",
        "none",
        Verdict.BLOCKER,
        "    optixTrace(params.handle, origin, direction);",
    ),
)
RULES = {
    "api-renamed": ("PA101", "Name with a direct counterpart", Element.TOOLKIT, Level.SYNTACTIC, "rename"),
    "ballot-in-int": (
        "PA206",
        "Ballot result kept in 32 bits",
        Element.COMPILER,
        Level.FUNCTIONAL,
        "device-small",
    ),
    "warp-size-constant": (
        "PA201",
        "Warp size written as 32",
        Element.COMPILER,
        Level.FUNCTIONAL,
        "device-small",
    ),
    "ptx-wgmma": (
        "PA231",
        "Warpgroup matrix instruction",
        Element.COMPILER,
        Level.FUNCTIONAL,
        "device-large",
    ),
    "optix-program": ("PA180", "Ray tracing by OptiX", Element.LIBRARIES, Level.FUNCTIONAL, "redesign"),
}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`${alert(1)}{{7*7}}",
    "a\u202egnp.exe\u2066b",
    "esc\x1b[2J\x1b]0;owned\x07",
    "zero\u200bwidth\ufeff\u00ad",
    "line\u2028para\u2029next\x85nel",
    "<!--<script>",
    "bad\udcff\udc80name",
    "=cmd|' /C calc'!A0",
    "]]>&lt;&amp;",
    "nul\0tab\tnew\nline\rret",
)


def rule(slug, verdict, **changes):
    identifier, title, element, level, effort = RULES.get(
        slug, ("PA199", slug, Element.TOOLKIT, Level.SYNTACTIC, "rename")
    )
    values = {
        "id": identifier,
        "slug": slug,
        "title": title,
        "verdict": verdict,
        "level": level,
        "element": element,
        "confidence": Confidence.HIGH,
        "effort": effort,
        "message": "{name}",
        "why": "A wavefront has 64 lanes there, so half of the result is lost without a diagnostic.",
        "fix": "Keep the result in 64 bits and ask the device for its width.",
        "examples": (Example("unsigned v = __ballot_sync(m, p);", "auto v = __ballot_sync(m, p);\nuse(v);"),),
        "references": (
            "https://rocm.docs.amd.com/projects/HIP/en/latest/",
            "HIP header amd_warp_functions.h",
        ),
        "as_of": "2026-11-30",
    }
    return Rule(**{**values, **changes})


def finding(site, path, line, *, state=State.SHOWN, ordinal=0, **changes):
    slug, subject, equivalent, verdict, text = site
    _, _, element, level, _ = RULES[slug]
    column = max(text.find(subject), 0) + 1
    key = f"{slug}{path}{subject}{text}{ordinal}".encode("utf-8", "surrogateescape")
    values = {
        "rule": slug,
        "verdict": verdict,
        "level": level,
        "confidence": (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)[line % 7 % 3],
        "element": element,
        "span": Span(path, line, column, line, column + len(subject)),
        "subject": subject,
        "equivalent": equivalent,
        "message": f"{subject} becomes {equivalent}"
        if equivalent != "none"
        else f"{subject} has no counterpart",
        "why": "What it does on NVIDIA hardware has no like on this target.",
        "fix": "Use the counterpart, or keep this path for CUDA builds.",
        "state": state,
        "table": f"api:{subject}" if slug == "api-renamed" else "",
        "evidence_kind": "call",
        "scope": "device:kernel" if level is Level.FUNCTIONAL else "",
        "line_text": text,
        "fingerprint": blake2b(key, digest_size=10).hexdigest(),
    }
    return Finding(**{**values, **changes})


def report(findings=(), *, skips=(), unknown=(), components=None, files=None, **changes):
    findings = tuple(findings)
    shown = [f for f in findings if f.state is State.SHOWN]
    paths = sorted({f.span.path for f in findings})
    if files is None:
        by_file = defaultdict(list)
        for f in shown:
            by_file[f.span.path].append(f)
        files = tuple(_file(path, by_file[path]) for path in [*paths, "docs/conf.py"])
    if components is None:
        components = tuple(
            _component(folder, files, shown) for folder in sorted({f.component for f in files})
        )
    verdict = max((c.verdict for c in components), key=lambda v: v.rank, default=Verdict.PORTABLE)
    fired = {f.rule: f.verdict for f in findings}
    values = {
        "version": "0.1.0",
        "rules_digest": "1f" * 32,
        "target": TARGET,
        "root": "demo",
        "verdict": verdict,
        "reason": "2 of 5 components use something without counterpart on ROCm: src/core, src/rt",
        "components": components,
        "files": files,
        "findings": findings,
        "skips": tuple(skips),
        "unknown": tuple(unknown),
        "counts": Counts(
            files=len(files) + len(skips) + 3,
            read=len(files),
            lines=sum(f.lines for f in files),
            findings=_by_verdict(shown),
            components=_by_verdict(components),
            guarded=sum(f.state is State.GUARDED for f in findings),
            ignored=sum(f.state is State.IGNORED for f in findings),
            unknown=len(unknown),
            skipped=sum(s.whole for s in skips),
        ),
        "rules": tuple(rule(slug, verdict) for slug, verdict in sorted(fired.items())),
        "knowledge_date": "2026-11-30",
    }
    return Report(**{**values, **changes})


def small():
    """A few findings of every verdict and state, skips and unknown names."""
    found = [
        finding(site, f"src/{'core' if i % 2 else 'rt'}/file{i}.cu", 10 + i) for i, site in enumerate(SITES)
    ]
    found.append(
        finding(
            SITES[0], "src/core/compat.h", 7, state=State.GUARDED, verdict=Verdict.PORTABLE,
            guard=Guard("rocm", "#ifdef __HIP_PLATFORM_AMD__", 3),
        )
    )  # fmt: skip
    found.append(finding(SITES[2], "src/core/compat.h", 9, state=State.IGNORED))
    found.append(
        finding(
            SITES[3], "notes/try.ipynb", 2, span=Span("notes/try.ipynb", 2, 10, 4, 1, 3),
            related=(Span("src/core/compat.h", 1, 1, 1, 5),),
        )
    )  # fmt: skip
    return report(
        found,
        skips=(
            Skip("data/blob.cu", "too-large", "41 MB, the limit is 32 MB"),
            Skip("src/old.cu", "syntax", "", False),
        ),
        unknown=(Unknown("cudaFrobnicate", 4, "src/rt/file0.cu", 12),),
    )


def large(count, files=400):
    """``count`` findings spread as in a real repository: most texts repeat, lines of source do not."""
    found = []
    for i in range(count):
        site = SITES[(i * 7 + i // 11) % 4 if i % 50 else 4 + i // 50 % 2]
        path = f"src/part{i % files // 20}/deep/folder/module_{i % files:04}.cu"
        text = f"{site[4]}  // step {i * 2654435761 % 2**32:x}"
        found.append(finding(site, path, i // files * 3 + 1, ordinal=i, line_text=text))
    found.sort(key=lambda f: (f.span.path, f.span.line))
    return report(found)


def hostile():
    """Every string that can come from a tree carries something that must not act."""
    found = [
        finding(
            SITES[i % 6], f"src/{text}.cu", 3 + i, subject=text, equivalent=text, message=f"{text} is seen",
            line_text=f"x = {text};", span=Span(f"src/{text}.cu", 3 + i, 5, 3 + i, 5 + len(text)),
            guard=Guard("unknown", text, 2), scope=f"host:{text}",
        )
        for i, text in enumerate(HOSTILE)
    ]  # fmt: skip
    return report(
        found,
        root=HOSTILE[0],
        reason=f"1 of 1 components: {HOSTILE[1]}{HOSTILE[3]}",
        skips=[Skip(text, "unreadable", text) for text in HOSTILE],
        unknown=[Unknown(text, 2, text, 1) for text in HOSTILE],
        components=[
            Component(
                text, "native", text, Verdict.BLOCKER, text, 2, 40, _by_verdict(found[:2]), False, (1, 2, 4)
            )
            for text in HOSTILE
        ],
    )


def empty():
    """Nothing found, nothing skipped."""
    return report((), files=(), reason="no file of a kind that is read here", verdict=Verdict.PORTABLE)


def _file(path, own):
    worst = max((f.verdict for f in own), key=lambda v: v.rank, default=Verdict.PORTABLE)
    kind = Kind.CUDA if path.endswith(".cu") else Kind.PYTHON
    return FileReport(path, kind, 120, worst, "/".join(path.split("/")[:2]), len(own))


def _component(folder, files, shown):
    own = [f for f in files if f.component == folder]
    paths = {f.path for f in own}
    found = [f for f in shown if f.span.path in paths]
    worst = max((f.verdict for f in own), key=lambda v: v.rank)
    return Component(
        folder, "native", folder, worst, f"{len(found)} places for a person", len(own), 120 * len(own),
        _by_verdict(found), folder != "src/rt", (1.5, 4.0, 9.5),
    )  # fmt: skip


def _by_verdict(items):
    counted = Counter(item.verdict.value for item in items)
    return {v.value: counted.get(v.value, 0) for v in Verdict}
