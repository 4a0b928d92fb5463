"""Device code whose meaning or cost differs on AMD, apart from the number of lanes: types, atomics, launch
bounds, vector operators, kernels by naming convention, code strings for run-time compilation."""

import re
from collections.abc import Iterator

from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.functions import Function
from portaudit.analyze.lexical import arguments
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_LAUNCH_BOUNDS = re.compile(r"\b__launch_bounds__[ \t]*\(")
_VECTOR = r"(?:u?(?:char|short|int|long|longlong)|float|double)[234]"
_VECTOR_PARAM = re.compile(
    rf"(?:^|,)[ \t\r\n]*(?:const[ \t]+)?{_VECTOR}(?:[ \t]+const)?[ \t]*&?[ \t]*\w*[ \t]*(?=,|$)"
)
_NUMBER_PARAM = re.compile(
    r"(?:^|,)[ \t\r\n]*(?:const[ \t]+)?(?:unsigned[ \t]+)?"
    r"(?:float|double|int|long|short|char|unsigned|u?int\d+_t|size_t|[A-Z]\w?)"
    r"(?:[ \t]+const)?[ \t]*&?[ \t]*\w*[ \t]*(?=,|$)"
)
_OPERATOR = re.compile(r"operator[ \t]*([-+*/%&|^]=?|==|!=|<<=?|>>=?|~|!)[ \t]*\(([^()]{0,200})\)")
_HALF = re.compile(
    r"\b(__half2?|half2?|__nv_bfloat16[2]?|nv_bfloat16[2]?|__hip_bfloat16[2]?|at::Half|c10::Half)\b"
)
_POINTER_CAST = re.compile(rf"{_HALF.pattern}[ \t]*\*[ \t]*[)>]")
_HALF_MAKER = re.compile(r"__(floats?2?|halves2?|double2?|int2?)(?:half2?|bfloat16\d?)(?:_rn)?[ \t]*\(")
_FLOATING = re.compile(r"\b(float|double)\b")
_ATOMIC_ADD = re.compile(r"\batomicAdd[ \t]*\(")
_TEXTURE_REFERENCE = re.compile(
    r"^[ \t]*(?:static[ \t]+)?texture[ \t]*<[^;{}]{1,120}>[ \t]*(\w+)", re.MULTILINE
)
_TEXTURE_FETCH = re.compile(
    r"tex(?:1Dfetch|[123]D(?:Layered)?(?:Lod|Grad)?|2Dgather|Cubemap(?:Layered)?(?:Lod)?)"
    r"[ \t]*(?:<[^<>;()]{1,40}>[ \t]*)?\([ \t]*(\w*)"
)
_SURFACE = re.compile(
    r"surf(?:[123]D(?:Layered)?|Cubemap(?:Layered)?)(?:read|write)[ \t]*(?:<[^<>;()]{1,40}>[ \t]*)?\("
)
_CAPABILITY = re.compile(
    r"\b(\w+)(?:\(\))?[ \t]*(?:\.|->)[ \t]*(?:major|minor)[ \t]*(?:(?:[<>]=?|[=!]=)[ \t]*\d+|\*[ \t]*10+\b)"
)
_CAPABILITY_ASKED = re.compile(
    r"&[ \t]*(\w+)[ \t]*,[ \t]*(?:cudaDevAttrComputeCapability|CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_)M"
)
_PROPERTIES_DECLARED = re.compile(
    r"\bcudaDeviceProp\b[ \t]*(?:const\b)?[ \t*&]*(\w+)|\b(\w+)[ \t]*=[^;]{0,60}Properties\("
)
_DEVICE_WORD = re.compile(r"prop|dev|gpu|arch|capab|^cc$", re.IGNORECASE)
_DEVICE_PROPERTIES = (
    "cudaDeviceProp",
    "cudaGetDeviceProperties",
    "getCurrentDeviceProperties",
    "getDeviceProperties",
)
_STD_CALL = re.compile(r"\bstd::(clamp)[ \t]*(?:<[^<>;()]{1,40}>[ \t]*)?\(")
_FRAGMENT = re.compile(r"\bfragment[ \t]*<[^;{}]{1,200}?>[ \t]*(\w+)")
_ELEMENT = re.compile(r"\b(\w+)[ \t]*(?:\[[^\[\];]{1,40}\][ \t]*){0,3}\.[ \t]*x[ \t]*\[")
_STD_TRAIT = re.compile(r"\bstd::\w+")
_FIXED_WIDTH = re.compile(r"\bu?int(?:8|16|32|64)_t\b")
_KERNEL_TEXT = re.compile(r"__global__|__device__")


