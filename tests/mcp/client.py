"""The MCP server, asked by the client of the package `mcp`, which no one here wrote.

Usage: client.py SERVER FOLDER. The server is the built example; stores go into the folder.
Exits with an error at the first answer that isn't as it must be.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

SERVER, FOLDER = sys.argv[1], Path(sys.argv[2])
NAMES = ["memory_save", "memory_get", "memory_search", "memory_list", "memory_delete"]
INVALID_PARAMS = -32602


def connect(store, *options, mode="legacy"):
    """A connection of its own to a process of its own."""
    arguments = [str(FOLDER / store), *options]
    server = StdioServerParameters(command=SERVER, args=arguments)
    return Client(stdio_client(server), mode=mode)


async def call(client, name, arguments):
    """The output of a call that succeeds. The client has validated it by the tool's output schema."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content, result
    return result.structured_content


async def fails(client, name, arguments):
    """The error of a call that fails, as the model reads it."""
    result = await client.call_tool(name, arguments)
    assert result.is_error and result.structured_content is None, result
    return json.loads(result.content[0].text)["error"]


async def refused(coroutine):
    """The code of a protocol error."""
    try:
        answer = await coroutine
    except MCPError as error:
        return error.error.code
    raise AssertionError(f"no protocol error: {answer}")


async def check_definitions(mode):
    async with connect("definitions.db", mode=mode) as client:
        assert client.server_info.name == "strandline", client.server_info
        assert "memory_save" in client.instructions
        assert client.server_capabilities.tools is not None
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        for tool in tools:
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
        hints = {tool.name: tool.annotations for tool in tools}
        for name in NAMES:
            reads = name in ("memory_get", "memory_search", "memory_list")
            assert hints[name].read_only_hint is reads, name
            assert hints[name].destructive_hint is (name == "memory_delete"), name
            assert hints[name].open_world_hint is False, name
        version = client.session.protocol_version
        assert (version >= "2026-07-28") == (mode == "auto"), version
    print(f"definitions ({mode}, protocol {version}): five tools, valid schemas, hints, instructions")


async def check_verbs(mode):
    async with connect(f"verbs-{mode}.db", mode=mode) as client:
        draft = {"key": "user-name", "content": "The user is called Ada", "tags": ["persona"]}
        saved = await call(client, "memory_save", draft)
        assert saved == {"saved": True, "key": "user-name", "classification": "PUBLIC"}
        got = await call(client, "memory_get", {"key": "user-name"})
        assert got["found"] and got["content"] == draft["content"] and got["tags"] == ["persona"]
        assert await call(client, "memory_get", {"key": "no"}) == {"found": False, "key": "no"}
        question = {"query": "what is the user called?", "max_results": 100_000}
        found = await call(client, "memory_search", question)
        assert [hit["key"] for hit in found["results"]] == ["user-name"] and "max_results" in found
        listed = await call(client, "memory_list", {"tag": "persona"})
        assert [memory["key"] for memory in listed["memories"]] == ["user-name"]
        assert (await call(client, "memory_list", {}))["memories"] == listed["memories"]
        deleted = await call(client, "memory_delete", {"key": "user-name"})
        assert deleted == {"deleted": True, "key": "user-name"}
        assert not (await call(client, "memory_get", {"key": "user-name"}))["found"]
        assert (await fails(client, "memory_delete", {"key": "user-name"}))["code"] == "not_found"
    print(f"verbs ({mode}): save, get, search, list, delete")


async def check_many():
    async with connect("many.db") as client:
        saves = [call(client, "memory_save", {"key": f"k{n:03}", "content": "x"}) for n in range(210)]
        await asyncio.gather(*saves)
        listed = await call(client, "memory_list", {})
        assert len(listed["memories"]) == 200 and listed["truncated"] and listed["total"] == 210
    print("210 saves at once, and a list that is cut")


