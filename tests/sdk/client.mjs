// What the official MCP client for JavaScript sees of `countersign mcp`, as one JSON object in the file that is named.
import { writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "conformance", version: "1" });
await client.connect(new StdioClientTransport({ command: "countersign", args: ["mcp"] }));

const prompt = (command, options) => {
  const call = { tool_name: "Bash", input: { command }, tool_use_id: "toolu_1" };
  return client.callTool({ name: "permission_prompt", arguments: call }, undefined, options);
};
const failure = (call) => call.then(() => "no failure", (error) => error.code);
/** The result in the one block, and whether there is anything else. */
const read = ({ content, structuredContent }) => ({
  blocks: content.map((block) => block.type),
  structured: structuredContent !== undefined,
  result: JSON.parse(content[0].text),
});

const seen = { server: client.getServerVersion().name, ping: await client.ping() };
const { tools } = await client.listTools();
seen.tools = tools.map((tool) => [tool.name, tool.outputSchema === undefined]);
seen.two = (await Promise.all([prompt("echo one"), prompt("echo two")])).map(read);
seen.unknown_tool = await failure(client.callTool({ name: "no_such_tool", arguments: {} }));
seen.malformed = read(await client.callTool({ name: "permission_prompt", arguments: {} }));
seen.unknown_method = await failure(client.listResources());

// One waits for a person, and says so; another is answered meanwhile; then the first is taken back.
const abort = new AbortController();
const progress = new Promise((told) => {
  seen.held = failure(prompt("rm mine.txt", { signal: abort.signal, onprogress: ({ message }) => told(message) }));
});
seen.meanwhile = read(await prompt("echo one"));
seen.progress = await progress;
abort.abort();
seen.held = (await seen.held) !== "no failure";
seen.afterwards = await client.ping();
// The server says nothing more of what was taken back; it is given the time to.
await new Promise((done) => setTimeout(done, 500));
await client.close();
writeFileSync(process.argv[2], JSON.stringify(seen));
