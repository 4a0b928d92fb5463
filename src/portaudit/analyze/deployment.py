"""YAML of deployments: compose, Kubernetes, Helm values and templates, CI workflows, playbooks."""

import re
from collections.abc import Callable, Iterator

import msgspec

from portaudit.analyze import containers, vendorkeys
from portaudit.analyze.base import Text
from portaudit.analyze.branches import regions, side_of
from portaudit.analyze.cmakeoptions import cache_options
from portaudit.analyze.condafile import conda_leaf
from portaudit.analyze.dockerfile import argument_list
from portaudit.analyze.hclleaves import hcl_leaves
from portaudit.analyze.indexes import urls
from portaudit.analyze.installs import requirement
from portaudit.analyze.leaves import Leaf, Malformed, Path
from portaudit.analyze.shell import script
from portaudit.analyze.templates import has_templates, masked, template_turns, with_stars
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, frame_of, place, split_at, word_set
from portaudit.analyze.yamlleaves import yaml_leaves
from portaudit.model.evidence import Confidence, Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip

_SCRIPTS = word_set(
    "run script before_script after_script commands cmd shell bash sh setup install before_install cmds "
    "test_command postCreateCommand postStartCommand onCreateCommand build_command pre_script post_script "
    "inline inlineScript entrypoint command args execute user_data before_build"
)
_ARGUMENT_LISTS = word_set("command args entrypoint test cmd")
_IMAGES = word_set(
    "image container baseImage base_image docker-image docker_image dockerImage container_image image_name "
    "imageName containerImage image_uri imageUri docker_base_image image_id initImage from"
)
_DOCKER_OPTIONS = word_set("options docker_args dockerArgs docker_options run_options extra_args runArgs")
_PACKAGE_MODULES = word_set("apt yum dnf package zypper apk apt_get")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Z0-9_a-z]{2,80}")
_ENV_ITEM = re.compile(r"([A-Z_][A-Z0-9_]{2,80})=(.{0,400})", re.DOTALL)
_CERTAIN_IMAGE = re.compile(
    r"(?:docker://)?(?:nvcr\.io/|(?:docker\.io/)?nvidia/cuda:|ghcr\.io/nvidia/)[\w./:{}$*@ -]{3,200}$"
)

_CUDA_ACTION = re.compile(r"^[\w.-]+/[\w./-]*(?:cuda|nvidia)[\w./-]*@", re.IGNORECASE)
_LINE = re.compile(r"^[ \t-]*([A-Za-z_][\w./-]{0,80})[ \t]*:[ \t]*([^\r\n#]{0,300})", re.MULTILINE)

