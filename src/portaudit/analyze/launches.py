"""Kernel launches with triple angle brackets, also in macros, as evidence."""

import re
from collections.abc import Iterator

from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.lexical import arguments, before_template
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_KERNEL_NAME = re.compile(r"([A-Za-z_][\w:]*|\))[ \t\r\n]*$")
_CONFIG_LIMIT = 4_000


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
        value = file.constants.value(text) if number else None
        if value is not None and 0 <= value < 1 << 31:
            attrs[number] = value
    return file.evidence(EvidenceKind.LAUNCH, name, max(0, start), end + 3, attrs)
