"""Whose files are whose: modes of what is made, and what is done about others'."""

import os

import pytest

import daybook

CLICK = "r,2013-11-28,1385605012000,a,0.01\n"
HASH = "$2b$10$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"


def modes(directory):
    """Of the directory and all below it, sockets left out: the modes that there are."""
    found = {("directory", directory.stat().st_mode & 0o777)}
    for path in directory.rglob("*"):
        if path.is_dir() or path.is_file():
            kind = "directory" if path.is_dir() else "file"
            found.add((kind, path.stat().st_mode & 0o777))
    return found


OURS = {("directory", 0o700), ("file", 0o600)}


def test_what_is_made_is_its_owners_alone(serve, directory, tmp_path):
    server = serve()
    server.client().send(CLICK).finish().rest()
    server.run("compact")
    assert modes(directory) == OURS
    server.run("backup", tmp_path / "backup")
    assert modes(tmp_path / "backup") == OURS
    assert server.stop() == 0
    assert modes(directory) == OURS


def test_a_directory_of_an_older_version_is_closed_to_others_when_it_is_opened(serve, directory):
    server = serve()
    server.client().send(CLICK).finish().rest()
    server.run("compact")
    server.stop()
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    daybook.run("report", "-d", directory)
    assert modes(directory) == {("directory", 0o755), ("file", 0o644)}, "a reader changes nothing"
    server = serve()
    assert modes(directory) == OURS
    assert "level=notice event=directory_closed_to_others path=" in server.text()
    server.stop()
    assert "directory_closed_to_others" not in serve().text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_users_open_directory_is_refused_with_what_to_do(directory):
    daybook.run("init", "-d", directory)
    directory.chmod(0o755)
    os.chown(directory, 12345, -1)
    answer = daybook.run("serve", "-d", directory, "--ingest", "none", "--cql", "none", status=3)
    assert f"mode 0755); its owner, user 12345, has to say chmod 700 '{directory}'" in answer.err
    directory.chmod(0o700)
    daybook.run("rate", "set", "r", "2013-11-01", "25%", "-d", directory)


def test_rejects_and_locks_are_not_written_through_a_link(directory, tmp_path):
    clicks = tmp_path / "clicks.csv"
    clicks.write_text(CLICK + "bad\n")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    rejects = tmp_path / "clicks.csv.rejects.csv"
    rejects.symlink_to(victim)
    answer = daybook.run("load", "-d", directory, clicks)
    assert f"cannot write {rejects}" in answer.err
    (directory / "lock").symlink_to(victim)
    daybook.run("load", "-d", directory, clicks, status=3)
    (directory / "lock").unlink()
    assert victim.read_text() == "precious"
    rejects.unlink()
    daybook.run("load", "-d", directory, clicks, "--as", "again")
    assert rejects.stat().st_mode & 0o777 == 0o600


def test_the_password_files_mode_is_looked_at(serve, directory, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.write_text(f"ann:{HASH}\n")
    options = ("--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    passwords.chmod(0o660)
    answer = daybook.run("serve", "-d", directory, "--ingest", "none", *options, status=2)
    assert f"(mode 0660); chmod 640 '{passwords}'" in answer.err
    passwords.chmod(0o644)
    server = serve(*options)
    assert "level=warning event=passwords_readable path=" in server.text()
    server.stop()
    passwords.chmod(0o640)
    assert "passwords_readable" not in serve(*options).text()
