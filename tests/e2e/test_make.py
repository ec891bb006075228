"""What `make` says on a machine that lacks what the build needs, and what it gives to editors."""

import json
import shutil
import subprocess

import pytest

import daybook

# What every machine has; neither a compiler nor pkg-config.
BASIC = ("sh", "bash", "make", "uname", "sed", "mkdir", "touch", "cp", "mv", "rm", "sort", "nproc",
         "dpkg-query", "id")


def test_make_names_what_is_missing_and_what_installs_it(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in BASIC:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    tree = tmp_path / "tree"
    for folder in ("base", "query/cql/syntax"):
        shutil.copytree(daybook.ROOT / folder, tree / folder)
    (tree / "tests").mkdir()
    (tree / "program").mkdir()
    for name in ("Makefile", "program/version.h", "tests/folders", "tests/needed.sh"):
        shutil.copy(daybook.ROOT / name, tree / name)
    done = subprocess.run(["make", "-j2"], cwd=tree, env={"PATH": str(tools), "LC_ALL": "C"},
                          capture_output=True, text=True, timeout=daybook.PATIENCE, check=False)
    assert done.returncode == 2, done
    first, packages, last = done.stderr.splitlines()[:3]
    missing = "gcc ar ld objcopy pkg-config re2c lemon"
    assert first == f"daybook cannot be built yet; missing: {missing}"
    assert packages.startswith("packages of Debian that have it: ")
    assert last == "make deps installs them"
    assert "127" not in done.stderr


@pytest.mark.skipif("release-gcc" not in daybook.PROGRAM, reason="of the release build by gcc")
def test_editors_are_told_how_each_source_is_compiled():
    subprocess.run(["make", "compile_commands"], cwd=daybook.ROOT, check=True, capture_output=True)
    entries = json.loads((daybook.ROOT / "build/compile_commands.json").read_text())
    told = {entry["file"]: entry for entry in entries}
    listed = (daybook.ROOT / "tests/folders").read_text().splitlines()
    folders = [line.split(":")[0] for line in listed if line and not line.startswith("#")]
    sources = {str(path.relative_to(daybook.ROOT)) for folder in [*folders, "bench", "tests/unit"]
               for path in (daybook.ROOT / folder).glob("*.c")}
    assert sources <= set(told) and len(told) == len(entries)
    entry = told["query/cql/syntax/cql_parse.c"]
    subprocess.run(entry["command"] + " -fsyntax-only -MF /dev/null", shell=True, check=True,
                   cwd=entry["directory"])


@pytest.mark.skipif(not (shutil.which("git") and shutil.which("clang-format-16")),
                    reason="git or clang-format-16 is missing")
def test_what_is_committed_is_laid_out_and_held_to_the_rules(tmp_path):
    """A tree of one folder, whose hook `make hooks` installs."""
    (tmp_path / "base").mkdir()
    (tmp_path / "tests").mkdir()
    for name in ("Makefile", "tests/Makefile", "tests/tidy.sh", "tests/structure.py",
                 "tests/pre_commit.sh", ".clang-format"):
        shutil.copy(daybook.ROOT / name, tmp_path / name)
    (tmp_path / "tests/folders").write_text("base:\n")
    (tmp_path / "base/README.md").write_text("# base\n")
    source = tmp_path / "base" / "one.c"

    def run(*words):
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    def commit(text):
        source.write_text(text)
        source.with_suffix(".h").write_text("/* one: a number. */\nint one(void);\n")
        run("git", "add", "base", "tests/folders")
        return run("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "one")

    name = source.relative_to(tmp_path)
    include = f'#include "{name.with_suffix(".h")}"\n\n'
    assert run("git", "init", "--quiet").returncode == 0
    assert run("make", "hooks").returncode == 0
    done = commit(include + "int one(void) { return 1; }\n")
    assert done.returncode == 0, done.stdout + done.stderr
    committed = run("git", "show", f"HEAD:{name}").stdout
    assert committed == include + "int one(void)\n{\n    return 1;\n}\n"
    done = commit(include + 'int one(void)\n{\n    return atoi("1");\n}\n')
    assert done.returncode == 1 and f"{name}:5:" in done.stdout + done.stderr
    assert run("git", "log", "--oneline").stdout.count("\n") == 1
