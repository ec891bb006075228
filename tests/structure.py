#!/usr/bin/env python3
"""The structure of the program, held to its rules; `tests/tidy.sh` runs one rule a call.

    tests/structure.py RULE [BUILD]

Prints what breaks the rule, a line each.  Rules on calls read the objects in BUILD
(build/release-gcc): they see what the linker sees, whatever a header says.
"""

import collections
import fnmatch
import functools
import pathlib
import re
import subprocess
import sys

CIRCLE_MAX = 6
ROOT = pathlib.Path(__file__).resolve().parent.parent
# What other programs link, what argp and lemon want to be called so, and the program itself.
NAMED_BY_OTHERS = re.compile(r"(client/|program/daybook\.c)|.*\.(y|re)$")
NAMES_OF_OTHERS = re.compile(r"main|argp_.*")


@functools.cache
def folders():
    """The folders of tests/folders, lowest first, and what each may include."""
    table = {}
    for line in (ROOT / "tests/folders").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            folder, _, allowed = line.partition(":")
            table[folder] = allowed.split()
    return table


@functools.cache
def sources(pattern):
    return sorted(str(path.relative_to(ROOT)) for folder in folders()
                  for path in (ROOT / folder).glob(pattern))


@functools.cache
def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def folder_of(path):
    return str(pathlib.PurePath(path).parent)


def stem_of(path):
    return pathlib.PurePath(path).stem


