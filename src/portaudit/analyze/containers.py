"""Container images and the options that hand a device to a container, for shell, compose and CI files."""

import re
from collections.abc import Iterator, Sequence

from portaudit.analyze.words import Frame, Word, is_watched_env, option, word_set
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_IMAGE = re.compile(
    r"(?:docker://|oras://|library://)?"
    r"((?:[a-z0-9*](?:[a-z0-9.-]{0,80}[a-z0-9])?(?::\d{2,5})?/)?(?:[a-z0-9_.*-]{1,100}/){0,5}[a-z0-9_.*-]{1,100})"
    r"(?::([\w.${}*-]{1,128}))?(?:@(?:sha256:[0-9a-f]{6,64}))?$",
    re.IGNORECASE,
)
_ENGINES = frozenset({"docker", "podman", "nerdctl", "nvidia-docker", "docker-compose", "ctr", "crictl"})
_SINGULARITY = frozenset({"singularity", "apptainer"})
_WITH_VALUE = word_set(
    "-e --env -v --volume --mount --name -w --workdir -u --user -p --publish --network --net --ipc "
    "--shm-size --ulimit --entrypoint -h --hostname --memory -m --cpus --cpuset-cpus --env-file "
    "--label -l --restart --platform --pull --cap-add --security-opt --device --gpus --runtime "
    "--group-add --add-host --pid --log-driver --log-opt --annotation --hooks-dir --tmpfs --dns -a "
    "--attach --build-arg -f --file -t --tag --target -B --bind --pwd --home --overlay --fakeroot-path "
    "--expose --userns --uts --cgroupns --storage-opt --stop-signal --sysctl"
)


def image_name(reference: str) -> tuple[str, dict[str, AttrValue]] | None:
    """The name that tables know an image by, and its attributes; None when the text is no image reference."""
    text = reference.strip().strip("\"'")
    match = _IMAGE.match(text) if len(text) < 400 else None
    if match is None:
        return None
    repository, tag = match.group(1), match.group(2) or ""
    for prefix in ("docker.io/", "index.docker.io/", "registry-1.docker.io/", "registry.hub.docker.com/"):
        repository = repository.removeprefix(prefix)
    repository = repository.removeprefix("library/")
    first, slash, _ = repository.partition("/")
    registry = first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"
    attrs: dict[str, AttrValue] = {"registry": registry}
    if tag:
        attrs["tag"] = tag
    return (f"{repository}:{tag}" if tag else repository), attrs


def image(
    reference: str, start: int, end: int, frame: Frame, **attrs: AttrValue | None
) -> Iterator[Evidence]:
    """Evidence for an image reference, nothing when the text is none."""
    named = image_name(reference)
    if named is not None:
        yield frame.evidence(EvidenceKind.IMAGE, named[0], start, end, **{**named[1], **attrs})


