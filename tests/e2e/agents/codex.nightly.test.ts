/** The Codex program, set up as its documentation page says, against the running service and a scripted provider of OpenAI's dialect. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type FamilyBed, startFamilies } from "#tests/e2e/families/bed.ts";
import { readSent, type Sent } from "#tests/e2e/families/sent.ts";
import type { Call, Turn } from "#tests/e2e/families/turn.ts";
import { pngOf } from "#tests/support/png.ts";

import { type AgentHome, findProgram, openHome, runProgram, settingsOfPage } from "./run-program.ts";

/** Codex knows the second and the third: it asks the second for tools by a search, and the third by code alone. */
const MODELS = ["unknown-to-codex", "gpt-5.5", "gpt-5.6-sol"] as const;

const program = await findProgram("@openai/codex", "0.171.0");
let bed: FamilyBed;
let agent: AgentHome;
let asked = 0;

beforeAll(async () => {
  bed = await startFamilies({ models: MODELS.map((slug) => ({ slug, family: "openai" as const })) });
}, 300_000);
afterAll(async () => bed.stop());
beforeEach(() => {
  agent = openHome();
  asked = bed.servers.openai.requests.length;
});
afterEach(() => {
  agent.remove();
  expect(bed.servers.openai.faults).toEqual([]);
});

/** The settings that the page tells users to write, for this stack and model. */
function settings(model: string, transport: "http" | "websocket"): string {
  const block = settingsOfPage("Codex", "toml", bed.target().url);
  const own = block.replace(/^model = .*$/m, `model = "${model}"`);
  return transport === "websocket" ? own : own.replace("supports_websockets = true\n", "");
}

async function codex(...args: readonly string[]) {
  const env = { CODEX_HOME: join(agent.home, ".codex"), SLUICE_KEY: bed.target().key };
  const command = [process.execPath, join(program ?? "", "bin/codex.js"), "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]; // prettier-ignore
  const events = await runProgram([...command, ...args], agent, { env });
  const ended = events.flatMap(({ type, item }) =>
    type === "item.completed" ? [item as Record<string, unknown>] : [],
  );
  const last = ended.at(-1);
  return { ended, said: last?.["type"] === "agent_message" ? last["text"] : undefined };
}

function setUp(model: string, transport: "http" | "websocket" = "http"): void {
  agent.write("home/.codex/config.toml", settings(model, transport));
}

const says = (...turns: readonly (readonly Call[] | string)[]): void =>
  bed.says(
    "openai",
    turns.map((turn): Turn => {
      const took = { input: 100, output: 10 };
      return typeof turn === "string" ? { text: turn, took } : { calls: turn, took };
    }),
  );
/** Requests that the provider received of this test. */
const sent = (): Sent[] => bed.servers.openai.requests.slice(asked).map((call) => readSent("openai", call));
const resultsIn = (one: Sent | undefined): string =>
  JSON.stringify(one?.said.flatMap((said) => ("results" in said ? said.results : [])));

const shell = (cmd: string): Call[] => [{ id: "call_shell1", name: "exec_command", args: { cmd } }];
const made = (): string => readFileSync(join(agent.work, "made.txt"), "utf8");

describe.skipIf(program === undefined).each(["http", "websocket"] as const)("over %s", (transport) => {
  test("a model that Codex does not know runs a command, and the session continues", async () => {
    setUp(MODELS[0], transport);
    says(shell("printf one > made.txt && echo done-1"), "Made.");
    const first = await codex("Make the file.");
    expect(first.said).toBe("Made.");
    expect(made()).toBe("one");
    expect(resultsIn(sent()[1])).toContain("done-1");
    says(shell("printf two > made.txt"), "Changed.");
    const resumed = await codex("resume", "--last", "Change the file.");
    expect(resumed.said).toBe("Changed.");
    expect(made()).toBe("two");
    expect(sent()).toHaveLength(4);
    expect(resultsIn(sent()[2])).toContain("done-1");
    // Codex goes back to HTTP where its WebSocket fails, and says so.
    expect(JSON.stringify([first.ended, resumed.ended])).not.toContain("Falling back");
  }, 200_000);

  test("a model finds a tool in a namespace, patches a file, and sees a picture", async () => {
    setUp(MODELS[1], transport);
    const patch = "*** Begin Patch\n*** Add File: made.txt\n+patched\n*** End Patch";
    says(
      [{ id: "call_search1", name: "tool_search", args: { query: "close agent" } }],
      [{ id: "call_agent2", name: "multi_agent_v1__close_agent", args: { target: "nobody" } }],
      [{ id: "call_patch3", name: "apply_patch", args: { input: patch } }],
      "Done.",
    );
    const { said } = await codex("-i", agent.write("picture.png", pngOf(64, 64)), "--", "Patch the file.");
    expect(said).toBe("Done.");
    expect(made()).toBe("patched\n");
    const [first, found, closed] = sent();
    expect(first?.said.flatMap((one) => ("images" in one ? one.images : []))).not.toEqual([]);
    expect(first?.tools).not.toContain("multi_agent_v1__close_agent");
    expect(found?.tools).toContain("multi_agent_v1__close_agent");
    expect(resultsIn(closed)).not.toContain("unsupported call");
  }, 200_000);

  test("a model whose tools are part of the conversation runs code that runs a command", async () => {
    setUp(MODELS[2], transport);
    const input = 'const done = await tools.exec_command({ cmd: "printf code > made.txt; echo done-3" }); text(JSON.stringify(done));'; // prettier-ignore
    says([{ id: "call_code1", name: "functions__exec", args: { input } }], "Ran.");
    expect((await codex("Run it.")).said).toBe("Ran.");
    expect(made()).toBe("code");
    expect(resultsIn(sent()[1])).toContain("done-3");
  }, 200_000);
});

test.skipIf(program === undefined)(
  "a conversation that has become too long continues with a summary",
  async () => {
    agent.write("home/.codex/config.toml", `model_auto_compact_token_limit = 20000\n${settings(MODELS[1], "http")}`);
    const took = { input: 100, output: 10 };
    bed.says("openai", [
      { calls: shell("echo done-1"), took: { input: 50_000, output: 10 } },
      { text: "The summary.", took },
      { text: "Done.", took },
    ]);
    expect((await codex("Run it.")).said).toBe("Done.");
    const [, summary, last] = sent().map(({ said }) => JSON.stringify(said));
    expect(summary).toContain("done-1");
    expect(last).toContain("The summary.");
    expect(last).not.toContain("done-1");
  },
  200_000,
);

test.skipIf(program === undefined)(
  "a session costs the sum of its turns, and the first message of a connection is free",
  async () => {
    setUp(MODELS[1], "websocket");
    const rows = async (): Promise<bigint> => {
      await bed.stack.settled();
      const [row] = await bed.stack.query<{ count: bigint }>("select count(*) from usage_record");
      return row?.count ?? 0n;
    };
    const before = await rows();
    says("Hello.");
    expect((await codex("Say hello.")).said).toBe("Hello.");
    expect((await rows()) - before).toBe(1n);
    expect(existsSync(join(agent.home, ".codex/sessions"))).toBe(true);
  },
  200_000,
);
