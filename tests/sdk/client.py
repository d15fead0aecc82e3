"""What the official MCP client for Python sees of `countersign mcp`, as one JSON object in the file that is named."""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters


async def main(file):
    # Its first request is `server/discover`, which no older server knows.
    async with Client(StdioServerParameters(command="countersign", args=["mcp"])) as client:
        seen = {"server": client.server_info.name}
        await client.send_ping()
        seen["ping"] = {}
        tools = (await client.list_tools()).tools
        seen["tools"] = [[tool.name, tool.output_schema is None] for tool in tools]

        seen["two"] = [None, None]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(into, seen["two"], 0, client, "echo one")
            tasks.start_soon(into, seen["two"], 1, client, "echo two")
        seen["unknown_tool"] = await failure(client.call_tool("no_such_tool", {}))
        seen["malformed"] = read(await client.call_tool("permission_prompt", {}))
        # The client itself knows that the server has none.
        seen["unknown_method"] = await failure(client.session.list_resources())

        # This client gives its server no terminal, so nobody can be asked. Yet one call waits for a moment, for what a
        # hook may hand on, and is taken back; another is answered meanwhile.
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, client, "rm mine.txt")
            seen["meanwhile"] = read(await prompt(client, "echo one"))
            tasks.cancel_scope.cancel()
        seen["held"] = True
        await client.send_ping()
        seen["afterwards"] = {}
        # The server says nothing more of what was taken back; it is given the time to.
        await anyio.sleep(0.5)
    with open(file, "w") as out:
        json.dump(seen, out)


async def prompt(client, command):
    call = {"tool_name": "Bash", "input": {"command": command}, "tool_use_id": "toolu_1"}
    return await client.call_tool("permission_prompt", call)


async def into(results, place, client, command):
    results[place] = read(await prompt(client, command))


def read(result):
    """The result in the one block, and whether there is anything else."""
    return {
        "blocks": [block.type for block in result.content],
        "structured": result.structured_content is not None,
        "result": json.loads(result.content[0].text),
    }


async def failure(call):
    try:
        await call
        return "no failure"
    except MCPError as error:
        return error.error.code


anyio.run(main, sys.argv[1])
