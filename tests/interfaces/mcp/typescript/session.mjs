// One session with the MCP server by the TypeScript SDK: initialise, list, call each tool once, malformed calls, a call
// during a long one, a clean end. Prints one line a step; exits with 1 at the first thing that is not as it should be.
//
// node session.mjs LONG SHORT COMMAND [ARGUMENT...]
//   LONG   a tool whose first call takes long, SHORT one that is to be answered meanwhile

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const TOOLS = [
  "get_context", "recall", "learn", "feedback", "add_bullet", "search_bullets", "list_bullets", "update_bullet",
  "remove_bullet", "log", "import_playbook", "export_playbook", "stats",
];
const QUESTION = "My card was charged twice. Which team takes the ticket?";
const ARGUMENTS = { get_context: { query: QUESTION }, recall: { question: QUESTION }, log: { text: "A session." }, stats: {} };

const [long, short, command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "pipe" });
const client = new Client({ name: "cheatsheet-session", version: "0.0.0" });
const strays = [];
let stderr = "";
transport.stderr?.on("data", (chunk) => (stderr += chunk));
client.onerror = (error) => strays.push(String(error));

const say = (step, told) => console.log(`${step.padEnd(18)} ${told}`);
const called = new Set();

async function call(name, given, { fails = false } = {}) {
  const result = await client.callTool({ name, arguments: given }, undefined, { timeout: 300_000 });
  const text = result.content.map((part) => part.text ?? "").join("\n");
  assert.equal(Boolean(result.isError), fails, `${name}: ${text}`);
  called.add(name);
  say(fails ? `${name} (refused)` : name, text.replace(/\s+/g, " ").slice(0, 96));
  return result.structuredContent ?? text;
}

async function session() {
  await client.connect(transport);
  const { name, version } = client.getServerVersion();
  say("initialise", `${name} ${version}, ${Object.keys(client.getServerCapabilities()).sort().join(", ")}`);
  assert.match(client.getInstructions() ?? "", /get_context/);

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), [...TOOLS].sort());
  assert.ok(tools.every((tool) => tool.description.length > 80 && tool.inputSchema.additionalProperties === false));
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  say("list", `${tools.length} tools, ${resources.length} resource, ${resourceTemplates.length} template, ${prompts.length} prompts`);

  // A call during a long one: the later one is answered first.
  const order = [];
  await Promise.all([
    call(long, ARGUMENTS[long]).then(() => order.push(long)),
    call(short, ARGUMENTS[short]).then(() => order.push(short)),
  ]);
  assert.deepEqual(order, [short, long]);
  say("during a long call", `${order.join(" before ")}`);

  await call("get_context", { query: QUESTION });
  const recalled = await call("recall", { question: QUESTION, choices: ["amber", "crimson"] });
  const learnt = await call("learn", { turn_id: recalled.turn_id, answer: "crimson" });
  await call("feedback", { id: learnt.turn_id, correct: false, expected: "amber", comment: "Cards belong to amber." });
  const added = await call("add_bullet", { content: "Tickets about parcels go to the crimson team.", section: "tickets" });
  const { id } = added.bullet;
  const found = await call("search_bullets", { query: "Who takes parcels?", limit: 1 });
  assert.equal(found.bullets.length, 1);
  const listed = await call("list_bullets", { section: "tickets" });
  assert.deepEqual(listed.bullets.map((bullet) => bullet.id), [id]);
  await call("update_bullet", { id, vote: "helpful" });
  const exported = await call("export_playbook", { format: "json" });
  await call("import_playbook", { text: exported.text, dry_run: true });
  await call("log", { text: "Parcels go to crimson." });

  const whole = await client.readResource({ uri: "cheatsheet://cheatsheet" });
  assert.ok(whole.contents[0].text.includes(id));
  const single = await client.readResource({ uri: `cheatsheet://bullets/${id}` });
  assert.equal(JSON.parse(single.contents[0].text).helpful, 1);
  say("resources", `${whole.contents[0].text.length} characters, and ${id}`);
  for (const prompt of prompts) {
    const { messages } = await client.getPrompt({ name: prompt.name, arguments: {} });
    assert.equal(messages[0].role, "user");
  }
  say("prompts", prompts.map((prompt) => prompt.name).join(", "));

  await call("remove_bullet", { id, reason: "It was for this session." });
  const stats = await call("stats", {});
  assert.equal(stats.archived, 1);
  assert.deepEqual([...called].sort(), [...TOOLS].sort());

  // Malformed calls: told in a sentence, and the session goes on.
  await call("recall", { querry: "misspelt" }, { fails: true });
  await call("learn", { answer: 7, turn_id: [] }, { fails: true });
  await call("feedback", { id: "t-unknown", correct: true }, { fails: true });
  await call("no_such_tool", {}, { fails: true });
  await assert.rejects(client.readResource({ uri: "cheatsheet://bullets/nothing-00001" }));
  await assert.rejects(client.request({ method: "no/such/method" }, { parse: (value) => value }));
  await client.ping();
  say("still there", "ping answered");
}

async function end() {
  const child = transport._process; // how it ended is not told by the SDK
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  await client.close();
  const { code, signal } = await ended;
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  assert.deepEqual(strays, []);
  assert.ok(!stderr.includes("Traceback"), stderr);
  say("clean end", `exit code ${code}, ${strays.length} stray lines on standard output`);
}

try {
  await session();
  await end();
} catch (error) {
  console.error(error);
  console.error(stderr);
  transport._process?.kill();
  process.exit(1);
}
