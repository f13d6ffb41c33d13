"""Dead letters where several gateways share the store: any of them shows one and sends it again, once."""
import threading

import pytest

import postgres
from gateways import Echo
from test_dead_letters import give_up
from test_several_gateways import nodes, server, sound  # noqa: F401  (fixtures)

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="no PostgreSQL server is installed")


def test_given_up_at_one_sent_again_at_both_is_one_request(own_bus, nodes, server):  # noqa: F811
    a, b = nodes()
    session, request = give_up(own_bus, a.client, "the text")
    (letter,) = b.client.get("/v1/dead-letters").json["deadLetters"]
    assert letter["request"] == request and letter["text"] == "the text" and letter["skill"] == "fragile"
    assert letter["error"]["code"] == "dead_lettered" and "retriedAs" not in letter
    assert b.client.get(f"/v1/dead-letters/{letter['id']}").json == a.client.get(f"/v1/dead-letters/{letter['id']}").json
    # The one that had it is gone: the list is everybody's.
    a.kill()
    a.start()
    echo = Echo(own_bus, "fragile")
    try:
        barrier = threading.Barrier(2)
        answers = []

        def retry(node):
            barrier.wait()
            answers.append(node.client.call("POST", f"/v1/dead-letters/{letter['id']}/retry"))

        threads = [threading.Thread(target=retry, args=(node,)) for node in (a, b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.status for answer in answers] == [202, 202], [answer.json for answer in answers]
        (again,) = {answer.json["id"] for answer in answers}
        with b.client.follow(session) as stream:
            events = stream.until_end(again)
        own = [event for _, _, event in events if event["request"] == again]
        assert own[0]["data"]["retryOf"] == request and own[-1]["data"]["output"]["text"] == "the text"
        assert echo.runs == {"the text": 1}
    finally:
        echo.close()
    assert b.client.get(f"/v1/dead-letters/{letter['id']}").json["deadLetter"]["retriedAs"] == again
    assert a.client.call("DELETE", f"/v1/dead-letters/{letter['id']}").status == 204
    assert b.client.get("/v1/dead-letters").json["deadLetters"] == []
    assert b.client.call("POST", f"/v1/dead-letters/{letter['id']}/retry").json["code"] == "dead_letter_not_found"
    sound(server, b)
