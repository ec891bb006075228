#!/usr/bin/env python3
"""Moves sources to another folder, with every line that names them.

    tests/move_files.py FOLDER FILE.c ...

A header, a grammar and a lexer of the same name go with FILE.c; a header that has no .c file is
named by itself.  Replaced are: the paths in every text file that git knows, but for recorded data;
the guard of each header; the order of the includes in headers (`make fmt` does that of .c files).
What the script cannot see, a path that a file puts together from pieces, `make tidy` and the
compiler show.
"""

import pathlib
import re
import subprocess
import sys

EXTENSIONS = (".c", ".h", ".y", ".re")
RECORDED = ("tests/golden/v", "tests/fuzz/corpus/", "tests/data/", "tests/cql/cassandra/")


def git(*arguments):
    return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout


def companions(name):
    path = pathlib.Path(name)
    return [path.with_suffix(e) for e in EXTENSIONS if path.with_suffix(e).exists()]


def guard_of(path):
    return "DAYBOOK_" + re.sub(r"[^A-Z0-9]", "_", str(path).upper())


def sorted_includes(text):
    """The text with each block of lines `#include "..."` in the order of their paths."""
    block = re.compile(r'(?:^#include "[^"\n]*"\n)+', re.MULTILINE)
    return block.sub(lambda m: "".join(sorted(m.group().splitlines(True))), text)


def renamed(text, moves):
    paths = {str(old): str(new) for old, new in moves.items()}
    # Objects, and the C that is made of a grammar or a lexer, are called after their source.
    for old, new in moves.items():
        for made in (".o", ".c", ".h") if old.suffix in (".y", ".re") else (".o",):
            paths.setdefault(str(old.with_suffix(made)), str(new.with_suffix(made)))
    known = "|".join(re.escape(path) for path in sorted(paths, key=len, reverse=True))
    return re.sub(rf"(?<![\w./-])({known})(?!\w)", lambda m: paths[m.group(1)], text)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    moves = {old: folder / old.name for name in sys.argv[2:] for old in companions(name)}
    missing = [name for name in sys.argv[2:] if not companions(name)]
    if missing:
        sys.exit("not there: " + " ".join(missing))
    folder.mkdir(parents=True, exist_ok=True)
    guards = {guard_of(old): guard_of(new) for old, new in moves.items() if old.suffix == ".h"}
    for old, new in moves.items():
        git("mv", str(old), str(new))
    for name in git("ls-files").splitlines():
        path = pathlib.Path(name)
        if name.startswith(RECORDED) or path.is_symlink():
            continue
        try:
            before = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        after = renamed(before, moves)
        if path in moves.values() and path.suffix == ".h":
            for old, new in guards.items():
                after = re.sub(rf"\b{old}\b", new, after)
        if after != before and path.suffix == ".h":
            after = sorted_includes(after)
        if after != before:
            path.write_text(after, encoding="utf-8")
    print(f"{len(moves)} files moved to {folder}")


if __name__ == "__main__":
    main()
