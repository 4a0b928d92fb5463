"""Integer constants of a C++ file: macros, constexpr variables, enumerators, and expressions over them."""

import ast
import operator
import re
from collections.abc import Callable, Iterator

_DECLARED = re.compile(r"\b(?:constexpr|const|static)\b[^;=(){}]{0,80}(?<!\w)$")
_INITIAL = re.compile(r"[ \t]*(?:=|\{)[ \t]*([^;{}]{1,120}?)\}?;")
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU]?)\b")
_CAST = re.compile(
    r"\(\s*(?:unsigned|signed|int|long|short|char|size_t|u?int\d+_t|std::size_t|\s)+\)|\bsizeof\s*\(\s*(\w+)\s*\)"
)
_SIZES = {
    "float": 4,
    "double": 8,
    "int": 4,
    "unsigned": 4,
    "char": 1,
    "half": 2,
    "__half": 2,
    "short": 2,
    "long": 8,
}
_SIZES |= {
    "float2": 8,
    "float4": 16,
    "double2": 16,
    "int2": 8,
    "int4": 16,
    "uint32_t": 4,
    "uint64_t": 8,
    "uint8_t": 1,
}
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
    ast.Div: lambda a, b: a // b if b else 0,
    ast.Mod: lambda a, b: a % b if b else 0,
    ast.LShift: lambda a, b: a << b if 0 <= b < 64 else 0,
    ast.RShift: lambda a, b: a >> b if 0 <= b < 64 else 0,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
_PLACE_LIMIT = 2_000


class Constants:
    """Named integers of a file; names that are defined twice with other values are not constant."""

    __slots__ = ("_code", "_macros", "_open", "_text", "_value")

    def __init__(self, code: str, macros: dict[str, str]) -> None:
        self._code = code
        self._macros = macros
        self._text: dict[str, str | None] = {}
        self._value: dict[str, int | None] = {}
        self._open: set[str] = set()

    def text_of(self, name: str) -> str | None:
        """The expression behind a macro or constant."""
        if name not in self._text:
            values = {*self._initial_values(name)}
            if name in self._macros:
                values.add(self._macros[name])
            self._text[name] = values.pop() if len(values) == 1 else None
        return self._text[name]

    def _initial_values(self, name: str) -> Iterator[str]:
        """Searched name by name: most files are asked for one or two constants, or for none."""
        code, at = self._code, -1
        for _ in range(_PLACE_LIMIT):
            at = code.find(name, at + 1)
            if at < 0:
                return
            initial = _INITIAL.match(code, at + len(name))
            if initial and _DECLARED.search(code, max(at - 100, 0), at):
                yield initial.group(1)

    def value(self, expression: str) -> int | None:
        """The value of an expression, None when it isn't constant here."""
        text = expression.strip()
        if not text or len(text) > 200:
            return None
        text = _CAST.sub(lambda m: str(_SIZES.get(m.group(1), "")) if m.group(1) else "", text)
        text = _SUFFIX.sub(r"\1", text).replace("'", "")
        try:
            tree = ast.parse(text.replace("::", "."), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return self._evaluate(tree.body, 0)

    def _named(self, name: str, depth: int) -> int | None:
        if name in self._value:
            return self._value[name]
        text = self.text_of(name)
        if text is None or name in self._open or depth > 20:
            return None
        self._open.add(name)
        value = self.value(text)
        self._open.discard(name)
        self._value[name] = value
        return value

    def _evaluate(self, node: ast.expr, depth: int) -> int | None:
        if depth > 40:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
        if isinstance(node, ast.Name):
            return self._named(node.id, depth)
        if isinstance(node, ast.UnaryOp):
            inner = self._evaluate(node.operand, depth + 1)
            if inner is None:
                return None
            return {ast.USub: -inner, ast.UAdd: inner, ast.Invert: ~inner}.get(type(node.op))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._evaluate(node.left, depth + 1), self._evaluate(node.right, depth + 1)
            if left is None or right is None or max(abs(left), abs(right)) > 1 << 70:
                return None
            return _OPERATORS[type(node.op)](left, right)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "dim3"
            and node.args
        ):
            values = [self._evaluate(a, depth + 1) for a in node.args]
            product = 1
            for value in values:
                if value is None:
                    return None
                product *= value
            return product
        return None
