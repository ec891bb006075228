"""The limits that are documented are those of the program, and a few are met."""

import daybook


def test_the_documented_limits_are_those_of_the_program():
    table = daybook.run("limits").out
    text = (daybook.ROOT / "docs" / "OPERATIONS.md").read_text()
    limits = text.split("\n## Limits\n", 1)[1].split("\n## ", 1)[0]
    assert table in limits, "docs/OPERATIONS.md \"Limits\" is to hold what `daybook limits` prints"


def test_one_connection_too_many_is_told_so_and_the_others_go_on(serve):
    server = serve(wrapper=("prlimit", "--nofile=4096"))
    clients = [server.client() for _ in range(1024)]
    clients[-1].send("r,2013-11-28,1385654400123,a,1\n#sync\n")
    assert clients[-1].line() == "ok - accepted 1 rejected 0"
    over = server.client()
    assert over.line() == "error - too_many_connections"
    assert over.line() is None
    clients[0].send("r,2013-11-28,1385654400123,a,1\n#sync\n")
    assert clients[0].line() == "ok - accepted 1 rejected 0"
    for client in clients + [over]:
        client.close()


def is_served(server):
    """A connection that came while no file was free is hung up."""
    client = server.client()
    try:
        return client.send("r,2013-11-28,1385654400123,a,1\n#sync\n").line() is not None
    except ConnectionError:
        return False
    finally:
        client.close()


def test_a_server_that_is_out_of_open_files_keeps_what_it_has_and_goes_on(serve):
    server = serve(wrapper=("prlimit", "--nofile=64"))
    held = server.client()
    held.send("r,2013-11-28,1385654400123,a,1\n#sync\n")
    assert held.line() == "ok - accepted 1 rejected 0"
    clients = [server.client() for _ in range(80)]
    held.send("r,2013-11-28,1385654400123,a,1\n#sync\n")
    assert held.line() == "ok - accepted 1 rejected 0"
    for client in clients:
        client.close()
    daybook.wait_until(lambda: is_served(server), "a connection that is served")
    held.close()
    assert "all agree" in server.run("verify").out
