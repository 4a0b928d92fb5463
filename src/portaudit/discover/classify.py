"""Name, suffix, shebang -> Kind: the only place that maps names to kinds."""

import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from portaudit.model.places import Kind

_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys((".cu", ".cuh"), Kind.CUDA),
    **dict.fromkeys(
        (
            *(
                ".c",
                ".cc",
                ".cpp",
                ".cxx",
                ".c++",
                ".h",
                ".hh",
                ".hpp",
                ".hxx",
                ".h++",
                ".inl",
                ".inc",
                ".ipp",
                ".tpp",
            ),
            *(".txx", ".tcc", ".impl", ".ixx", ".cppm", ".m", ".mm"),
        ),
        Kind.CXX,
    ),
    **dict.fromkeys((".hip", ".hip.h"), Kind.HIP),
    ".ptx": Kind.PTX,
    **dict.fromkeys((".py", ".pyi", ".pyw"), Kind.PYTHON),
    **dict.fromkeys((".pyx", ".pxd", ".pxi"), Kind.CYTHON),
    ".ipynb": Kind.NOTEBOOK,
    ".cmake": Kind.CMAKE,
    **dict.fromkeys((".mk", ".mak", ".make"), Kind.MAKE),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm", ".pbs", ".lsf"), Kind.SHELL),
    ".dockerfile": Kind.DOCKERFILE,
    **dict.fromkeys((".yml", ".yaml", ".tf", ".tfvars", ".hcl"), Kind.YAML),
}

# No name pattern below ends like these, so most files of a GPU tree are settled by one look-up.
_SETTLED = frozenset(
    suffix for suffix, kind in _SUFFIXES.items() if kind not in (Kind.YAML, Kind.CMAKE, Kind.MAKE)
)

# Read from top to bottom; the first that fits the file name decides, before any suffix.
_NAMES: tuple[tuple[str, Kind], ...] = (
    ("cmakelists.txt", Kind.CMAKE),
    ("*.cmake.in", Kind.CMAKE),
    ("makefile", Kind.MAKE),
    ("makefile.*", Kind.MAKE),
    ("gnumakefile", Kind.MAKE),
    ("dockerfile", Kind.DOCKERFILE),
    ("dockerfile.*", Kind.DOCKERFILE),
    ("containerfile", Kind.DOCKERFILE),
    ("containerfile.*", Kind.DOCKERFILE),
    ("requirements*.txt", Kind.REQUIREMENTS),
    ("requirements*.in", Kind.REQUIREMENTS),
    ("requirements*.lock", Kind.REQUIREMENTS),
    ("*requirements.txt", Kind.REQUIREMENTS),
    ("*requirements.in", Kind.REQUIREMENTS),
    ("constraints*.txt", Kind.REQUIREMENTS),
    ("pyproject.toml", Kind.PYPROJECT),
    ("setup.cfg", Kind.SETUP_CFG),
    ("environment*.yml", Kind.CONDA),
    ("environment*.yaml", Kind.CONDA),
    ("*environment.yml", Kind.CONDA),
    ("*environment.yaml", Kind.CONDA),
    ("conda*.yml", Kind.CONDA),
    ("conda*.yaml", Kind.CONDA),
    ("singularity", Kind.DOCKERFILE),
    ("singularity.*", Kind.DOCKERFILE),
    ("apptainer.def", Kind.DOCKERFILE),
    (".env", Kind.SHELL),
    (".env.*", Kind.SHELL),
    (".envrc", Kind.SHELL),
    ("devcontainer.json", Kind.YAML),
    ("daemon.json", Kind.YAML),
    ("uv.lock", Kind.LOCK),
    ("poetry.lock", Kind.LOCK),
    ("pdm.lock", Kind.LOCK),
    ("pipfile", Kind.LOCK),
    ("pipfile.lock", Kind.LOCK),
    ("pylock*.toml", Kind.LOCK),
)

_IN_FOLDERS: tuple[tuple[str, str, Kind], ...] = (
    ("requirements", ".txt", Kind.REQUIREMENTS),
    ("requirements", ".in", Kind.REQUIREMENTS),
)

_SHEBANG = re.compile(rb"#![^\n]{0,120}?\b(python[0-9.]*|bash|sh|zsh|ksh|dash)\b")


def classify(path: str, head: bytes = b"") -> Kind:
    """The kind of a file by its POSIX path, and by its first bytes where the name says nothing."""
    pure = PurePosixPath(path)
    name = pure.name.lower()
    suffix = pure.suffix.lower()
    if suffix in _SETTLED and "." not in name[: -len(suffix)]:
        return _SUFFIXES[suffix]
    for pattern, kind in _NAMES:
        if fnmatchcase(name, pattern):
            return kind
    for folder, ending, kind in _IN_FOLDERS:
        if pure.parent.name.lower() == folder and name.endswith(ending):
            return kind
    if name.endswith(".in") and "." in name[:-3]:
        # configure-time templates: kernel.cu.in, config.h.in
        name = name[:-3]
    kind_by_suffix = _SUFFIXES.get(PurePosixPath(name).suffix)
    if kind_by_suffix is not None:
        return kind_by_suffix
    shebang = _SHEBANG.match(head)
    if shebang:
        return Kind.PYTHON if shebang.group(1).startswith(b"python") else Kind.SHELL
    return Kind.OTHER


def needs_head(path: str) -> bool:
    """Whether the first bytes can change the kind."""
    return "." not in PurePosixPath(path).name.lstrip(".") and classify(path) is Kind.OTHER
