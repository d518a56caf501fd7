// Vercel's AI SDK with tools and middleware, on the server that MUISTI_URL names; the model is made up.

import assert from "node:assert/strict";
import test from "node:test";
import { generateText, stepCountIs, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { memoryMiddleware, memoryTools } from "../dist/ai.js";
import { muisti } from "../dist/index.js";

const options = { skip: !process.env.MUISTI_URL };
const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };

/** A model that answers with these contents in turn, and keeps the prompts that reach it. */
function scripted(...answers) {
  const prompts = [];
  const doGenerate = async ({ prompt }) => {
    prompts.push(prompt);
    const content = answers.shift() ?? [{ type: "text", text: "done" }];
    return { content, finishReason: { unified: content[0].type === "text" ? "stop" : "tool-calls" }, usage, warnings: [] };
  };
  return { model: new MockLanguageModelV3({ doGenerate }), prompts };
}

const calling = (toolName, input) => [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }];

test("a model remembers, is shown what it contradicts, recalls and forgets", options, async () => {
  const memory = muisti().space(`ai-tools-${Date.now()}`);
  await memory.remember("Deploys go out on Fridays.", { author: "agent" });
  const { model } = scripted(
    calling("remember", { content: "Deploys go out on Mondays." }),
    calling("remember", { content: "Ann drinks green tea.", tags: ["taste"] }),
    calling("recall", { query: "what does Ann drink?" }),
    calling("forget", { id: "01a22644-c18e-7e31-b9ca-91d18cd18ce4" }),
  );
  const { steps } = await generateText({ model, prompt: "go", tools: memoryTools(memory, { author: "agent" }), stopWhen: stepCountIs(9) });
  const [refused, stored, found, unknown] = steps.flatMap((step) => step.toolResults.map((one) => one.output));
  assert.match(refused.conflicts[0], /Deploys go out on Fridays/);
  assert.ok(stored.id);
  assert.deepEqual(found.map((one) => one.content), ["Ann drinks green tea."]);
  assert.ok(unknown.error);
});

test("what applies to a prompt reaches the model as data, and nothing else does", options, async () => {
  const memory = muisti().space(`ai-middleware-${Date.now()}`);
  await memory.rememberMany(["Deploys go out on Fridays.", "Ann drinks green tea."]);
  const { model, prompts } = scripted();
  const wrapped = wrapLanguageModel({ model, middleware: memoryMiddleware(memory) });
  for (const prompt of ["On which day do we deploy?", "Who is the king of Spain?"]) await generateText({ model: wrapped, system: "Be brief.", prompt });
  const [known, unknown] = prompts;
  assert.deepEqual(known.map((one) => one.role), ["system", "system", "user"]);
  assert.match(known[1].content, /data.*[\s\S]*Fridays/);
  assert.deepEqual(unknown.map((one) => one.role), ["system", "user"]);
});
