"""What the doors have in common: who may come in, and that no client keeps others out."""

GOOD = "r1,2013-11-28,1385654400123,ad42,0.005\n"


def test_a_page_in_a_browser_sends_no_clicks(serve):
    server = serve()
    request = ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
               f"Content-Length: {len(GOOD)}\r\n\r\n{GOOD}")
    assert server.client().send(request).rest() == ["error - http"]
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    counted = server.run("counters", "clicks_per_ad", "--format", "csv").out
    assert counted.splitlines()[1:] == ["ad42,1"]
