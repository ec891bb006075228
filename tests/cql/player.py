"""A case file: statements with what Cassandra 5.0.9 answered, and what daybook answers otherwise.

    # a comment
    > SELECT v FROM t WHERE p = ?       a statement; it may go on in lines that begin with a dot
    = 00000001                          its markers' bytes, null or unset, after commas: it is
                                        prepared, and executed once for each such line; 61*70000
                                        is that byte as often
      (v int)                           the answer, two blanks in, as wire.py prints it
      7
    # differs: tombstones fail no read  why daybook's answer is another one, which follows
    - (v int)
    - 7
    ! page 3                            answers come in pages of 3 rows (0: whole)
    ! hide                              values of the next answer are shown as *
    ! wait 3                            seconds pass
    ! compact, ! restart                daybook alone

Each file starts in a keyspace named as the file, which is dropped before and after; further ones
of its own must begin with that name and an underscore.
"""

import dataclasses
import re
import time

import wire

KEYSPACE = "CREATE KEYSPACE {} WITH replication = " \
    "{{'class': 'SimpleStrategy', 'replication_factor': 1}}"


@dataclasses.dataclass
class Case:
    """A statement, or lines that are none."""

    line: int
    head: list = dataclasses.field(default_factory=list)
    statement: str = ""
    bound: list = dataclasses.field(default_factory=list)
    answer: list = dataclasses.field(default_factory=list)
    reason: str = ""
    own: list = dataclasses.field(default_factory=list)

    def wanted(self):
        """What daybook must answer."""
        return self.own if self.reason else self.answer

    def text(self):
        lines = list(self.head)
        if self.statement:
            first, *more = self.statement.split("\n")
            lines += [f"> {first}", *(f". {line}" for line in more)]
        lines += [f"= {line}" for line in self.bound]
        lines += [f"  {line}" for line in self.answer]
        if self.reason:
            lines += [f"# differs: {self.reason}", *(f"- {line}" for line in self.own)]
        return "".join(f"{line}\n" for line in lines)


def read(path):
    cases = [Case(1)]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        case, mark, rest = cases[-1], line[:2], line[2:]
        if mark == "> ":
            cases.append(Case(number, statement=rest))
        elif line.startswith("# differs: "):
            case.reason = line[len("# differs: "):]
        elif mark == "! " or line.startswith("#") or not line:
            cases.append(Case(number, head=[line]))
        elif mark == ". ":
            case.statement += "\n" + rest
        elif mark in ("= ", "  ", "- "):
            {"= ": case.bound, "  ": case.answer, "- ": case.own}[mark].append(rest)
        else:
            raise ValueError(f"{path}:{number}: no line of a case: {line}")
    return cases


# What Cassandra says beside an error: the piece of the statement, which its parser's state decides,
# and lists in the order of a hash table.
BESIDE = re.compile(r" \(((known type|can be matched).*|.*\[.*\].*)\)?$", re.DOTALL)


def comparable(lines):
    """An answer without what clients cannot build on: what stands beside an error, and a last page
    without rows, which Cassandra gives where the page before it ended with the last row."""
    lines = [BESIDE.sub("", line) if line.startswith("ERROR 2") else line for line in lines]
    warnings = len(lines)
    while warnings > 0 and lines[warnings - 1].startswith("WARNING"):
        warnings -= 1
    if warnings > 0 and lines[warnings - 1] == "-- next page":
        del lines[warnings - 1:]
    return lines


def bound_values(line):
    """The bytes of one execution; a line of nothing binds nothing."""
    marks = {"null": wire.NULL, "unset": wire.UNSET}
    words = [word.strip() for word in line.split(",")]
    return [marks[word] if word in marks else b"".join(map(repeated, word.split()))
            for word in words]


def repeated(piece):
    """The bytes of HEX or HEX*TIMES."""
    digits, _, times = piece.partition("*")
    return bytes.fromhex(digits) * int(times or 1)


class Player:
    """Plays files against one server."""

    def __init__(self, connection, directives=None):
        """`directives` carries out `compact` and `restart`, and returns the connection after."""
        self.connection = connection
        self.directives = directives
        self.page_size = 0
        self.is_hidden = False

    def play(self, path, cases):
        """Each case with the answer it got."""
        keyspace = path.stem
        self.page_size = 0
        self._drop_keyspaces(keyspace)
        self._expect(KEYSPACE.format(keyspace))
        self._expect(f"USE {keyspace}")
        for case in cases:
            for line in case.head:
                if line.startswith("! "):
                    self._direct(line[2:], keyspace)
            if case.statement:
                yield case, self._answer(case)
                self.is_hidden = False
        self._drop_keyspaces(keyspace)

    def _answer(self, case):
        if case.bound:
            executions = [bound_values(line) for line in case.bound]
            return self.connection.run_bound(case.statement, executions, self.page_size,
                                             self.is_hidden)
        return self.connection.run(case.statement, self.page_size, self.is_hidden)

    def _direct(self, line, keyspace):
        name, _, value = line.partition(" ")
        if name == "page":
            self.page_size = int(value)
        elif name == "hide":
            self.is_hidden = True
        elif name == "wait":
            time.sleep(int(value))
        elif name not in ("compact", "restart"):
            raise ValueError(f"unknown directive: {line}")
        elif self.directives:
            self.connection = self.directives(name)
            self._expect(f"USE {keyspace}")

    def _expect(self, statement):
        lines = self.connection.run(statement)
        if lines[0].startswith("ERROR"):
            raise ValueError(f"{statement}: {lines[0]}")

    def _drop_keyspaces(self, stem):
        _, *rows = self.connection.run("SELECT keyspace_name FROM system_schema.keyspaces")
        for row in rows:
            name = row.strip("'")
            if name == stem or name.startswith(f"{stem}_"):
                self._expect(f'DROP KEYSPACE "{name}"')
