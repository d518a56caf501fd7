// Converts the tools for models as Node clients do, and calls some: node converters.mjs URL COMMAND...
// Each client prints one line for each transport, which tests/conformance/__main__.py reads.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { connectToMcpServer, discoverTools } from "@google/gemini-cli-core/dist/src/tools/mcp-client.js";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const [url, command, ...args] = process.argv.slice(2);
const ADDED = "wait_for_previous"; // an argument that Gemini's client adds to each tool
const shape = (name, { properties = {}, required = [] }) => (
  { name, properties: Object.keys(properties).filter((key) => key !== ADDED), required }
);

// Discovers tools as the command line of Gemini does, which checks arguments by the schema before it calls.
async function gemini(overHttp) {
  const problems = [];
  const context = {
    sanitizationConfig: { enableEnvironmentVariableRedaction: false },
    emitMcpDiagnostic: (severity, message) => problems.push(`${severity}: ${message}`),
    isTrustedFolder: () => true,
  };
  const workspace = { getDirectories: () => [], onDirectoriesChanged: () => () => undefined };
  const config = overHttp ? { httpUrl: url, trust: true } : { command, args, trust: true };
  const client = await connectToMcpServer("1", "muisti", config, false, workspace, context);
  const bus = { publish() {}, subscribe() {}, unsubscribe() {} };
  const found = await discoverTools("muisti", config, client, context, bus);
  const tools = found.map((tool) => shape(tool.serverToolName, tool.schema.parametersJsonSchema));
  const calls = [];
  for (const [name, params] of [
    ["remember", { content: "gemini-cli stores this", tags: ["clients"], importance: "high" }],
    ["recall", { query: "what does gemini-cli store?", limit: 5 }],
  ]) {
    const tool = found.find((one) => one.serverToolName === name);
    const result = await tool.build(params).execute({ abortSignal: new AbortController().signal });
    calls.push({ tool: name, good: !result.error, text: JSON.stringify(result.llmContent) });
  }
  await client.close();
  return { tools, calls, problems };
}

// Runs the loop of the AI SDK on a model that follows a script.
async function aiSdk(overHttp) {
  const transport = overHttp ? { type: "http", url } : new StdioTransport({ command, args });
  const client = await createMCPClient({ transport });
  const script = [
    ["remember", { content: "the AI SDK stores this", tags: ["clients"] }],
    ["recall", { query: "what does the AI SDK store?", limit: 5, category: null, tags: [] }],
  ];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const [toolName, input] = script.shift() ?? [];
      const content = toolName
        ? { type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }
        : { type: "text", text: "done" };
      const finishReason = { unified: toolName ? "tool-calls" : "stop" };
      return { content: [content], finishReason, usage, warnings: [] };
    },
  });
  const { steps } = await generateText({ model, tools: await client.tools(), stopWhen: stepCountIs(5), prompt: "go" });
  const tools = model.doGenerateCalls[0].tools.map((tool) => shape(tool.name, tool.inputSchema));
  const problems = steps.flatMap((step) => step.content).filter((part) => part.type === "tool-error");
  const calls = steps.flatMap((step) => step.toolResults).map((part) => (
    { tool: part.toolName, good: !part.output.isError, text: part.output.content[0].text }
  ));
  await client.close();
  return { tools, calls, problems: problems.map((part) => String(part.error)) };
}

const pinned = JSON.parse(readFileSync(new URL("package.json", import.meta.url))).dependencies;
for (const [name, run] of [["@google/gemini-cli-core", gemini], ["@ai-sdk/mcp", aiSdk]]) {
  for (const overHttp of [true, false]) {
    const found = await run(overHttp);
    const transport = overHttp ? "HTTP" : "stdio";
    console.log(JSON.stringify({ client: `${name} ${pinned[name]}`, transport, ...found }));
  }
}
process.exit(0);
