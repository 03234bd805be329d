"""What surrounds a request: keys, sizes, queues, states of the server, unknown routes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from schemas import SchemaError
from server.compiler import CompileFailed
from server.engine_client import EngineRequestError
from tests.server.stub import TOOLS, Stub, StubEngine, call, chunks, say, serve
from tests.server.test_disconnects import send, until

ROUTES = [
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/stub"),
    ("GET", "/v1/nothing"),
    ("DELETE", "/v1/chat/completions"),
]


@pytest.fixture(scope="module")
def locked() -> Iterator[Stub]:
    with serve(StubEngine(), api_keys=("first-key", "schlüssel")) as stub:
        yield stub


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_v1_route_asks_for_a_key(locked: Stub, method: str, path: str) -> None:
    for header in (None, "first-key", "Bearer", "Bearer wrong", "Basic first-key", "Bearer first-key2"):
        headers = {} if header is None else {"authorization": header}
        response = locked.client.request(method, path, headers=headers)
        assert response.status_code == 401, header
        error = response.json()["error"]
        assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, "invalid_api_key")
        assert "first-key" not in error["message"]
        assert response.headers["x-request-id"].startswith("req_")


def test_no_route_is_forgotten(locked: Stub) -> None:
    """i1: whatever is added later asks for a key, too."""
    paths = {path for route in locked.app.routes if (path := getattr(route, "path", None))}
    closed = {path for path in paths if path.startswith("/v1/")}
    assert paths - closed == {"/health/live", "/health/ready", "/version", "/metrics"}
    assert closed == {"/v1/chat/completions", "/v1/models", "/v1/models/{name:path}"}
    for path in closed:
        assert locked.client.get(path).status_code == 401


def test_a_mounted_app_asks_for_a_key_all_the_same(locked: Stub) -> None:
    async def run() -> None:
        outer = Starlette(routes=[Mount("/inner", app=locked.app)])
        transport = httpx2.ASGITransport(app=outer)
        async with httpx2.AsyncClient(transport=transport, base_url="http://outer") as client:
            for method, path in ROUTES:
                assert (await client.request(method, f"/inner{path}")).status_code == 401, path
            assert (await client.get("/inner/health/live")).status_code == 200
            headers = {"authorization": "Bearer first-key"}
            assert (await client.get("/inner/v1/models", headers=headers)).status_code == 200
            body = {"model": "stub", "messages": [{"role": "user", "content": "Hi"}]}
            assert (await client.post("/inner/v1/chat/completions", headers=headers, json=body)).status_code == 200

    asyncio.run(run())


def test_each_key_opens(locked: Stub) -> None:
    for key in (b"first-key", "schlüssel".encode()):
        response = locked.client.get("/v1/models", headers=[(b"authorization", b"Bearer " + key)])
        assert response.status_code == 200, key
    for open_path in ("/health/live", "/health/ready", "/version", "/metrics"):
        assert locked.client.get(open_path).status_code == 200


def test_body_limit() -> None:
    with serve(StubEngine(), max_body_bytes=2000) as stub:
        assert stub.chat(user="x" * 1000).status_code == 200
        response = stub.chat(user="x" * 2000)
        assert response.status_code == 413
        assert response.json()["error"]["code"] == "request_too_large"
        assert "2000" in response.json()["error"]["message"]

        def endless() -> Iterator[bytes]:
            yield b'{"user": "'
            for _ in range(100):
                yield b"x" * 100

        response = stub.client.post("/v1/chat/completions", content=endless())
        assert response.status_code == 413, "without a content-length too"
        large = stub.chat(user="x" * 15_000)
        assert large.status_code == 413, "the client is let finish, so that it sees the answer"


def test_unknown_paths_and_methods(stub: Stub) -> None:
    for method, path, status in [
        ("GET", "/", 404),
        ("GET", "/v1", 404),
        ("POST", "/v1/chat/completions/", 404),
        ("GET", "/v1/chat/completions", 405),
        ("POST", "/v1/models", 405),
        ("GET", "/docs", 404),
        ("GET", "/openapi.json", 404),
    ]:
        response = stub.client.request(method, path)
        assert response.status_code == status, path
        error = response.json()["error"]
        assert error.keys() == {"message", "type", "param", "code"}
        assert path in error["message"]
    assert stub.client.get("/v1/chat/completions").headers["allow"] == "POST"


def test_models(stub: Stub) -> None:
    listed = stub.client.get("/v1/models").json()
    assert [m["id"] for m in listed["data"]] == ["stub", "stub-alias"]
    assert stub.client.get("/v1/models/stub-alias").json() == listed["data"][1]
    response = stub.client.get("/v1/models/org/else")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"
    assert stub.chat(model="stub-alias").json()["model"] == "stub"
    assert stub.client.get("/version").json()["version"]


def test_while_the_model_loads_and_when_the_server_stops() -> None:
    with serve(None) as stub:
        assert stub.client.get("/health/live").status_code == 200
        ready = stub.client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "loading")
        for response in (stub.chat(), stub.client.get("/v1/models")):
            assert response.status_code == 503
            assert int(response.headers["retry-after"]) > 0
            assert response.json()["error"]["type"] == "server_error"
            assert "loading" in response.json()["error"]["message"]
        stub.app.state.engine = StubEngine()
        assert stub.client.get("/health/ready").status_code == 200
        assert stub.chat().status_code == 200
        stub.app.state.draining = True
        assert stub.client.get("/health/ready").status_code == 503
        assert stub.client.get("/health/live").status_code == 200
        response = stub.chat()
        assert response.status_code == 503
        assert "retry-after" in response.headers


def test_on_engine_names_the_format() -> None:
    with serve(None, tool_format="auto") as stub:
        engine = StubEngine()
        asyncio.run(_give(stub, engine))
        assert stub.app.state.format_name == "prompted"
        assert stub.app.state.engine is engine
    with serve(None, tool_format="nonsense") as stub, pytest.raises(ValueError, match="hermes"):
        asyncio.run(_give(stub, StubEngine()))


async def _give(stub: Stub, engine: StubEngine) -> None:
    await stub.app.state.on_engine(engine)
    await stub.app.state.serving.compiler.close()  # in the loop that it was used in


def test_a_dead_engine(own: Stub) -> None:
    own.engine.dead = True
    for stream in (False, True):
        response = own.chat(stream=stream)
        assert response.status_code == 503
        assert "stopped" in response.json()["error"]["message"]
    assert own.client.get("/health/live").status_code == 503
    assert own.client.get("/health/ready").json()["status"] == "engine dead"


def test_a_request_that_the_engine_refuses(own: Stub) -> None:
    own.engine.script = say(EngineRequestError("the grammar failed"))
    for stream in (False, True):
        response = own.chat(stream=stream)
        assert response.status_code == 500
        error = response.json()["error"]
        assert (error["code"], error["type"]) == ("engine_error", "server_error")
        assert "the grammar failed" in error["message"]
    own.engine.script = say("Hel", EngineRequestError("the grammar failed"))
    assert chunks(own.chat(stream=True).content, done=False)[-1]["error"]["code"] == "engine_error"
    assert own.chat(n=2).status_code == 500
    assert own.metric("strictcall_requests_running") == 0
    own.engine.script = say("Hello")
    assert own.chat().status_code == 200


class PanicException(BaseException):
    """As Rust extensions raise it: no Exception."""


def test_a_panic_of_native_code_is_an_error_of_one_request(own: Stub) -> None:
    own.engine.script = say("Hel", PanicException("index out of bounds"))
    response = own.chat()
    assert (response.status_code, response.json()["error"]["code"]) == (500, "engine_error")
    frames = chunks(own.chat(stream=True, n=2).content, done=False)
    assert frames[-1]["error"]["code"] == "engine_error"
    own.engine.script = say("Hello")
    assert own.chat().status_code == 200
    assert own.metric("strictcall_requests_running") == 0


def test_tools_that_are_too_much_together(own: Stub) -> None:
    """a18: what cannot be compiled is refused and never generated without its grammar."""

    async def refuse(grammar: str) -> None:
        raise SchemaError("", "", "over a limit of the grammar engine: too many symbols")

    own.app.state.serving.compiler.try_grammar = refuse
    response = own.chat(tools=TOOLS)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("tools", "invalid_function_parameters")
    assert "too many symbols" in error["message"]
    assert own.chat().status_code == 200


def test_a_fault_of_the_compiler_is_500(own: Stub) -> None:
    async def fail(*_: object) -> None:
        raise CompileFailed("Traceback: secret")

    own.app.state.serving.compiler.compile = fail
    response = own.chat(tools=TOOLS)
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    assert "secret" not in response.text


@pytest.fixture
def own() -> Iterator[Stub]:
    with serve(StubEngine()) as stub:
        yield stub


def test_a_full_queue_is_429() -> None:
    with serve(StubEngine(), max_running=1, max_queued=1) as stub:
        stub.engine.script = say("x", 60.0)
        first = send(stub, stream=True)
        until(lambda: stub.engine.running == 1)
        stub.engine.script = say("Hello")
        second: list[int] = []
        waiting = threading.Thread(target=lambda: second.append(stub.chat().status_code))
        waiting.start()
        until(lambda: stub.metric("strictcall_requests_queued") == 1)
        response = stub.chat()
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) > 0
        assert response.json()["error"]["type"] == "rate_limit_error"
        assert stub.client.get("/health/ready").status_code == 200
        first.close()
        waiting.join(30)
        assert second == [200]
        assert stub.metric("strictcall_requests_running") == 0


def test_a_stopping_server_ends_streams_with_an_error_frame() -> None:
    with serve(StubEngine(), keepalive_seconds=0.1) as stub:
        stub.engine.script = say("Hello", 60.0)
        connection = send(stub, stream=True)
        raw = b""
        while b"Hello" not in raw:
            raw += connection.recv(65536)
        stub.server.config.timeout_graceful_shutdown = 1
        stub.server.should_exit = True
        while part := connection.recv(65536):
            raw += part
        connection.close()
        until(lambda: stub.engine.running == 0)
    assert b'"code":"service_unavailable"' in raw
    assert b"[DONE]" not in raw
    assert b'"finish_reason":"stop"' not in raw


def test_metrics(own: Stub) -> None:
    own.engine.script = say(call("now", "{}"))
    assert own.chat(tools=TOOLS, tool_choice="required").status_code == 200
    assert own.frames(tools=TOOLS, tool_choice="required")
    own.client.get("/nowhere")
    text = own.client.get("/metrics").text
    for line in (
        'strictcall_requests_total{route="/v1/chat/completions",status="200"} 2.0',
        'strictcall_requests_total{route="unmatched",status="404"} 1.0',
        "strictcall_requests_running 0.0",
        'strictcall_tool_calls_total{outcome="complete"} 2.0',
        "strictcall_guarantee_violations_total 0.0",
        "strictcall_resampled_calls_total 0.0",
        "strictcall_ttft_seconds_count 2.0",
        "strictcall_grammar_cache_misses_total 3.0",
        "strictcall_grammar_cache_hits_total 3.0",
        "strictcall_grammar_compile_seconds_count 3.0",
    ):
        assert line in text.splitlines()
    for name in ("inter_delta_seconds_count", "prompt_tokens_total", "completion_tokens_total"):
        assert own.metric(f"strictcall_{name}") > 0
