"""CMake files: languages, packages, variables, properties, options, libraries, fetched sources."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from portaudit.analyze import flags
from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn, regions
from portaudit.analyze.cmakewords import CMakeCommand, cmake_commands
from portaudit.analyze.indexes import urls
from portaudit.analyze.words import Frame, Word, frame_of, joined, place, split_at, word_set
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind, Vocabulary
from portaudit.model.places import Skip

_VARIABLE = re.compile(
    r"(?:CMAKE_)?CUDA\w*|CUDAToolkit_\w+|NVCC\w*|CUDACXX|\w*(?:CUDA|NVCC)\w*(?:FLAGS|ARCH\w*|OPTIONS)\w*"
)
_FOUND_BY_MODULE = re.compile(
    r"\$\{((?:CMAKE_)?(?:CUDA|CUDAToolkit|CUDNN|NCCL|TENSORRT|CUTENSOR|NVML|CUPTI|NVTX)_\w*"
    r"(?:LIBRAR(?:Y|IES)|INCLUDE_DIRS?|LIBRARY_DIRS?|LIBRARY_ROOT|INCLUDE_PATH|ROOT_DIR|INCLUDE_DIRECTORIES"
    r"|LIBS?))\}",
    re.IGNORECASE,
)
_PROPERTY = re.compile(r"(?:INTERFACE_)?CUDA_[A-Z_]+")
_LANGUAGE_TEST = re.compile(r"\$<(?:COMPILE|LINK)_LANG(?:UAGE|_AND_ID):(?P<languages>[^<>]{1,80})>")
_COMPILER_VARIABLE = re.compile(r"\$\{(?:CMAKE_CUDA_COMPILER|CUDA_NVCC_EXECUTABLE|NVCC\w*)\}")
_ENVIRONMENT = re.compile(r"\$?ENV\{(\w{1,80})\}")
_GITHUB = re.compile(r"(?:gh:|github:)?nvidia/([A-Za-z0-9_.-]{1,60}?)(?:@\S*|#\S*)?$", re.IGNORECASE)
_ROCM_PACKAGE = re.compile(r"hip\w*|HIP|roc[a-z]+|rccl|miopen|ROCM", re.IGNORECASE)
_ROCM_WORD = re.compile(r"COMPILE_LANGUAGE:HIP|\bhip::|\broc::|CMAKE_HIP_|\bLANGUAGE\s+HIP\b")
_TARGET_COMMAND = re.compile(r"target_\w+|add_(?:library|executable)|cuda_add_\w+|set_target_properties")
_TAKES_FOLDERS = word_set(
    "include_directories target_include_directories link_directories target_link_directories set list "
    "link_libraries target_link_libraries"
)
_READS_OPTIONS = word_set(
    "target_compile_options add_compile_options target_link_options add_link_options set list string "
    "set_target_properties set_property set_source_files_properties cuda_add_library cuda_add_executable "
    "cuda_compile "
    "cuda_compile_ptx cuda_compile_fatbin target_compile_definitions add_definitions torch_cuda_arch_list"
)


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a CMake file, in order."""
    listed = list(cmake_commands(text.text))
    frame = frame_of(text, vocabulary)
    frame = msgspec.structs.replace(
        frame,
        regions=regions(_turns(listed, text), _knows_rocm(listed)),
        assigned=frozenset(c.arguments[0].text for c in listed if c.arguments and c.name in _ASSIGNING),
    )
    found = [evidence for command in listed for evidence in _command(command, frame)]
    yield from sorted(found, key=place)


_ASSIGNING = word_set("set find_library find_path find_program find_file option")


def _turns(listed: Sequence[CMakeCommand], text: Text) -> Iterator[Turn]:
    # What returns from a function has left the function only.
    steps = {"if": "if", "elseif": "elif", "else": "else", "endif": "end", "return": "stop"}
    steps |= {"function": "if", "macro": "if", "endfunction": "end", "endmacro": "end"}
    for command in listed:
        step = steps.get(command.name)
        if step is not None:
            condition = " ".join(a.text for a in command.arguments) if command.name.endswith("if") else ""
            yield Turn(step, command.start, command.end, condition, text.place(command.start)[0])


def _knows_rocm(listed: Sequence[CMakeCommand]) -> bool:
    """Whether the file itself has a HIP side."""
    for command in listed:
        first = command.arguments[0].text if command.arguments else ""
        if command.name in ("project", "enable_language") and any(a.text == "HIP" for a in command.arguments):
            return True
        if command.name == "find_package" and _ROCM_PACKAGE.fullmatch(first):
            return True
        if command.name.startswith(("hip_add_", "rocm_")):
            return True
        if any(_ROCM_WORD.search(a.text) for a in command.arguments):
            return True
    return False


