"""What is known: facts from tables, rules, and the target that they are read for."""

from enum import Enum

import msgspec

from portaudit.model.evidence import Confidence


class Verdict(str, Enum):
    """What a place, file or component needs, in rising order."""

    PORTABLE = "portable"
    DIRECT = "direct"
    ADAPTATION = "adaptation"
    BLOCKER = "blocker"

    @property
    def rank(self) -> int:
        """0 for portable to 3 for blocker."""
        return _VERDICT_RANK[self.value]


_VERDICT_RANK = {"portable": 0, "direct": 1, "adaptation": 2, "blocker": 3}


class Level(str, Enum):
    """The lowest level of compatibility that breaks or needs proof."""

    SYNTACTIC = "syntactic"
    FUNCTIONAL = "functional"
    OPERATIONAL = "operational"


class Element(str, Enum):
    """The eight elements of an audit."""

    OPERATING_SYSTEM = "operating-system"
    DRIVER = "driver"
    TOOLKIT = "toolkit"
    COMPILER = "compiler"
    LIBRARIES = "libraries"
    FRAMEWORK = "framework"
    CONTAINERS = "containers"
    MONITORING = "monitoring"


class Gfx(msgspec.Struct, frozen=True):
    """One GPU architecture, from rules/support/targets.csv."""

    name: str
    product: str
    wavefront: int
    """Lanes."""
    lds_kib: int
    """Local data share of a workgroup, KiB."""
    images: bool
    """Whether the device has texture units."""
    fp8: str
    """``none``, ``fnuz``, ``ocp`` or ``both``."""
    matrix: str
    rocm_from: str = ""
    rocm_to: str = ""


class Target(msgspec.Struct, frozen=True):
    """What a report is for."""

    rocm: tuple[int, ...]
    """ROCm release as numbers, e.g. ``(7, 2)``."""
    gfx: tuple[Gfx, ...]

    @property
    def release(self) -> str:
        """ROCm release as text, e.g. ``7.2``."""
        return ".".join(map(str, self.rocm))

    def __str__(self) -> str:
        return ",".join([f"rocm={self.release}", *(g.name for g in self.gfx)])


class Fact(msgspec.Struct, frozen=True):
    """One row of a table. Empty text means: the source does not say."""

    table: str
    """api, header, package, module, image, tool, env, library, flag, key."""
    name: str
    """The name as written on the CUDA side; images and variables may hold ``*``."""
    library: str = ""
    """Library, package or group that it belongs to."""
    kind: str = ""
    """api: function, device_function, type, class, enum_value, macro, variable; tools: cli, daemon, k8s,
    ..."""
    status: str = ""
    """api: mapped, roc_only, absent_in_rocm, unsupported, unmapped; packages: rocm_status."""
    verdict: Verdict | None = None
    """The verdict written in the table, where it has one; api rows derive theirs (``knowledge.support``)."""
    equivalent: str = ""
    native: str = ""
    """Name in the native ROCm library where the HIP wrapper has none."""
    level: Level = Level.SYNTACTIC
    since: str = ""
    """First ROCm release with the counterpart; ``<=7.0`` is an upper bound."""
    until: str = ""
    """First ROCm release without it."""
    cuda: str = ""
    """History on the CUDA side: ``added 11.2, deprecated 12.0, removed 13.0``."""
    gfx: str = ""
    args: str = ""
    """Parameter counts on both sides where they differ, e.g. ``cuda12.9:3 hip:5``."""
    family: str = ""
    note: str = ""
    why: str = ""
    fix: str = ""
    hours: tuple[float, float] | None = None
    """Low and high, for the use of this in one component."""
    confidence: Confidence = Confidence.HIGH
    experimental: bool = False
    evidence: str = ""
    """Sources, separated by ``;``."""
    as_of: str = ""
    """ISO date of the newest evidence."""


class Ruling(msgspec.Struct, frozen=True):
    """What a fact means for one target."""

    rule: str
    """Slug of the table rule that gave it."""
    verdict: Verdict
    level: Level
    confidence: Confidence
    equivalent: str
    """ROCm counterpart, ``none`` where there is none."""
    message: str
    """One sentence, complete with names."""
    why: str
    fix: str


class Rule(msgspec.Struct, frozen=True):
    """One file of rules/semantic/. Its texts are what explain, reports and help print."""

    id: str
    """PA and three digits: 1 API, 2 device code, 3 Python, 4 build, 5 deployment, 6 packages, 7 operations,
    8 numerics, 9 binaries."""
    slug: str
    title: str
    verdict: Verdict
    level: Level
    element: Element
    confidence: Confidence
    effort: str
    """Key of rules/effort.yaml."""
    message: str
    """A format text over ``{name}``, ``{attrs.X}``, ``{target}`` and ``{gfx}``."""
    why: str
    fix: str
    equivalent: str = ""
    when: "When | None" = None
    table: str = ""
    """The table whose rulings carry this rule's slug."""
    derived: bool = False
    """True where other findings lead to it (``match.inherited``): it has no condition of its own."""
    guarded: str = "quiet"
    """``quiet``: inside a ROCm guard the finding is portable; ``fire``: the guard does not help."""
    replaces: bool = True
    """Whether the table finding of the same evidence gives way."""
    fallback: bool = False
    """Holds only where no other semantic rule spoke of the same evidence."""
    examples: "tuple[Example, ...]" = ()
    references: tuple[str, ...] = ()
    since: str = "0.1.0"
    as_of: str = ""
    tabled: bool = False
    """Only for names of which their table has something to say: the rule softens or replaces that."""


class Example(msgspec.Struct, frozen=True):
    """Code before and after."""

    before: str
    after: str


class TargetWhen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Conditions on the target; all that are given must hold for at least one of its architectures."""

    rocm: str = ""
    """A comparison such as ``>=7.0`` or ``<10``."""
    wavefront: int = 0
    images: bool | None = None
    gfx: tuple[str, ...] = ()
    fp8: tuple[str, ...] = ()
    lds_below: int = 0
    """Fires where the LDS of a workgroup is smaller, in KiB."""


class When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The condition of a rule: everything that is given must hold."""

    kind: tuple[str, ...]
    """Evidence kinds."""
    name: tuple[str, ...] = ()
    """Exact names or globs (``*``, ``?``); any of them."""
    attrs: dict[str, object] = {}
    """name: value (equal), list (one of), text ``/regex/`` (search), ``">N"``/``"<N"`` (numbers), true
    (present)."""
    scope: str = ""
    """Prefix of the scope: ``device`` also matches ``kernel``."""
    not_scope: str = ""
    near: tuple[str, ...] = ()
    """Names or globs, one of which must be evidence in the same file."""
    near_function: tuple[str, ...] = ()
    """The same, within the same scope."""
    not_near: tuple[str, ...] = ()
    """None of these may be evidence in the same file."""
    path: tuple[str, ...] = ()
    """Globs on the path."""
    target: TargetWhen | None = None
