"""Lines and cells of a notebook that are not Python: commands, installs, CUDA cells, written files."""

import re
from collections.abc import Iterator

from portaudit.analyze import shell
from portaudit.analyze.base import Text
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, is_watched_env
from portaudit.model.evidence import Evidence, EvidenceKind, Vocabulary

MAGIC = re.compile(r"^[ \t]*(?:[\w, \t]{1,60}=[ \t]*)?[!%]{1,2}[ \t]*[\w{]", re.MULTILINE)
_LINE = re.compile(
    r"^[ \t]*(?:(?:[A-Za-z_][\w, \t]{0,60}=[ \t]*)?(!{1,2})|(%)(?!%))[ \t]*((?:[^\\\n]|\\[^\n]|\\\n)*)$",
    re.MULTILINE,
)
_CELL = re.compile(r"\s*%%[ \t]*(\w[\w.-]*)[ \t]*([^\n]*)")
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "system", "sx", "!"})
_CUDA_CELLS = frozenset(
    {"cuda", "cu", "nvcc", "cuda_run", "cuda_group_save", "cuda_group_run", "cu_run", "nvcc_run"}
)
_PYTHON_CELLS = frozenset(
    {
        "time",
        "timeit",
        "capture",
        "prun",
        "python",
        "python3",
        "pypy",
        "debug",
        "memit",
        "mprun",
        "skip",
        "px",
    }
)
_CUDA_FILES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".c")
_EXTENSIONS = frozenset({"nvcc4jupyter", "nvcc_plugin", "cudf.pandas", "cuml.accel"})
_PIP = re.compile(r"(?:pip3?|conda|mamba|uv|micromamba)\b")
_INTERPRETER = re.compile(r"\{sys\.executable\}[ \t]+-m[ \t]+")
_NOT_LINE_END = re.compile(r"[^\n]")
Offsets = tuple[int, int]


def commands(
    code: Text, bounds: list[Offsets], language: str, vocabulary: Vocabulary
) -> tuple[str, list[Evidence]]:
    """The text with everything that is not Python blanked out, and the evidence of that part."""
    plain = list(code.text)
    found: list[Evidence] = []
    for start, end in bounds:
        if "c++" in language or language == "cuda":
            found.extend(_cuda(code, start, end, vocabulary))
            continue
        cell = _CELL.match(code.text, start, end)
        begin = start
        if cell is not None:
            name, rest = cell.group(1).lower(), cell.group(2)
            found.extend(_cell(code, name, rest, (cell.end(), end), vocabulary))
            _blank(plain, start, cell.end() if _stays_python(name, rest) else end)
            begin = cell.end() if _stays_python(name, rest) else end
        for match in _LINE.finditer(code.text, begin, end):
            found.extend(_line(code, match, vocabulary))
            _blank(plain, match.start(), match.end())
    return "".join(plain), found


def _blank(plain: list[str], start: int, end: int) -> None:
    for index in range(start, min(end, len(plain))):
        if plain[index] != "\n":
            plain[index] = " "


def _stays_python(name: str, rest: str) -> bool:
    return name in _PYTHON_CELLS or (name == "writefile" and rest.strip().endswith(".py"))


def _cell(code: Text, name: str, rest: str, inside: Offsets, vocabulary: Vocabulary) -> Iterator[Evidence]:
    start, end = inside
    target = rest.strip().split(" ")[-1] if rest.strip() else ""
    if name in _CUDA_CELLS or (name in ("writefile", "file") and target.endswith(_CUDA_FILES)):
        yield from _cuda(code, start, end, vocabulary)
    elif (
        name in _SHELLS
        or (name == "script" and rest.split(" ")[0] in _SHELLS)
        or target.endswith((".sh", ".bash"))
    ):
        yield from shell.script(code.text[start:end], start, Frame(code, vocabulary))


def _cuda(code: Text, start: int, end: int, vocabulary: Vocabulary) -> Iterator[Evidence]:
    from portaudit.analyze.cuda import analyze_embedded

    yield from analyze_embedded(code, start, end, vocabulary)


def _line(code: Text, match: "re.Match[str]", vocabulary: Vocabulary) -> Iterator[Evidence]:
    body, start = match.group(3), match.start(3)
    frame = Frame(code, vocabulary)
    if match.group(1):
        if interpreter := _INTERPRETER.match(body):
            body, start = body[interpreter.end() :], start + interpreter.end()
        yield from shell.script(body, start, frame)
        return
    name, _, rest = body.partition(" ")
    rest_at = start + len(body) - len(rest)
    if _PIP.match(body):
        yield from shell.script(body, start, frame)
    elif name in ("load_ext", "reload_ext") and rest.strip() in _EXTENSIONS:
        at = rest_at + len(rest) - len(rest.lstrip())
        kind = EvidenceKind.IMPORT
        yield code.evidence(kind, rest.strip(), at, at + len(rest.strip()), attrs={"magic": True})
    elif name in ("env", "set_env"):
        setting = re.match(r"\s*(\w+)[= \t]+(.*)", rest)
        if setting and is_watched_env(setting.group(1), vocabulary):
            word = Word(rest.strip(), rest_at, rest_at + len(rest))
            yield from variable(setting.group(1), setting.group(2), word, frame)
