"""Preprocessor expressions with three-valued logic: a macro may be known, undefined, or anything."""

import operator
import re
from collections.abc import Callable

Truth = bool | int | None
"""None: not known."""
ValueOf = Callable[[str], Truth]

_TOKEN = re.compile(r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+|&&|\|\||<<|>>|[<>=!]=|[-+*/%()!<>&|^~?:,]")
_TOKEN_LIMIT = 400
_DEPTH_LIMIT = 60

_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, operator.eq),
    "!=": (6, operator.ne),
    "<": (7, operator.lt),
    ">": (7, operator.gt),
    "<=": (7, operator.le),
    ">=": (7, operator.ge),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
}
# Shifts, division and the conditional operator are rare in conditions and unbounded in value: not known.
_OPAQUE = {"<<": 8, ">>": 8, "/": 10, "%": 10, "?": 0, ":": 0, ",": 0}


def evaluate(condition: str, value_of: ValueOf) -> Truth:
    """The value of a condition; None when it depends on what ``value_of`` doesn't know."""
    tokens = _TOKEN.findall(condition)[:_TOKEN_LIMIT]
    if not tokens:
        return None
    return _Parser(tokens, value_of).expression(0, 0)


def negation(value: Truth) -> Truth:
    """Three-valued not."""
    return None if value is None else not value


def conjunction(a: Truth, b: Truth) -> Truth:
    """Three-valued and: false wins over unknown."""
    if (a is not None and not a) or (b is not None and not b):
        return False
    return None if a is None or b is None else True


def disjunction(a: Truth, b: Truth) -> Truth:
    """Three-valued or: true wins over unknown."""
    if a or b:
        return True
    return None if a is None or b is None else False


class _Parser:
    """Precedence climbing over a token list; anything odd is unknown."""

    def __init__(self, tokens: list[str], value_of: ValueOf) -> None:
        self.tokens = tokens
        self.at = 0
        self.value_of = value_of

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expression(self, minimum: int, depth: int) -> Truth:
        left = self.unary(depth)
        while True:
            token = self.peek()
            if token == "||" and minimum <= 1:
                self.take()
                left = disjunction(left, self.expression(2, depth))
            elif token == "&&" and minimum <= 2:
                self.take()
                left = conjunction(left, self.expression(3, depth))
            elif token in _BINARY and _BINARY[token][0] >= max(minimum, 3):
                self.take()
                rank, function = _BINARY[token]
                right = self.expression(rank + 1, depth)
                left = None if left is None or right is None else function(int(left), int(right))
            elif token in _OPAQUE and _OPAQUE[token] >= minimum:
                self.take()
                self.expression(_OPAQUE[token] + 1, depth)
                left = None
            else:
                return left

    def unary(self, depth: int) -> Truth:
        token = self.take()
        if depth > _DEPTH_LIMIT or not token:
            return None
        if token == "!":
            return negation(self.unary(depth + 1))
        if token in "-+~":
            self.unary(depth + 1)
            return None
        if token == "(":
            value = self.expression(0, depth + 1)
            if self.peek() == ")":
                self.take()
            return value
        if token[0].isdigit():
            return int(token, 16) if token[:2].lower() == "0x" else int(token)
        if token == "defined":
            return self.defined()
        if self.peek() == "(":
            self.skip_call()
            return None
        if token in ("true", "false"):
            return token == "true"
        return self.value_of(token)

    def defined(self) -> Truth:
        bracket = self.peek() == "("
        if bracket:
            self.take()
        value = self.value_of(self.take())
        if bracket and self.peek() == ")":
            self.take()
        # A macro that is defined as 0 is defined all the same, but no switch asked for here is.
        return None if value is None else bool(value)

    def skip_call(self) -> None:
        open_brackets = 0
        while token := self.take():
            open_brackets += (token == "(") - (token == ")")
            if open_brackets <= 0:
                return