def device_options(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Options of ``docker run``, also as a CI file gives them: devices, runtime, variables, folders."""
    index = 0
    while index < len(words):
        start, after = words[index].start, index + 1
        for names, handle in _OPTIONS:
            value, past = option(words, index, *names)
            if past != index:
                after = past
                if value is not None:
                    yield from handle(value, start, frame)
                break
        index = after


def _gpus(value: Word, start: int, frame: Frame) -> Iterator[Evidence]:
    yield frame.evidence(EvidenceKind.FLAG, "--gpus", start, value.end, value=value.text)


def _runtime(value: Word, start: int, frame: Frame) -> Iterator[Evidence]:
    if "nvidia" in value.text.lower():
        yield frame.evidence(EvidenceKind.FLAG, "--runtime=nvidia", start, value.end, value=value.text)


def _device(value: Word, start: int, frame: Frame) -> Iterator[Evidence]:
    if "nvidia" in value.text.lower():
        yield frame.evidence(EvidenceKind.FLAG, "--device=nvidia", start, value.end, value=value.text)


def _variable(value: Word, start: int, frame: Frame) -> Iterator[Evidence]:
    name, equal, text = value.text.partition("=")
    if is_watched_env(name, frame.vocabulary):
        given = text if equal else None
        yield frame.evidence(
            EvidenceKind.ENV, name, value.start, value.end, write=True, value=given, role="container"
        )


def _folder(value: Word, start: int, frame: Frame) -> Iterator[Evidence]:
    host = value.text.partition(":")[0]
    if re.search(r"/nvidia|/cuda|nvidia-|libnvidia|libcuda", host, re.IGNORECASE) and host.startswith("/"):
        yield frame.evidence(
            EvidenceKind.STRING, "nvidia-host-path", value.start, value.end, value=value.text, role="volume"
        )


_OPTIONS = (
    (("--gpus", "--gpu", "-gpus"), _gpus),
    (("--runtime",), _runtime),
    (("--device", "--add-device"), _device),
    (("-e", "--env"), _variable),
    (("-v", "--volume", "-B", "--bind"), _folder),
)


def container_command(words: Sequence[Word], frame: Frame) -> tuple[list[Evidence], int]:
    """Evidence of a container command and where the command inside the container begins."""
    tool = words[0].text.rsplit("/", 1)[-1]
    found: list[Evidence] = []
    if tool == "nvidia-docker":
        found.append(frame.evidence(EvidenceKind.TOOL, tool, words[0].start, words[0].end))
    if tool in _SINGULARITY:
        return _singularity(words, frame)
    action = next((w.text for w in words[1:3] if w.text in ("run", "create", "exec", "pull", "build")), "")
    if action in ("", "exec"):
        return found, len(words)
    found.extend(device_options(words[1:], frame))
    if action == "build":
        found.extend(_build_arguments(words, frame))
        return found, len(words)
    index = _first_operand(words, _index_of(words, action) + 1)
    if index < len(words):
        found.extend(image(words[index].text, words[index].start, words[index].end, frame))
    return found, index + 1


def is_container_tool(name: str) -> bool:
    """Whether a command runs containers."""
    return name in _ENGINES or name in _SINGULARITY


def _singularity(words: Sequence[Word], frame: Frame) -> tuple[list[Evidence], int]:
    found = [
        frame.evidence(EvidenceKind.FLAG, "--nv", w.start, w.end)
        for w in words[1:]
        if w.text in ("--nv", "--nvccli")
    ]
    action = next((w.text for w in words[1:4] if w.text in ("exec", "run", "shell", "pull", "build")), "")
    if not action:
        return found, len(words)
    index = _first_operand(words, _index_of(words, action) + 1)
    if action in ("pull", "build"):
        for word in words[index:]:
            if word.text.startswith("docker://"):
                found.extend(image(word.text, word.start, word.end, frame))
        return found, len(words)
    if index < len(words) and (
        words[index].text.startswith("docker://") or not words[index].text.endswith(".sif")
    ):
        found.extend(image(words[index].text, words[index].start, words[index].end, frame))
    return found, index + 1


def _build_arguments(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    for index in range(len(words)):
        value, past = option(words, index, "--build-arg")
        if past == index or value is None:
            continue
        name, equal, text = value.text.partition("=")
        if not equal:
            continue
        if "/" in text and (named := image_name(text)):
            yield frame.evidence(
                EvidenceKind.IMAGE, named[0], value.start, value.end, **named[1], argument=name
            )
        elif is_watched_env(name, frame.vocabulary):
            yield frame.evidence(
                EvidenceKind.ENV, name, value.start, value.end, write=True, value=text, role="build-arg"
            )


def _index_of(words: Sequence[Word], text: str) -> int:
    return next(i for i, w in enumerate(words) if w.text == text)


def _first_operand(words: Sequence[Word], index: int) -> int:
    """Index of the first word that is neither an option nor its value."""
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in _WITH_VALUE else 1
    return index
