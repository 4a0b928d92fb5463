"""YAML -> leaves with places, from the events of libyaml: nothing is built, no alias is followed."""

from collections.abc import Iterator

from portaudit.analyze.leaves import DEPTH_LIMIT, Leaf, Malformed, Path

_ALIAS_LIMIT = 1000


def yaml_leaves(source: str) -> Iterator[tuple[int, Leaf]]:
    """The scalars of a YAML stream with the number of their document.

    Raises ``Malformed`` where the text ends to be YAML; what came before stands.
    """
    # The library costs 20 ms, more than most runs without YAML files take for the files themselves.
    import yaml

    document, aliases = -1, 0
    walk = _Walk()
    try:
        for event in yaml.parse(source, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                document += 1
                walk = _Walk()
            elif isinstance(event, yaml.AliasEvent):
                aliases += 1
                if aliases > _ALIAS_LIMIT:
                    raise Malformed("too many aliases", _at(event.start_mark))
                walk.scalar(event.anchor or "", _at(event.start_mark), _at(event.end_mark), "*")
            elif isinstance(event, yaml.ScalarEvent):
                leaf = walk.scalar(
                    event.value or "", _at(event.start_mark), _at(event.end_mark), event.style or ""
                )
                if leaf is not None:
                    yield document, leaf
            elif isinstance(event, yaml.CollectionStartEvent):
                walk.open("[" if isinstance(event, yaml.SequenceStartEvent) else "{", _at(event.start_mark))
            elif isinstance(event, yaml.CollectionEndEvent):
                walk.close()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise Malformed(str(error.problem or "not YAML"), mark.index if mark else 0) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Malformed(str(error).partition("\n")[0], 0) from error


def _at(mark: object) -> int:
    offset = getattr(mark, "index", 0)
    return offset if isinstance(offset, int) else 0


class _Walk:
    """Where in a document the parser is. Keys that are no scalars count as empty names."""

    def __init__(self) -> None:
        self.key: tuple[str, int, int] | None = None
        self.levels: list[tuple[str, Path, int]] = []

    def open(self, bracket: str, offset: int) -> None:
        if len(self.levels) >= DEPTH_LIMIT:
            raise Malformed("nested too deeply", offset)
        path = self._begin()
        self.levels.append((bracket, path, 0))
        self.key = None

    def close(self) -> None:
        self.levels.pop()
        self._end()

    def scalar(self, text: str, start: int, end: int, style: str) -> Leaf | None:
        if self.levels and self.levels[-1][0] == "{" and self.key is None:
            self.key = (text, start, end)
            return None
        key = self.key
        path = self._begin()
        self._end()
        place = (key[1], key[2]) if key is not None else (start, start)
        return None if style == "*" else Leaf(path, text, start, end, *place, style)

    def _begin(self) -> Path:
        """The path of the node that begins here."""
        if not self.levels:
            return ()
        bracket, around, index = self.levels[-1]
        if bracket == "[":
            return (*around, index)
        return (*around, self.key[0] if self.key is not None else "")

    def _end(self) -> None:
        """A node has ended: the next one is another element or another key."""
        if not self.levels:
            return
        bracket, around, index = self.levels[-1]
        self.levels[-1] = (bracket, around, index + 1)
        self.key = None
