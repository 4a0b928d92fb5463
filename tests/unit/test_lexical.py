"""Comments, strings, directives and brackets."""

import time

import pytest

from portaudit.analyze.lexical import Lexed, after_template, arguments, before_template


@pytest.mark.parametrize(
    "source",
    [
        "int a; // cudaMalloc(x)\nint b;",
        "int a; /* cudaMalloc\n cudaFree */ int b;",
        'const char* s = "cudaMalloc \\" cudaFree"; int b;',
        'auto s = R"(cudaMalloc " )"; int b;',
        'auto s = R"x(cudaMalloc )" )x"; int b;',
        "char c = '\"'; int b; // cudaMalloc",
        "int a; // goes on \\\ncudaMalloc\nint b;",
        "/* never closed cudaMalloc",
    ],
)
def test_comments_and_strings_are_blank(source):
    lexed = Lexed(source)
    assert "cuda" not in lexed.code
    assert len(lexed.code) == len(source)
    assert [i for i, c in enumerate(lexed.code) if c == "\n"] == [
        i for i, c in enumerate(source) if c == "\n"
    ]
    assert "int b" not in source or "int b" in lexed.code


def test_a_string_that_is_not_closed_ends_with_its_line():
    assert "cudaFree" in Lexed('const char* t = "no end\nvoid c(void* p) { cudaFree(p); }\n').code


def test_digit_separators_are_no_characters():
    assert "cudaFree" in Lexed("int n = 1'000'000; cudaFree(p); // it's").code


def test_strings_are_kept_with_their_places():
    source = 'f("a", R"(b)", u8"c");'
    lexed = Lexed(source)
    assert [source[s.inner : s.inner_end] for s in lexed.strings] == ["a", "b", "c"]


def test_continued_directives():
    (directive,) = Lexed("#define A(x) \\\r\n  cudaFree(x)\r\nint y;\n").directives()
    assert directive.word == "define" and "cudaFree(x)" in directive.body


def test_arguments():
    code = "f(a, g(b, c), {d, e}, h<i>(j))"
    spans, end = arguments(code, 1)
    assert [code[a:b].strip() for a, b in spans] == ["a", "g(b, c)", "{d, e}", "h<i>(j)"]
    assert end == len(code)
    assert arguments("f()", 1) == ([], 3)
    assert arguments("f(a, b", 1)[1] == -1


def test_template_brackets():
    assert after_template("f<a<b>, c>(x)", 1) == 10
    assert after_template("a < b; c > d", 2) == 2
    code = "k<float, 4>"
    assert before_template(code, len(code)) == 1
    assert before_template("k", 1) == 1


@pytest.mark.parametrize("piece", ['"', "'", "/*", 'R"(', "\\\n", "//\\\n", "#define a \\\n", "((((", "<<<<"])
def test_lexing_is_linear(piece):
    def seconds(count):
        source = piece * count
        began = time.perf_counter()
        Lexed(source).directives()
        return time.perf_counter() - began

    seconds(1000)
    assert seconds(50_000) < 3.0
