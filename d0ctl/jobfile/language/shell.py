"""A scanner of shell text that finds which placeholders are inside quotes.

A value is quoted where its placeholder is bare, and only safe characters are accepted inside
quotes, as in `"{raw}"`, `'{raw}'` or a here-document, which job files use with numbers and names.
Variables of the environment can't replace this: nothing expands them inside single quotes or a
here-document of another language. A parser can't either: bashlex 0.18 refuses 17 of 63 scripts
of the tests and examples (arithmetic, arrays, `case`, `[[`, quoted here-documents), takes ten
times as long and is under the GPL.
"""

import enum
import re
from collections.abc import Sequence

_WORD_STARTS = frozenset(" \t\n;&|()<>")
_CASE = re.compile(r"case\s")
_HEREDOC = re.compile(r"<<(-?)[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()])+)")


class Context(enum.Enum):
    """The quoting around a placeholder."""

    BARE = "bare"
    """Outside of quotes, as a word or a part of one: a quoted value is safe."""
    EXPANDING = "expanding"
    """Inside quotes or a here-document where the shell expands `$`."""
    LITERAL = "literal"
    """Inside quotes, a here-document or a comment where the shell expands nothing."""


def contexts(text: str, spans: Sequence[tuple[int, int]], shell: str) -> list[Context]:
    """Return the context of each span (begin and end, in order) of a script.

    In doubt a span does not count as bare, so that a value can never end a quote.
    """
    lexer = _Lexer(text, spans, shell)
    lexer.read()
    return lexer.found


class _Lexer:
    """A walk through a script with a stack of the constructs that are open.

    On the stack are `(` for a subshell or a command substitution, `A` for a parenthesis of
    arithmetic, `"`, and `{` for `${`.
    """

    def __init__(self, text: str, spans: Sequence[tuple[int, int]], shell: str) -> None:
        self.text = text
        self.shell = shell
        self.ends = dict(spans)
        self.found: list[Context] = []
        self.stack: list[str] = []
        self.quoting = 0
        """How many constructs are open in which a value would not be quoted."""
        self.at = 0
        self.heredocs: list[tuple[str, bool, bool]] = []

    def read(self) -> None:
        """Read to the end; after unknown syntax no span counts as bare."""
        while self.at < len(self.text):
            if self.at in self.ends:
                self._found_span(Context.EXPANDING if self.quoting else Context.BARE)
            elif not self._step(self.text[self.at]):
                self._rest()
        # Something is never closed, so even an apparently bare placeholder may be inside it.
        if self.stack:
            self.found = [c if c is Context.LITERAL else Context.EXPANDING for c in self.found]

    def _found_span(self, context: Context) -> None:
        self.found.append(context)
        self.at = self.ends[self.at]

    def _step(self, char: str) -> bool:
        """Step over one character or the construct it opens; return False for unknown syntax."""
        top = self.stack[-1] if self.stack else "("
        if char == "\\":
            self._skip(self.at + 2, Context.EXPANDING)
        elif char == "$":
            return self._dollar(top)
        elif char == "`":
            end = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL).match(self.text, self.at + 1)
            return self._skip(end.end() if end else None, Context.EXPANDING)
        elif char == '"':
            self._toggle(top)
        elif char == "'" and top != '"':
            if top == "{" and '"' in self.stack:
                # In "${x:-'y'}" bash treats the quote as a character, in "${x#'y'}" as a quote.
                return False
            end_at = self.text.find("'", self.at + 1)
            return self._skip(end_at + 1 if end_at >= 0 else None, Context.LITERAL)
        elif top == "(":
            return self._plain(char)
        elif top == "A":
            return self._arithmetic(char)
        elif top == "{" and char == "}":
            self._pop()
        else:
            self.at += 1
        return True

    def _toggle(self, top: str) -> None:
        if top == '"':
            self._pop()
        else:
            self._push('"')

    def _push(self, *opened: str) -> None:
        self.stack.extend(opened)
        self.quoting += len(opened) - opened.count("(")
        self.at += 1

    def _pop(self) -> None:
        self.quoting -= self.stack.pop() != "("
        self.at += 1

    def _dollar(self, top: str) -> bool:
        following = self.text[self.at + 1 : self.at + 3]
        if following == "((":
            self.at += 2
            self._push("A", "A")
        elif following[:1] == "(":
            self.at += 1
            self._push("(")
        elif following[:1] == "{":
            self.at += 1
            self._push("{")
        elif following[:1] == "'" and top != '"':
            end = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(self.text, self.at + 2)
            known = self.shell == "bash" and end is not None
            return self._skip(end.end() if known and end else None, Context.LITERAL)
        else:
            self.at += 2 if following[:1] in ("#", "$") else 1
        return True

    def _plain(self, char: str) -> bool:
        word_starts = self.at == 0 or self.text[self.at - 1] in _WORD_STARTS
        if char == "#" and word_starts:
            end = self.text.find("\n", self.at)
            return self._skip(end if end >= 0 else len(self.text), Context.LITERAL)
        if char == "<" and self.text.startswith("<<", self.at):
            return self._redirection()
        if char == "\n" and self.heredocs:
            self.at += 1
            for _ in range(len(self.heredocs)):
                self._body(*self.heredocs.pop(0))
        elif char == "(" and word_starts and self.text.startswith("((", self.at):
            self.at += 1
            self._push("A", "A")
        elif char == "(":
            self._push("(")
        elif char == ")" and self.stack:
            self._pop()
        elif word_starts and self.stack and _CASE.match(self.text, self.at):
            # The `)` after a pattern would seem to close the substitution around the `case`.
            return False
        else:
            self.at += 1
        return True

    def _arithmetic(self, char: str) -> bool:
        if char == "(":
            self._push("A")
        elif char == ")":
            self._pop()
        elif char == "#" and self.text[self.at - 1] in " \t\n":
            return False
        else:
            self.at += 1
        return True

    def _redirection(self) -> bool:
        if self.text.startswith("<<<", self.at):
            self.at += 3
            return True
        found = _HEREDOC.match(self.text, self.at)
        if not found:
            return False
        word = re.sub(r"\\(.)|['\"]", r"\1", found[2])
        self.heredocs.append((word, bool(found[1]), word != found[2]))
        return self._skip(found.end(), Context.EXPANDING)

    def _body(self, word: str, dashed: bool, quoted: bool) -> None:
        """Step over the lines of a here-document and the one that ends it."""
        context = Context.LITERAL if quoted else Context.EXPANDING
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self._skip(min(end + 1, len(self.text)), context)
            if (line.lstrip("\t") if dashed else line) == word:
                return

    def _skip(self, end: int | None, context: Context) -> bool:
        """Step to `end` and give spans on the way a context; return False if there is no end."""
        if end is None:
            return False
        while self.at < end:
            if self.at in self.ends:
                self._found_span(context)
            else:
                self.at += 1
        return True

    def _rest(self) -> None:
        self._skip(len(self.text), Context.EXPANDING)
