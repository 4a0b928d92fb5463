"""URLs that decide which builds are fetched: wheel indexes, repositories, channels, vendor sources."""

import re
from collections.abc import Iterator

from portaudit.analyze.requirement import cuda_tag
from portaudit.analyze.words import Frame, Word
from portaudit.model.evidence import Evidence, EvidenceKind

_URL = re.compile(r"(?:https?|git|ssh|s3|file)(?:\+\w{2,6})?://[^\s\"'<>\\)\]},;`|]{3,400}", re.IGNORECASE)
_VENDOR_HOST = re.compile(
    r"://(?:[^/@]{0,80}@)?(?:[a-z0-9-]{1,60}\.){0,3}nvidia\.(?:com|github\.io)(?::\d+)?(?:/|$)", re.IGNORECASE
)
_WHEELS = re.compile(r"://(?:pypi|pypi\.ngc)\.nvidia\.com", re.IGNORECASE)
_ROCM = re.compile(r"rocm|repo\.radeon\.com|repo\.amd\.com", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?:(?:github|gitlab|githubusercontent)\.com|github\.io)[/:]nvidia/([A-Za-z0-9_.-]{1,80})", re.IGNORECASE
)


def index_of(url: str) -> tuple[str, str] | None:
    """Name of the evidence that a URL is, and the CUDA tag in it; None for URLs that say nothing."""
    if _ROCM.search(url):
        return None
    path = url.partition("://")[2].partition("/")[2]
    tag = cuda_tag(path)
    if _WHEELS.search(url):
        return "nvidia-wheel-index", tag
    if _VENDOR_HOST.search(url):
        return "nvidia-package-repository", tag
    if "jax_cuda_releases" in url:
        return "cuda-wheel-index", tag
    if (
        tag
        and not _SOURCE.search(url)
        and re.search(r"whl|wheel|simple|index|pip|pypi|\.html|download|release", url)
    ):
        return "cuda-wheel-index", tag
    return None


def urls(text: str, start: int, frame: Frame, role: str = "") -> Iterator[Evidence]:
    """Evidence for the URLs in a text that begins at ``start``."""
    for match in _URL.finditer(text):
        url = match.group().rstrip(".")
        begin = start + match.start()
        yield from index(url, begin, begin + len(url), frame, role)


def index(url: str, start: int, end: int, frame: Frame, role: str = "") -> Iterator[Evidence]:
    """Evidence for one URL."""
    named = index_of(url)
    if named is not None:
        yield frame.evidence(
            EvidenceKind.INDEX, named[0], start, end, url=url, tag=named[1] or None, role=role or None
        )
    elif source := _SOURCE.search(url):
        name = source.group(1).removesuffix(".git").lower()
        yield frame.evidence(
            EvidenceKind.INDEX, f"nvidia-source:{name}", start, end, url=url, role=role or None
        )


def channel(word: Word, frame: Frame) -> Iterator[Evidence]:
    """A conda channel."""
    name = word.text.partition("://")[2] or word.text
    name = name.removeprefix("conda.anaconda.org/").removeprefix("repo.anaconda.com/")
    name = name.partition("/")[0].lower()
    yield frame.evidence(EvidenceKind.INDEX, f"conda-channel:{name}", word.start, word.end, url=word.text)
