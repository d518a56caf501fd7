// Muisti for OpenCode: shows the model what is known at a session's start, at prompts and at files that are opened.
// `muisti hook uninstall opencode` removes this file. muisti_hook.py does the work.
import { spawn } from "node:child_process";

const COMMAND = ["@COMMAND@"];

const ask = (event, cwd, session_id, fields) =>
  new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: 5000 });
    let answer = "";
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => (answer += part));
    child.on("close", () => resolve(answer));
    child.stdin.end(JSON.stringify({ hook_event_name: event, cwd, session_id, ...fields }));
  });

export const Muisti = async ({ directory }) => {
  const known = new Map(); // what the next request of a session shows, by its id
  const add = (session, text) => text && known.set(session, [...(known.get(session) ?? []), text].slice(-20));
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const prompt = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      if (!known.has(sessionID)) {
        known.set(sessionID, []);
        add(sessionID, await ask("start", directory, sessionID, {}));
      }
      add(sessionID, await ask("prompt", directory, sessionID, { prompt }));
    },
    "tool.execute.before": async ({ sessionID, tool }, { args }) => {
      const path = args?.filePath ?? args?.path;
      if (["read", "edit", "write"].includes(tool) && path)
        add(sessionID, await ask("file", directory, sessionID, { tool_input: { path } }));
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      system.push(...(known.get(sessionID) ?? []));
    },
    event: async ({ event }) => {
      if (event.type === "session.deleted") known.delete(event.properties?.info?.id);
      if (event.type === "session.compacted") known.delete(event.properties?.sessionID);
    },
  };
};