async def check_refusals(mode):
    async with connect("refusals.db", mode=mode) as client:
        for arguments in ({}, {"key": 5}, {"id": "k"}, {"key": ""}, {"key": "k", "x": 1}):
            error = await fails(client, "memory_get", arguments)
            assert error["code"] == "invalid_argument", error
        assert (await fails(client, "memory_search", {"query": "q", "max_results": 0}))["code"]
        assert await refused(client.call_tool("read_file", {})) == INVALID_PARAMS
        assert not (await call(client, "memory_get", {"key": "k"}))["found"], "it still serves"
    print(f"refusals ({mode}): wrong arguments are errors of the tool, an unknown tool one of the protocol")


async def check_levels():
    store = "levels.db"
    async with connect(store, "--taint", "CONFIDENTIAL") as high, connect(store) as low:
        draft = {"key": "salary", "content": "5 doubloons", "classification": "PUBLIC"}
        saved = await call(high, "memory_save", draft)
        assert saved["classification"] == "CONFIDENTIAL", "the client chose a level"
        for level in ("level", "taint", "ceiling"):
            argument = {"key": "k", "content": "c", level: "PUBLIC"}
            result = await high.call_tool("memory_save", argument)
            assert result.is_error or result.structured_content["classification"] == "CONFIDENTIAL"
        assert (await call(high, "memory_get", {"key": "salary"}))["found"]

        unseen = await call(low, "memory_get", {"key": "salary", "classification": "RESTRICTED"})
        assert unseen == {"found": False, "key": "salary"}
        assert (await call(low, "memory_search", {"query": "doubloons"}))["results"] == []
        assert await call(low, "memory_list", {}) == {"memories": []}
        assert (await fails(low, "memory_delete", {"key": "salary"}))["code"] == "not_found"
        mine = await call(low, "memory_save", {"key": "salary", "content": "unknown"})
        assert mine["classification"] == "PUBLIC"
        assert (await call(high, "memory_get", {"key": "salary"}))["content"] == "5 doubloons"
        assert (await fails(high, "memory_delete", {"key": "no"}))["code"] == "not_found"
    async with connect(store, "--agent", "other", "--taint", "RESTRICTED") as other:
        assert await call(other, "memory_list", {}) == {"memories": []}
    async with connect(store) as again:
        assert (await call(again, "memory_get", {"key": "salary"}))["content"] == "unknown"
    print("levels: a level that the client sends has no effect, and a lower connection sees no trace")


def check_ceiling():
    options = ["--taint", "RESTRICTED", "--ceiling", "INTERNAL"]
    command = [SERVER, str(FOLDER / "ceiling.db"), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and done.stdout == "" and "ceiling" in done.stderr, done
    print("ceiling: a taint above it is refused, on stderr")


def check_bad_lines():
    """What no proper client sends: the line gets an error, and the next is served."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_get", "arguments": "k"}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"arguments": {}}},
        {"jsonrpc": "2.0", "id": 4, "method": "memory/raise", "params": {"level": "RESTRICTED"}},
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "memory_get", "arguments": {"key": "k"}}},
    ]
    command = [SERVER, str(FOLDER / "lines.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        codes = {}
        for line in lines:
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            if "id" in line:
                answer = json.loads(server.stdout.readline())
                codes[answer["id"]] = answer.get("error", {}).get("code")
        server.stdin.close()
        rest = server.stdout.read()
    assert codes == {1: None, 2: INVALID_PARAMS, 3: INVALID_PARAMS, 4: -32601, 5: None}, codes
    assert rest == "" and server.returncode == 0, "it ends when its input does"
    print("lines: malformed parameters are errors of the protocol, and the next line is served")


async def main():
    for mode in ("legacy", "auto"):
        await check_definitions(mode)
        await check_verbs(mode)
        await check_refusals(mode)
    await check_many()
    await check_levels()
    check_ceiling()
    check_bad_lines()


asyncio.run(main())
