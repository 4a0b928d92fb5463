"""Batch systems and module systems: device requests, node features, loaded modules."""

import re
from collections.abc import Iterator, Sequence

from portaudit.analyze.words import Frame, Word, option
from portaudit.model.evidence import Evidence, EvidenceKind

_SCHEDULERS = frozenset({"srun", "sbatch", "salloc", "qsub", "bsub", "flux"})
_DIRECTIVE = re.compile(r"^[ \t]*#(SBATCH|PBS|BSUB|OAR|COBALT|\$)[ \t]+(-[^\r\n]{1,400})", re.MULTILINE)
_REQUESTS = (
    ("--gres", "--gres"),
    ("--gpus", "--gpus"),
    ("-G", "--gpus"),
    ("--gpus-per-node", "--gpus"),
    ("--gpus-per-task", "--gpus"),
    ("--gpus-per-socket", "--gpus"),
    ("--constraint", "--constraint"),
    ("-C", "--constraint"),
    ("--partition", "--partition"),
    ("-p", "--partition"),
    ("-gpu", "-gpu"),
    ("-l", "-l"),
    ("-R", "-R"),
    ("-q", "--partition"),
    ("--container-image", "--container-image"),
)
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,40}")
_PARTS = re.compile(r"[A-Za-z]+[0-9]+[A-Za-z]*|[A-Za-z]+")


def is_scheduler(name: str) -> bool:
    """Whether a command hands a job to a batch system."""
    return name in _SCHEDULERS


def scheduler_options(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Device requests among options: a key for each vendor's product named in them."""
    index = 0
    while index < len(words):
        start, after = words[index].start, index + 1
        for name, canonical in _REQUESTS:
            value, past = option(words, index, name)
            if past != index:
                after = past
                if value is not None:
                    yield from products(value.text, start, value.end, frame, canonical)
                break
        index = after


def directives(source: str, offset: int, frame: Frame) -> Iterator[Evidence]:
    """``#SBATCH``, ``#PBS`` and ``#BSUB`` lines."""
    for match in _DIRECTIVE.finditer(source):
        begin = offset + match.start(2)
        words = [
            Word(w.group().strip("\"'"), begin + w.start(), begin + w.end())
            for w in re.finditer(
                r"\"[^\"]{0,300}\"|'[^']{0,300}'|[^\s\"']+(?:\"[^\"]{0,300}\")?", match.group(2)
            )
        ]
        yield from scheduler_options(words, frame)


def products(text: str, start: int, end: int, frame: Frame, role: str) -> Iterator[Evidence]:
    """The first name in a label, feature or request that keys or rules know as a vendor's product."""
    for name in product_names(text):
        if name in frame.vocabulary.keys or name in frame.vocabulary.watched:
            yield frame.evidence(EvidenceKind.KEY, name, start, end, value=text, role=role)
            return


def product_names(text: str) -> list[str]:
    """Lower-case words of a label, whole and in parts: ``linux-a100-80gb`` has ``a100``."""
    names: list[str] = []
    for token in _TOKEN.findall(text[:400]):
        lower = token.lower()
        names.append(lower)
        for piece in lower.split("-"):
            names.append(piece)
            names.extend(_PARTS.findall(piece))
            if piece.startswith("nvidia"):
                names.extend(("nvidia", piece.removeprefix("nvidia")))
    return list(dict.fromkeys(names))


def modules(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """``module load cuda/12.4`` and ``spack load cuda``: evidence for each module, named ``module:cuda``."""
    loading = words[0].text == "ml" or any(
        w.text in ("load", "add", "swap", "switch", "install") for w in words[1:3]
    )
    if not loading:
        return
    for word in words[1:]:
        name = re.split(r"[/@%+ ]", word.text.lower(), maxsplit=1)[0]
        if word.text.startswith("-") or name in ("load", "add", "swap", "switch", "install", ""):
            continue
        yield frame.evidence(EvidenceKind.COMMAND, f"module:{name}", word.start, word.end, value=word.text)
        if "+cuda" in word.text:
            yield frame.evidence(EvidenceKind.COMMAND, "spack:+cuda", word.start, word.end, value=word.text)
