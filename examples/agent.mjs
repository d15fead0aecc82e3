// A task for Claude Code whose permission prompts Countersign answers: node agent.mjs 'fix the failing test'
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { query } from "@anthropic-ai/claude-agent-sdk";

/**
 * What `countersign` answers to one object. An aborted signal ends it with SIGTERM, which takes its question back.
 * @param {string[]} args
 * @param {object} given
 * @param {AbortSignal} signal
 */
async function countersign(args, given, signal) {
  const child = spawn("countersign", args, { signal, killSignal: "SIGTERM" });
  child.stdin.on("error", () => {}); // It may end before it has read everything.
  child.stdin.end(JSON.stringify(given));
  const [printed, said, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (status !== 0) throw new Error(said.trim()); // Nobody decided: Claude Code then denies the call.
  return JSON.parse(printed);
}

/** What the callback is not told of a call, such as where the shell stands; hooks are. By the call's id. */
const known = new Map();

/**
 * Before every call, those that never come to the callback among them: what is critical is denied.
 * @type {import("@anthropic-ai/claude-agent-sdk").HookCallback}
 */
async function guard(event, id, { signal }) {
  known.set(id, { cwd: event.cwd, session_id: event.session_id, permission_mode: event.permission_mode });
  try {
    return await countersign(["hook", "--guard", "critical"], event, signal);
  } catch (error) {
    const permissionDecisionReason = `The guard does not run: ${error.message}`;
    return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason } };
  }
}

/** @type {import("@anthropic-ai/claude-agent-sdk").CanUseTool} */
async function canUseTool(tool_name, input, { signal, ...options }) {
  return countersign(["decide"], { ...options, ...known.get(options.toolUseID), tool_name, input }, signal);
}

/** Streaming input; more messages may follow, as answers to what the model says. */
async function* messages(task) {
  yield { type: "user", message: { role: "user", content: task }, parent_tool_use_id: null };
}

const options = { canUseTool, hooks: { PreToolUse: [{ hooks: [guard] }] } };
for await (const message of query({ prompt: messages(process.argv[2]), options })) {
  if (message.type === "result") {
    for (const denied of message.permission_denials) console.error(`denied: ${denied.tool_name}`);
    console.log(message.result ?? message.subtype);
  }
}
