// The official TypeScript client does what an agent does: list, call, read. Any surprise ends it with an error.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
for (const name of ["remember", "recall", "get_memory", "memory_history", "undo"]) {
  assert.ok(tools.some((tool) => tool.name === name), name);
}
const made = await client.callTool({ name: "remember", arguments: { content: "The client speaks TypeScript" } });
const id = made.structuredContent.memory.id;
const found = await client.callTool({ name: "recall", arguments: { query: "TypeScript" } });
assert.ok(found.structuredContent.memories.some((memory) => memory.id === id));
const read = await client.readResource({ uri: `memory://default/${id}` });
assert.equal(JSON.parse(read.contents[0].text).content, "The client speaks TypeScript");
const { prompts } = await client.listPrompts();
assert.equal(prompts.length, 2);
await client.close();
console.log("typescript client: ok");
