"""Kernel launches with triple angle brackets, also in macros, as evidence."""

import re
from collections.abc import Iterator

from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.cxxnames import occurrences
from portaudit.analyze.lexical import arguments, before_template
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_KERNEL_NAME = re.compile(r"([A-Za-z_][\w:]*|\))[ \t\r\n]*$")
_DECLARATION = re.compile(r"\b(dim3|int|unsigned|size_t|uint32_t|auto)[ \t]+\Z")
_CONFIG_LIMIT = 4_000
_EXTENT = re.compile(r"dim3[ \t]*\(([^;]*)\)")
_SET = re.compile(r"(?:[ \t]*\.[ \t]*[xyz])?[ \t]*(?:[-+*/|&]?=(?!=)|[({])")
_LOOK_BACK = 4_000


def launch_evidence(file: CxxFile) -> Iterator[Evidence]:
    """One evidence a launch: kernel, block, threads a block, shared bytes, stream."""
    code = file.code
    at = code.find("<<<")
    while at >= 0:
        end = code.find(">>>", at, at + _CONFIG_LIMIT)
        if end >= 0 and ";" not in code[at:end]:
            yield _launch(file, at, end)
        at = code.find("<<<", at + 3)


def _launch(file: CxxFile, at: int, end: int) -> Evidence:
    code = file.code
    begin = before_template(code, at)
    match = _KERNEL_NAME.search(code[max(0, begin - 200) : begin])
    name = match.group(1) if match and match.group(1) != ")" else "?"
    start = begin - (len(match.group()) if match else 0)
    bracketed = f"({code[at + 3 : end]})"
    spans, _ = arguments(bracketed, 0)
    parts = [bracketed[a:b].strip() for a, b in spans]
    attrs: dict[str, AttrValue] = {"config": len(parts)}
    if file.in_macro(at):
        attrs["in_macro"] = True
    for index, (label, number) in enumerate(
        (("block", "threads"), ("shared", "shared_bytes"), ("stream", ""))
    ):
        if len(parts) <= index + 1:
            break
        text = parts[index + 1]
        attrs[label] = text[:100]
        if label == "block":
            attrs |= _shape(file, text, start)
        value = _number(file, text, start) if number else None
        if value is not None and 0 <= value < 1 << 31:
            attrs[number] = value
    return file.evidence(EvidenceKind.LAUNCH, name, max(0, start), end + 3, attrs)


def _number(file: CxxFile, text: str, at: int) -> int | None:
    """A constant, or the value of a local variable that is set once before the launch."""
    value = file.constants.value(text)
    if value is not None or not text.isidentifier():
        return value
    given = _given(file, text, at)
    return file.constants.value(given) if given else None


def _shape(file: CxxFile, text: str, at: int) -> dict[str, AttrValue]:
    """Width and height of a block of two or more dimensions, as far as they are constant: ``dim3(32, 4)``."""
    extent = _EXTENT.fullmatch(_given(file, text, at) if text.isidentifier() else text)
    spans = arguments(f"({extent.group(1)})", 0)[0] if extent else []
    if extent is None or len(spans) < 2:
        return {}
    values = [file.constants.value(f"({extent.group(1)})"[a:b]) for a, b in spans[:2]]
    return {name: v for name, v in zip(("block_x", "block_y"), values, strict=True) if v is not None}


def _given(file: CxxFile, text: str, at: int) -> str:
    """What a local variable is set to, once, before an offset; empty when that isn't clear."""
    function = file.functions.at(at)
    begin = max(function.body if function else 0, at - _LOOK_BACK)
    before = file.code[begin:at]
    found = None
    for _, end in occurrences(before, text):
        match = _SET.match(before, end)
        if match and found is not None:
            return ""
        found = found or match
    if found is None:
        return ""
    declared = _DECLARATION.search(before, 0, found.start() - len(text))
    if declared is None:
        return ""
    given = before[found.end() : found.end() + 200].partition(";")[0].strip()
    if found.group().endswith(("(", "{")) or given.startswith("{"):
        given = given.lstrip("{").rstrip(")}")
    return f"dim3({given})" if declared.group(1) == "dim3" and "dim3" not in given else given