@functools.cache
def symbols():
    """By source file: the names that it defines for others, and the names that it wants."""
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/release-gcc")
    defined, wanted = {}, {}
    built = {str(build / pathlib.PurePath(path).with_suffix(".o")): path
             for path in sources("*.[cyr]*")}
    there = [name for name in built if pathlib.Path(name).exists()]
    if not there:
        sys.exit(f"{build} has no objects: build it first")
    listed = subprocess.run(["nm", "-A", "-g", *there], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        name, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        (wanted if kind == "U" else defined).setdefault(built[name], set()).add(symbol)
    return defined, wanted


@functools.cache
def calls():
    """(caller, callee): the pairs of source files of which one wants a name of the other."""
    defined, wanted = symbols()
    owner = {name: path for path, names in defined.items() for name in names}
    pairs = collections.defaultdict(set)
    for path, names in wanted.items():
        for name in names:
            if name in owner and owner[name] != path:
                pairs[path, owner[name]].add(name)
    return pairs


@functools.cache
def included():
    """(file, line, header) of each include of a header of the program."""
    return [(path, number, line.split('"')[1]) for path in sources("*.[chyr]*")
            for number, line in enumerate(text_of(path).splitlines(), 1)
            if line.startswith('#include "')]


def includes():
    """A file includes headers of its own folder, and of those that tests/folders allows it."""
    for path, number, target in included():
        folder = folder_of(path)
        if folder_of(target) not in (folder, *folders()[folder]):
            yield f"{path}:{number}: {folder} may not include {target}"


def order():
    """An arrow leads to a folder further up in tests/folders, and is there for an include."""
    place = {folder: index for index, folder in enumerate(folders())}
    used = collections.defaultdict(set)
    for path, _, target in included():
        used[folder_of(path)].add(folder_of(target))
    for folder, allowed in folders().items():
        for other in allowed:
            if other not in place:
                yield f"tests/folders: {other} is no folder of it"
            elif place[other] > place[folder]:
                yield f"tests/folders: {folder} may include {other}, which is above it"
            if other not in used[folder]:
                yield f"tests/folders: {folder} may include {other} and does not"


def rooms():
    """A file calls what its folder may include; in the objects, where no declaration hides it."""
    for (caller, callee), names in sorted(calls().items()):
        folder, other = folder_of(caller), folder_of(callee)
        if other != folder and other not in folders()[folder]:
            yield f"{caller}: calls {callee} ({', '.join(sorted(names))})"


def circles():
    """Files that call each other in a circle are few, and of one folder."""
    after = collections.defaultdict(set)
    for caller, callee in calls():
        after[caller].add(callee)

    def reach(start):
        seen, left = set(), [start]
        while left:
            for callee in after[left.pop()] - seen:
                seen.add(callee)
                left.append(callee)
        return seen

    reached = {path: reach(path) for path in list(after)}
    told = set()
    for path in sorted(reached):
        circle = {other for other in reached[path] if path in reached.get(other, ())}
        if path in told or path not in circle:
            continue
        told |= circle
        if len(circle) > CIRCLE_MAX or len({folder_of(other) for other in circle}) > 1:
            yield f"{len(circle)} files in a circle: {' '.join(sorted(circle))}"


@functools.cache
def declaring():
    """By name: the headers that have the word."""
    words = collections.defaultdict(list)
    for path in sources("*.h"):
        for word in set(re.findall(r"\w+", text_of(path))):
            words[word].append(path)
    return words


def has_stem(name, path):
    stem = stem_of(path).removesuffix("_private")
    return name == stem or name.startswith(stem + "_")


def names():
    """An exported name begins with its file's, or with that of the header that declares it."""
    defined, _ = symbols()
    for path, exported in sorted(defined.items()):
        if NAMED_BY_OTHERS.match(path):
            continue
        for name in sorted(exported):
            if NAMES_OF_OTHERS.fullmatch(name) or has_stem(name, path):
                continue
            headers = [h for h in declaring()[name] if folder_of(h) == folder_of(path)]
            if not any(has_stem(name, header) for header in headers):
                yield f"{path}: {name} is called after no file"


def used():
    """An exported name is used by another file, or by a test of its own module."""
    defined, wanted = symbols()
    wanted_by = collections.Counter(name for names in wanted.values() for name in names)
    for path, exported in sorted(defined.items()):
        if NAMED_BY_OTHERS.match(path):
            continue
        for name in sorted(exported):
            if wanted_by[name] or NAMES_OF_OTHERS.fullmatch(name):
                continue
            stems = {stem_of(p).removesuffix("_private") for p in [path, *declaring()[name]]}
            tests = [ROOT / f"tests/{kind}/{kind_name}_{stem}.c" for stem in stems
                     for kind, kind_name in (("unit", "test"), ("sim", "test"), ("fuzz", "fuzz"))]
            if not any(re.search(rf"\b{name}\b", test.read_text(encoding="utf-8"))
                       for test in tests if test.exists()):
                yield f"{path}: {name} is used by no other file and by no test of its module"


def headers():
    """A .c file has a header of its name, or a header of its folder names it."""
    for path in sources("*.c"):
        if (ROOT / path).with_suffix(".h").exists() or path == "program/daybook.c":
            continue
        name = pathlib.PurePath(path).name
        beside = [h for h in sources("*.h") if folder_of(h) == folder_of(path)]
        if not any(re.search(rf"\b{re.escape(name)}", text_of(h)) for h in beside):
            yield f"{path}: has no header, and no header of its folder says what it is part of"


def readmes():
    """Each folder says what it is for, and lists modules that are there; the root has no source."""
    for folder in folders():
        readme = ROOT / folder / "README.md"
        if not readme.exists():
            yield f"{folder}: has no README.md"
            continue
        there = [name for path in readme.parent.iterdir() for name in (path.name, path.stem)]
        for head in re.findall(r"^\* ([^:]*):", readme.read_text(), re.MULTILINE):
            for name in re.findall(r"`([^`]+)`", head):
                if not fnmatch.filter(there, name.rstrip("/")):
                    yield f"{folder}/README.md: {name} is not there"
    for path in sorted(ROOT.glob("*.[ch]")):
        yield f"{path.name}: the root keeps no source"


def paths():
    """A path that a comment or a document names is there: git knows it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True,
                            text=True)
    there = set(listed.stdout.splitlines())
    tops = "|".join(sorted({name.split("/")[0] for name in there if "/" in name}))
    path_like = re.compile(rf"(?<![\w./-])((?:{tops})/[\w/.-]*\w\.(?:c|h|y|re|py|sh|md))\b")
    made = {str(pathlib.PurePath(source).with_suffix(extension))
            for source in sources("*.[yr]*") for extension in (".c", ".h")}
    skipped = ("tests/golden/v", "tests/data/", "tests/fuzz/corpus/", "tests/cql/cassandra/")
    read = (".c", ".h", ".md", ".sh", ".py", "Makefile")
    for name in sorted(there):
        if name.startswith(skipped) or not name.endswith(read):
            continue
        for path in sorted(set(path_like.findall(text_of(name)))):
            if path not in there and path not in made:
                yield f"{name}: {path} is not there, or not in git yet (git add)"


RULES = {rule.__name__: rule for rule in
         (includes, order, rooms, circles, names, used, headers, readmes, paths)}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in RULES:
        sys.exit(f"{__doc__}\nRules: {' '.join(RULES)}")
    for line in RULES[sys.argv[1]]():
        print(line)


if __name__ == "__main__":
    main()