def device_patterns(file: CxxFile) -> Iterator[Evidence]:
    """Evidence of kinds kernel and pattern."""
    yield from _kernels(file)
    yield from _launch_bounds(file)
    yield from _vector_operators(file)
    yield from _textures(file)
    yield from _surfaces(file)
    yield from _capabilities(file)
    yield from _std_calls(file)
    yield from _fragments(file)
    if "atomicAdd" in file.words:
        yield from _atomics(file)
    if file.embedded == "rtc":
        yield from _rtc(file)


def _words(pattern: "re.Pattern[str]", code: str) -> "Iterator[re.Match[str]]":
    """Matches that begin a word. The patterns have no ``\\b`` in front: a literal start makes them faster."""
    for match in pattern.finditer(code):
        before = code[match.start() - 1 : match.start()]
        if not (before.isalnum() or before == "_"):
            yield match


def _pattern(
    file: CxxFile, name: str, start: int, end: int, attrs: dict[str, AttrValue] | None = None
) -> Evidence:
    return file.evidence(EvidenceKind.PATTERN, name, start, end, attrs)


def _kernels(file: CxxFile) -> Iterator[Evidence]:
    for function in file.functions.all:
        if function.place != "kernel" or not function.name:
            continue
        header = file.code[function.start : function.body]
        at = header.rfind(function.name, 0, function.params[0] - function.start)
        start = function.start + max(0, at)
        lines = file.code.count("\n", function.start, function.end) + 1
        yield file.evidence(
            EvidenceKind.KERNEL, function.name, start, start + len(function.name), {"lines": lines}
        )


def _launch_bounds(file: CxxFile) -> Iterator[Evidence]:
    if "__launch_bounds__" not in file.words:
        return
    for match in _LAUNCH_BOUNDS.finditer(file.code):
        spans, _ = arguments(file.code, match.end() - 1)
        if len(spans) < 2:
            continue
        blocks = file.code[slice(*spans[1])].strip()
        value = file.constants.value(blocks)
        if value == 1:
            # one block a multiprocessor asks for one wave a SIMD: harmless
            continue
        attrs: dict[str, AttrValue] = {
            "threads": file.code[slice(*spans[0])].strip()[:60],
            "blocks": blocks[:60],
        }
        yield _pattern(file, "launch-bounds-blocks", match.start(), spans[1][1] + 1, attrs)


def _vector_operators(file: CxxFile) -> Iterator[Evidence]:
    if "operator" not in file.words:
        return
    for match in _OPERATOR.finditer(file.code):
        follows = file.code[match.end() : match.end() + 40].lstrip()
        if follows.startswith(("{", ";", "noexcept")) and _clashes(match.group(1), match.group(2)):
            line_start = file.code.rfind("\n", 0, match.start()) + 1
            indent = len(file.code[line_start : match.start()]) - len(
                file.code[line_start : match.start()].lstrip()
            )
            attrs: dict[str, AttrValue] = {"operator": match.group(1)}
            yield _pattern(file, "vector-operator", line_start + indent, match.end(), attrs)


def _clashes(sign: str, parameters: str) -> bool:
    """Whether an operator outside of a class takes built-in vectors and numbers alone, as HIP's own do."""
    vectors, count = len(_VECTOR_PARAM.findall(parameters)), parameters.count(",") + 1
    if count == 1:
        return vectors == 1 and sign in ("-", "~", "!")
    return vectors > 0 and vectors + len(_NUMBER_PARAM.findall(parameters)) == count


def _atomics(file: CxxFile) -> Iterator[Evidence]:
    for match in _ATOMIC_ADD.finditer(file.code):
        function = file.functions.at(match.start())
        if function is None or function.place == "host":
            continue
        spans, _ = arguments(file.code, match.end() - 1)
        if len(spans) != 2:
            continue
        kind = _added(file, function, file.code[slice(*spans[0])], file.code[slice(*spans[1])])
        if kind:
            attrs: dict[str, AttrValue] = {"type": kind, "symbol": "atomicAdd"}
            yield _pattern(file, "atomic-add", match.start(), match.end() - 1, attrs)


def _added(file: CxxFile, function: Function, address: str, value: str) -> str:
    """Floating-point type that an atomic adds: by a cast of the address, by the maker of the value, by
    declaration."""
    cast = _POINTER_CAST.search(address)
    if cast:
        return cast.group(1)
    made = _HALF_MAKER.match(value.strip())
    if made:
        return (
            "__nv_bfloat16" if "bfloat" in made.group() else "__half2" if "2" in made.group(1) else "__half"
        )
    base = re.search(r"[A-Za-z_]\w*", address.replace("const", ""))
    return _pointee(file, function, base.group()) if base else ""


