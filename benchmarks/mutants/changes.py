"""Small changes that can be made to a source file, one at a time."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
SWAPPED = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Change:
    """One change to one file.

    Parameters
    ----------
    path : of the file, from the root of the repository
    function : the function that it is in, with the classes and functions around it
    line : where it is
    kind : what sort of change it is
    start, end : of the bytes that are replaced
    before, after : these bytes, and what comes instead
    """

    path: str
    function: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change made."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def changes_of(root: Path, path: Path) -> list[Change]:
    """Return every change to the functions of a file, in the order of the file.

    Left alone are annotations, decorators, assertions (which narrow types), texts, and what
    errors say: the changes are to what is computed.
    """
    source = path.read_bytes()
    finder = _Finder(path.relative_to(root).as_posix(), source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda change: (change.start, change.end, change.after))


class _Finder(ast.NodeVisitor):
    """Walks through a file and notes the changes to be made in its functions."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.found: list[Change] = []
        self.scope: list[str] = []
        self.depth = 0
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    # Where things are.

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where the bytes of a node start and end."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        last, end = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self.starts[line - 1] + column, self.starts[last - 1] + end

    def note(self, kind: str, start: int, end: int, after: str) -> None:
        """Note a change, if it is in a function."""
        if self.depth:
            before = self.source[start:end].decode()
            line = bisect_right(self.starts, start)
            function = ".".join(self.scope)
            self.found.append(Change(self.path, function, line, kind, start, end, before, after))

    def note_operator(
        self, kind: str, left: ast.AST, right: ast.AST, signs: tuple[str, str]
    ) -> None:
        """Note a change of the sign between two operands."""
        first, last = self.span(left)[1], self.span(right)[0]
        at = self.source.find(signs[0].encode(), first, last)
        if at >= 0 and b"#" not in self.source[first:last]:
            self.note(kind, at, at + len(signs[0]), signs[1])

    def note_negation(self, condition: ast.expr) -> None:
        """Note that a condition is negated."""
        if not isinstance(condition, ast.UnaryOp | ast.Constant):
            start, end = self.span(condition)
            text = self.source[start:end].decode()
            self.note("negated condition", start, end, f"not ({text})")

    # What is walked through.

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.append(node.name)
        self.depth += 1
        for part in (*node.args.defaults, *node.args.kw_defaults, *node.body):
            if part is not None:
                self.visit(part)
        self.depth -= 1
        self.scope.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        outside, self.depth = self.depth, 0
        for part in node.body:
            self.visit(part)
        self.depth = outside
        self.scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave assertions alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    # What is changed.

    def visit_Raise(self, node: ast.Raise) -> None:
        self.note("removed raise", *self.span(node), "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.note("removed call", *self.span(node), "pass")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, sign, right in zip(
            (node.left, *node.comparators), node.ops, node.comparators, strict=False
        ):
            self.note_operator("comparison", left, right, COMPARISONS[type(sign)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC:
            self.note_operator("arithmetic", node.left, node.right, ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC:
            before, after = ARITHMETIC[type(node.op)]
            signs = f"{before}=", f"{after}="
            self.note_operator("arithmetic", node.target, node.value, signs)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        signs = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.note_operator("boolean", left, right, signs)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start, _ = self.span(node)
        if isinstance(node.op, ast.Not):
            self.note("negated condition", start, start + len("not"), "")
        elif isinstance(node.op, ast.USub):
            self.note("arithmetic", start, start + len("-"), "+")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.span(node)
        if isinstance(node.value, bool):
            self.note("constant", start, end, str(not node.value))
        elif isinstance(node.value, int | float):
            for step in (1, -1):
                self.note("constant", start, end, f"({node.value + step!r})")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        word = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        if word in SWAPPED:
            end = self.span(name)[1]
            self.note("any and all", end - len(word), end, SWAPPED[word])
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        start, _ = self.span(node)
        if node.lower is None:
            self.note("slice", start, start, "1")
        for part, step in ((node.lower, "+ 1"), (node.upper, "- 1")):
            if part is not None:
                first, last = self.span(part)
                text = self.source[first:last].decode()
                self.note("slice", first, last, f"({text}) {step}")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.note_negation(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.note_negation(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.note_negation(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self.note_negation(condition)
        self.generic_visit(node)


def scopes(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a file with their names, those around them in front."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        around, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = around
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{around}.{child.name}" if around else child.name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, child
            waiting.append((name, child))