Member = tuple[int, Leaf]


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a YAML file, in order; a template is read with its tags blanked."""
    frame = frame_of(text, vocabulary)
    source = text.text
    hcl = text.path.endswith((".tf", ".hcl", ".tfvars"))
    members, error = ([(0, leaf) for leaf in hcl_leaves(source)], None) if hcl else _read(source)
    if has_templates(source) and not hcl:
        frame = msgspec.structs.replace(frame, regions=regions(template_turns(source, text)))
        if error is not None:
            members, error = _read(masked(source))
            members = [(document, _original(leaf, source)) for document, leaf in members]
            frame = msgspec.structs.replace(frame, confidence=Confidence.MEDIUM)
    found = list(_Deployment(members, frame).run())
    if error is not None:
        line = text.place(error.offset)[0]
        told = {evidence.span.line for evidence in found}
        low = msgspec.structs.replace(frame, confidence=Confidence.LOW)
        found.extend(evidence for evidence in _lines(low) if evidence.span.line not in told)
    yield from sorted(found, key=place)
    if error is not None:
        yield Skip(text.path, "syntax", f"line {line}: {error}", whole=False)


def _read(source: str) -> tuple[list[Member], Malformed | None]:
    members: list[Member] = []
    try:
        members.extend(yaml_leaves(source))
    except Malformed as error:
        return members, error
    return members, None


def _original(leaf: Leaf, source: str) -> Leaf:
    """A scalar with its tags put back."""
    raw = source[leaf.start : leaf.end]
    return leaf._replace(text=raw.strip("\"'")) if "{{" in raw else leaf


def _lines(frame: Frame) -> Iterator[Evidence]:
    """Second try, line by line, for what the parser could not read."""
    for match in _LINE.finditer(frame.text.text):
        value = match.group(2).strip().strip("\"'")
        leaf = Leaf((match.group(1),), value, match.start(2), match.end(2), match.start(1), match.end(1))
        yield from vendorkeys.vendor_key(leaf, frame)
        if match.group(1) in _IMAGES or _CERTAIN_IMAGE.match(value):
            yield from _image(leaf, value, frame)


class _Deployment:
    """All scalars of a file, with a look-up of their neighbours."""

    def __init__(self, members: list[Member], frame: Frame) -> None:
        self.members = members
        self.frame = frame
        self.by_path = {(document, leaf.path): leaf for document, leaf in members}
        tops = {leaf.path[0] for _, leaf in members if leaf.path}
        # An environment, a lock file, a recipe.
        forms = ({"channels", "dependencies"}, {"package", "metadata"}, {"package", "build"})
        self.conda = "kind" not in tops and any(form <= tops for form in forms)
        self.rocm_groups = {g for _, leaf in members if (g := _group(leaf.path)) and side_of(g) == "rocm"}

    def run(self) -> Iterator[Evidence]:
        lists: dict[tuple[int, Path], list[Leaf]] = {}
        axes: dict[tuple[int, Path], list[Leaf]] = {}
        for document, leaf in self.members:
            if leaf.path and isinstance(leaf.path[-1], int) and leaf.key in _ARGUMENT_LISTS | _DOCKER_OPTIONS:
                lists.setdefault((document, leaf.path[:-1]), []).append(leaf)
            if "matrix" in leaf.path and not self.conda:
                axes.setdefault((document, _axis(leaf.path)), []).append(leaf)
        for document, leaf in self.members:
            frame = self._framed(document, leaf)
            if self.conda:
                yield from conda_leaf(leaf, frame)
                continue
            yield from self._leaf(document, leaf, frame)
        for (document, _), leaves in lists.items():
            yield from _arguments(leaves, self._framed(document, leaves[0]))
        told: set[tuple[object, ...]] = set()
        for (document, path), leaves in sorted(axes.items(), key=lambda a: _is_included(a[0][1])):
            # What is included repeats values of an axis, or is an axis spelled entry by entry.
            axis = (document, path[: path.index("matrix")], leaves[0].key)
            if axis not in told:
                told.add(axis)
                yield from vendorkeys.matrix(leaves, self._framed(document, leaves[0]))

    def _framed(self, document: int, leaf: Leaf) -> Frame:
        """The frame of a service, job or container; where others serve ROCm, one named CUDA is no work."""
        group = _group(leaf.path)
        frame = self.frame.within(self._scope(document, leaf.path))
        side = side_of(group) if group else ""
        if side == "rocm" or (side == "cuda" and self.rocm_groups):
            line = self.frame.text.place(leaf.start)[0]
            return msgspec.structs.replace(frame, guard=Guard(side, f"named {group}", line))
        return frame

    def _scope(self, document: int, path: Path) -> str:
        if path[:1] == ("services",) and len(path) > 2:
            return f"service:{path[1]}"
        if path[:1] == ("jobs",) and len(path) > 2:
            return f"job:{path[1]}"
        for at in range(len(path) - 1):
            if path[at] in ("containers", "initContainers"):
                name = self.by_path.get((document, (*path[: at + 2], "name")))
                return f"service:{name.text}" if name is not None else ""
        return ""

    def _leaf(self, document: int, leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
        key, path = leaf.key, leaf.path
        listed = bool(path) and isinstance(path[-1], int)
        if key in _SCRIPTS and not (listed and key in _ARGUMENT_LISTS) and self._is_script(leaf):
            yield from _script(leaf, frame)
            return
        if key in _DOCKER_OPTIONS:
            words = (
                split_at(leaf.text, leaf.inner_start)
                if not listed
                else [Word(leaf.text, leaf.start, leaf.end)]
            )
            yield from containers.device_options(words, frame)
        if self._is_told_elsewhere(document, leaf):
            return
        if found := list(self._expressions(document, leaf, frame)):
            yield from found
            return
        if found := list(self._environment(document, leaf, frame)):
            yield from found
            return
        found = list(self._images(document, leaf, frame))
        yield from found
        if not found:
            for look in _LOOKS:
                found = list(look(leaf, frame))
                if found:
                    yield from found
                    break
        yield from vendorkeys.metric(leaf, frame)

    def _is_told_elsewhere(self, document: int, leaf: Leaf) -> bool:
        """Values of variables, and of labels whose key is evidence already."""
        path = leaf.path
        if path and path[-1] == "value":
            name = self.by_path.get((document, (*path[:-1], "name")))
            return name is not None and _ENV_NAME.fullmatch(name.text) is not None
        if len(path) > 1 and path[-2] == "values":
            key = self.by_path.get((document, (*path[:-2], "key")))
            return key is not None and "nvidia.com" in key.text
        return False

    def _expressions(self, document: int, leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
        """``{key: node.kubernetes.io/instance-type, values: [p5.48xlarge]}``."""
        path = leaf.path
        if len(path) > 1 and path[-2] == "values":
            key = self.by_path.get((document, (*path[:-2], "key")))
            if key is not None:
                yield from vendorkeys.instance_type(leaf, frame, key.text)

    def _is_script(self, leaf: Leaf) -> bool:
        return (
            leaf.style in ("|", ">") or " " in leaf.text.strip() or leaf.text in self.frame.vocabulary.tools
        )

    def _images(self, document: int, leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
        key, parent = leaf.key, leaf.path[:-1]
        value = with_stars(
            self.frame.text.text[leaf.inner_start : leaf.end].strip("\"'") if "X" in leaf.text else leaf.text
        )
        if key == "repository" and "://" not in value:
            tag = self.by_path.get((document, (*parent, "tag")))
            registry = self.by_path.get((document, (*parent, "registry")))
            full = f"{registry.text}/{value}" if registry is not None and registry.text else value
            if tag is not None and tag.text:
                full = f"{full}:{with_stars(tag.text)}"
            yield from _image(leaf, full, frame)
            return
        named = key in _IMAGES or (key == "name" and parent and parent[-1] == "image")
        from_action = key == "uses" and value.startswith("docker://")
        if named or from_action or (_CERTAIN_IMAGE.match(value) and "\n" not in value):
            yield from _image(leaf, value, frame)

    def _environment(self, document: int, leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
        """``A: b``, ``- A=b`` and ``{name: A, value: b}``."""
        path, key = leaf.path, leaf.key
        if path and path[-1] == "name" and _ENV_NAME.fullmatch(leaf.text):
            value = self.by_path.get((document, (*path[:-1], "value")))
            if value is not None:
                end = value.end if value.start > leaf.start else leaf.end
                yield from variable(leaf.text, value.text, Word("", leaf.start, end), frame, role="container")
            return
        if path and path[-1] == key and _ENV_NAME.fullmatch(key) and key.isupper():
            yield from variable(
                key, leaf.text, Word(leaf.text, leaf.key_start, leaf.end), frame, role="container"
            )
        elif match := _ENV_ITEM.fullmatch(leaf.text):
            word = Word(leaf.text, leaf.start, leaf.end)
            yield from variable(match.group(1), match.group(2), word, frame, role="container")


def _axis(path: Path) -> Path:
    """The path of a matrix axis: without the place in its list."""
    return path[:-1] if path and isinstance(path[-1], int) else path


def _is_included(path: Path) -> bool:
    return "include" in path or "exclude" in path


def _group(path: Path) -> str:
    """The job or service that a path lies in."""
    if path[:1] in (("services",), ("jobs",)) and len(path) > 2:
        return str(path[1])
    if (
        len(path) > 1
        and isinstance(path[0], str)
        and path[1] in ("script", "image", "tags", "variables", "stage")
    ):
        return path[0]
    return ""


def _image(leaf: Leaf, value: str, frame: Frame) -> Iterator[Evidence]:
    if value.startswith("*") and not re.search(r"nvidia|cuda", value, re.IGNORECASE):
        return
    yield from containers.image(value, min(leaf.start, leaf.key_start), leaf.end, frame)


def _script(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """A command line, or a block of them; a folded block is one line."""
    source = frame.text.text[leaf.start : leaf.end]
    start = leaf.start
    if leaf.style in ("|", ">"):
        head = source.find("\n") + 1
        source, start = source[head:], start + head
        if leaf.style == ">":
            source = re.sub(r"\n(?=[^\n])", " ", source)
    elif leaf.style in ('"', "'"):
        source, start = source[1:-1], start + 1
    yield from script(_without_expressions(source), start, frame)


def _without_expressions(source: str) -> str:
    """CI expressions as one word each, so that their blanks and quotes do not part a command."""
    return re.sub(r"\$\{\{.{0,400}?\}\}", lambda m: "$" + "_" * (len(m.group()) - 1), source)


def _arguments(leaves: list[Leaf], frame: Frame) -> Iterator[Evidence]:
    words = [Word(leaf.text, leaf.start, leaf.end) for leaf in leaves]
    if leaves[0].key in _DOCKER_OPTIONS:
        yield from containers.device_options(words, frame)
        return
    if words[0].text in ("CMD", "CMD-SHELL"):
        words = words[1:]
    if len(words) == 1 and " " in words[0].text:
        yield from _script(leaves[-1], frame)
        return
    yield from argument_list(words, frame)


def _urls(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    if "://" in leaf.text and leaf.key not in (
        "description",
        "name",
        "homepage",
        "source",
        "sources",
        "icon",
    ):
        yield from urls(frame.text.text[leaf.start : leaf.end][:4000], leaf.start, frame, leaf.key)


def _actions(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    if leaf.key == "uses" and _CUDA_ACTION.match(leaf.text):
        yield frame.evidence(EvidenceKind.KEY, "uses: cuda", leaf.key_start, leaf.end, value=leaf.text)


def _packages(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """Package modules of a playbook."""
    modules = {str(part).rsplit(".", 1)[-1] for part in leaf.path[:-1]}
    if leaf.key not in ("name", "pkg", "apt", "yum", "pip") or len(leaf.text) > 120:
        return
    if modules & _PACKAGE_MODULES:
        name = leaf.text.partition("=")[0].lower()
        yield frame.evidence(EvidenceKind.PACKAGE, f"system:{name}", leaf.start, leaf.end, manager="ansible")
    elif "pip" in modules:
        yield from requirement(leaf.text, leaf.start, leaf.end, frame, manager="pip")


def _cache_options(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    if "-D" in leaf.text and len(leaf.text) < 4000:
        yield from cache_options(split_at(leaf.text, leaf.inner_start), frame)


_LOOKS: tuple[Callable[[Leaf, Frame], Iterator[Evidence]], ...] = (
    vendorkeys.vendor_key,
    _actions,
    _packages,
    vendorkeys.host_path,
    vendorkeys.product_label,
    vendorkeys.instance_type,
    _urls,
    _cache_options,
)