def _pointee(file: CxxFile, function: Function, name: str) -> str:
    """Floating-point type behind a pointer parameter or a shared array; empty for others."""
    parameters = file.code[slice(*function.params)]
    declared = re.search(rf"([^,()]*?)[*&\s]\b{re.escape(name)}\b", parameters)
    text = declared.group(1) if declared else ""
    if not text:
        local = re.search(
            rf"\b([\w:]+)[ \t*]+\b{re.escape(name)}\b[ \t]*[\[;=]", file.code[function.body : function.end]
        )
        text = local.group(1) if local else ""
    found = _HALF.search(text) or _FLOATING.search(text)
    return found.group(1) if found else ""


def _textures(file: CxxFile) -> Iterator[Evidence]:
    references = set()
    if "texture" in file.words:
        for match in _TEXTURE_REFERENCE.finditer(file.code):
            references.add(match.group(1))
            start = match.start() + match.group().index("texture")
            yield _pattern(file, "texture-reference", start, match.end())
    if "tex" not in file.code:
        return
    for match in _words(_TEXTURE_FETCH, file.code):
        legacy = match.group(1) in references
        if legacy or file.on_device(match.start()) or file.embedded:
            attrs: dict[str, AttrValue] = {"reference": legacy}
            yield _pattern(file, "texture-fetch", match.start(), match.end(), attrs)


def _surfaces(file: CxxFile) -> Iterator[Evidence]:
    if "surf" in file.code:
        for match in _words(_SURFACE, file.code):
            yield _pattern(file, "surface-access", match.start(), match.end())


def _capabilities(file: CxxFile) -> Iterator[Evidence]:
    """``prop.major >= 8``, also ``prop.major * 10 + prop.minor``, and variables that are asked for it."""
    for name in {m.group(1) for m in _CAPABILITY_ASKED.finditer(file.code)}:
        compares = rf"(?<![\w.>])\b{name}[ \t]*(?:(?:[<>]=?|[=!]=)[ \t]*\d+|\*[ \t]*10+\b)"
        for match in re.finditer(compares, file.code):
            yield _pattern(file, "capability-compare", *match.span(), {"text": match.group()[:80]})
    if "major" not in file.words or file.words.isdisjoint(_DEVICE_PROPERTIES):
        return
    declared = {name for m in _PROPERTIES_DECLARED.finditer(file.code) for name in m.groups() if name}
    last = -1
    for match in _CAPABILITY.finditer(file.code):
        if match.group(1) not in declared and not _DEVICE_WORD.search(match.group(1)):
            # the version of a file has a major number too
            continue
        if last >= 0 and "\n" not in file.code[last : match.start()]:
            # major * 10 + minor, major > 5 || minor > 2: one question
            continue
        last = match.end()
        attrs: dict[str, AttrValue] = {"text": match.group()[:80]}
        yield _pattern(file, "capability-compare", match.start(), match.end(), attrs)


def _std_calls(file: CxxFile) -> Iterator[Evidence]:
    if "clamp" not in file.words:
        return
    for match in _STD_CALL.finditer(file.code):
        if file.on_device(match.start()):
            yield _pattern(
                file, "std-call-in-device", match.start(), match.end() - 1, {"name": match.group(1)}
            )


def _fragments(file: CxxFile) -> Iterator[Evidence]:
    """``for (i < 8) frag.x[i]``: how many elements a lane holds is fixed in the source."""
    if "fragment" not in file.words:
        return
    names = {m.group(1) for m in _FRAGMENT.finditer(file.code)}
    for match in _ELEMENT.finditer(file.code):
        if match.group(1) not in names:
            continue
        around = file.code[max(0, match.start() - 160) : match.start()]
        loop = re.search(r"for[ \t]*\([^;]*;[^;]*<[ \t]*([\w.:\[\]]+)[^;]*;[^)]*\)[^;}]*$", around)
        if loop is None or "num_elements" not in loop.group(1):
            yield _pattern(file, "fragment-elements", match.start(), match.end())


def _rtc(file: CxxFile) -> Iterator[Evidence]:
    included = any(d.word == "include" for d in file.directives)
    if included:
        return
    for pattern, name in ((_STD_TRAIT, "std-name-in-rtc"), (_FIXED_WIDTH, "fixed-width-type-in-rtc")):
        for match in pattern.finditer(file.code):
            yield _pattern(file, name, match.start(), match.end(), {"name": match.group()})
