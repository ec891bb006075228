"""What `make` says on a machine that lacks what the build needs."""

import shutil
import subprocess

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