def _command(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    first = command.arguments[0].text if command.arguments else ""
    if _TARGET_COMMAND.fullmatch(command.name) and first:
        frame = frame.within(f"target:{first}")
    handler = _HANDLERS.get(command.name)
    if handler is not None:
        yield from handler(command, frame)
    elif command.name.startswith(("cuda_", "rapids_", "cudatoolkit_", "nvcc_")):
        yield _said(command.name, command, frame, value=joined(command.arguments))
    if command.name in _READS_OPTIONS:
        yield from _options(command, frame)
    yield from _variables_read(command, frame)
    if command.name in _TAKES_FOLDERS and first not in _TOOLKIT_HINTS:
        yield from flags.toolkit_folder(command.arguments, frame)


_TOOLKIT_HINTS = word_set("CUDA_TOOLKIT_ROOT_DIR CUDAToolkit_ROOT CMAKE_CUDA_COMPILER CUDA_HOME CUDA_PATH")


def _said(
    name: str, command: CMakeCommand, frame: Frame, until: Word | None = None, **attrs: AttrValue | None
) -> Evidence:
    """Evidence that begins at the command itself."""
    end = (until or command).end
    return frame.evidence(EvidenceKind.COMMAND, name, command.start, end, **attrs)


def _project(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    for word in command.arguments[1 if command.name == "project" else 0 :]:
        if word.text == "CUDA":
            yield _said(f"{command.name}(CUDA)", command, frame, word)
            return


def _find_package(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    if command.arguments:
        package, *rest = command.arguments
        options = {a.text for a in rest}
        yield _said(
            f"find_package({package.text})",
            command,
            frame,
            package,
            value=joined(rest) or None,
            required=True if "REQUIRED" in options else None,
            quiet=True if "QUIET" in options else None,
        )


def _set(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """``set``, and ``list`` or ``string`` that append to a variable."""
    arguments = command.arguments
    if command.name in ("list", "string"):
        if not arguments or arguments[0].text not in ("APPEND", "PREPEND", "INSERT"):
            return
        arguments = arguments[1:]
    if not arguments:
        return
    name, values = arguments[0].text, arguments[1:]
    if environment := _ENVIRONMENT.fullmatch(name):
        if environment.group(1) in frame.vocabulary.env:
            yield frame.evidence(
                EvidenceKind.ENV,
                environment.group(1),
                command.start,
                command.end,
                write=True,
                value=joined(values),
            )
    elif "LANGUAGES" in name.upper() and any(v.text == "CUDA" for v in values):
        yield _said("project(CUDA)", command, frame, variable=name)
    elif _VARIABLE.fullmatch(name) and values:
        yield _said(name, command, frame, value=joined(values), variable=True)
    elif name in ("CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER") and values and "nvcc" in values[0].text:
        yield frame.evidence(
            EvidenceKind.TOOL, "nvcc", command.start, command.end, role="compiler", variable=name
        )


def _properties(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """CUDA properties of targets and sources, and sources that are declared CUDA."""
    words = command.arguments
    for index, word in enumerate(words):
        value = words[index + 1].text if index + 1 < len(words) else ""
        if word.text == "LANGUAGE" and value == "CUDA":
            yield frame.evidence(EvidenceKind.COMMAND, "LANGUAGE CUDA", word.start, words[index + 1].end)
        elif _PROPERTY.fullmatch(word.text) and index:
            end = words[index + 1].end if value else word.end
            yield frame.evidence(EvidenceKind.COMMAND, word.text, word.start, end, value=value, property=True)


def _features(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    for word in command.arguments[1:]:
        if word.text.startswith("cuda_std_"):
            yield frame.evidence(EvidenceKind.COMMAND, "cuda_std", word.start, word.end, value=word.text)


def _link(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    start = 1 if command.name.startswith("target_") else 0
    yield from flags.libraries(_flattened(command.arguments[start:], frame), frame, bare=True)


def _find_file(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """``find_library(CUDNN cudnn)`` and ``find_program(NVCC nvcc)``."""
    for word in command.arguments[1:]:
        if word.text in ("PATHS", "HINTS", "DOC", "PATH_SUFFIXES", "ENV"):
            return
        if command.name == "find_program" and word.text in frame.vocabulary.tools:
            yield frame.evidence(EvidenceKind.TOOL, word.text, command.start, word.end, probe=True)
            return
        if command.name == "find_library":
            found = list(flags.libraries([word], frame, bare=True))
            if found:
                yield _relocated(found[0], command, word, frame)
                return


def _relocated(evidence: Evidence, command: CMakeCommand, word: Word, frame: Frame) -> Evidence:
    return msgspec.structs.replace(evidence, span=frame.text.span(command.start, word.end))


def _process(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """Tools that are run while configuring or building."""
    words = command.arguments
    for index, word in enumerate(words[1:], 1):
        if words[index - 1].text != "COMMAND":
            continue
        name = word.text.rsplit("/", 1)[-1]
        if _COMPILER_VARIABLE.fullmatch(word.text):
            name = "nvcc"
        if name in frame.vocabulary.tools:
            rest = words[index + 1 :]
            yield frame.evidence(EvidenceKind.TOOL, name, word.start, word.end, args=joined(rest) or None)
            yield from flags.nvcc_options(rest, frame, nvcc=name == "nvcc")


def _definitions(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    words = [
        word if word.text.startswith("-D") else Word(f"-D{word.text}", word.start, word.end)
        for word in command.arguments
    ]
    yield from flags.definitions(words, frame)


def _fetch(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """Sources that are downloaded while configuring."""
    for word in command.arguments:
        if "://" in word.text:
            yield from urls(word.text, word.start, frame, "fetch")
        elif match := _GITHUB.fullmatch(word.text):
            name = match.group(1).removesuffix(".git").lower()
            yield frame.evidence(
                EvidenceKind.INDEX, f"nvidia-source:{name}", word.start, word.end, url=word.text, role="fetch"
            )


def _include(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    for word in command.arguments[:1]:
        name = word.text.rsplit("/", 1)[-1].removesuffix(".cmake")
        if name in ("FindCUDA", "select_compute_arch", "rapids-cuda", "rapids-cmake", "rapids-cpm"):
            yield _said(f"include({name})", command, frame)


def _options(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """nvcc options, with the word whether a test of the language stands before them."""
    name = command.arguments[0].text if command.arguments else ""
    if command.name in ("list", "string"):
        if name not in ("APPEND", "PREPEND", "INSERT") or len(command.arguments) < 2:
            return
        name = command.arguments[1].text
    for_nvcc = command.name.startswith("cuda_") or bool(_VARIABLE.fullmatch(name) and "FLAGS" in name.upper())
    plain = _flattened([a for a in command.arguments if "$<" not in a.text], frame)
    yield from flags.nvcc_options(plain, frame, nvcc=for_nvcc)
    tested = [a for a in command.arguments if "$<" in a.text]
    for argument in tested:
        words = _flattened([argument], frame)
        languages = [m.group("languages").split(",") for m in _LANGUAGE_TEST.finditer(argument.text)]
        cuda = any("CUDA" in names and "HIP" not in names for names in languages)
        found = list(flags.nvcc_options(words, frame, nvcc=cuda, **({"tested": "CUDA"} if cuda else {})))
        yield from found
        if cuda and not found and command.name.startswith(("target_", "add_", "set_")):
            yield frame.evidence(
                EvidenceKind.COMMAND,
                "COMPILE_LANGUAGE:CUDA",
                argument.start,
                argument.end,
                value=argument.text,
            )


def _flattened(arguments: Sequence[Word], frame: Frame) -> list[Word]:
    """Words inside arguments: quoted lists and generator expressions taken apart."""
    words: list[Word] = []
    for argument in arguments:
        source = frame.text.text[argument.start : argument.end]
        for piece in split_at(source, argument.start, " \t\r\n;\"'<>"):
            text = piece.text
            while match := re.match(r"(?:\d:|:|\$|SHELL:)+(?=-)", text):
                text = text[match.end() :]
            words.append(Word(text, piece.end - len(text), piece.end))
    return words


def _variables_read(command: CMakeCommand, frame: Frame) -> Iterator[Evidence]:
    """The first variable that only a CUDA module sets, and environment variables."""
    if command.name in ("message", "if", "elseif", "else", "endif", "function", "macro", "foreach", "option"):
        return
    for word in command.arguments:
        match = _FOUND_BY_MODULE.search(word.text[:2000])
        if match and match.group(1) not in frame.assigned:
            yield _said(match.group(1), command, frame, word, read=True)
            break
    for word in command.arguments[1:] if command.name == "set" else command.arguments:
        for match in _ENVIRONMENT.finditer(word.text[:2000]):
            if match.group(1) in frame.vocabulary.env:
                yield frame.evidence(EvidenceKind.ENV, match.group(1), word.start, word.end, write=False)
                return


_HANDLERS: dict[str, Callable[[CMakeCommand, Frame], Iterator[Evidence]]] = {
    "project": _project,
    "enable_language": _project,
    "check_language": _project,
    "find_package": _find_package,
    "find_dependency": _find_package,
    "set": _set,
    "list": _set,
    "string": _set,
    "set_target_properties": _properties,
    "set_source_files_properties": _properties,
    "set_property": _properties,
    "target_compile_features": _features,
    "target_link_libraries": _link,
    "link_libraries": _link,
    "find_library": _find_file,
    "find_program": _find_file,
    "execute_process": _process,
    "add_custom_command": _process,
    "add_custom_target": _process,
    "add_definitions": _definitions,
    "add_compile_definitions": _definitions,
    "target_compile_definitions": _definitions,
    "fetchcontent_declare": _fetch,
    "externalproject_add": _fetch,
    "cpmaddpackage": _fetch,
    "cpmfindpackage": _fetch,
    "include": _include,
}
