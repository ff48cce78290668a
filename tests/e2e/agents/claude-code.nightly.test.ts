/** The Claude Code program, set up as its documentation page says, against the running service and a scripted provider of Anthropic's API. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type FamilyBed, startFamilies } from "#tests/e2e/families/bed.ts";
import { readSent, type Sent } from "#tests/e2e/families/sent.ts";
import type { Call, Turn } from "#tests/e2e/families/turn.ts";
import { invalid } from "#tests/providers/anthropic/errors.ts";

import { repeatedShare } from "./prompt-prefix.ts";
import { type AgentHome, findProgram, openHome, runProgram, settingsOfPage } from "./run-program.ts";

/** Claude Code sends late system messages to models that it knows, and none to others. */
const KNOWN = "claude-opus-5";
/** Serves the titles and summaries that the program asks a small model for. */
const SMALL = "openai-one";

const program = await findProgram("@anthropic-ai/claude-code", "2.1.332");
let bed: FamilyBed;
let agent: AgentHome;
let counted: RequestCount;
let asked = 0;

beforeAll(async () => {
  bed = await startFamilies({ models: [{ slug: KNOWN, family: "claude" }] });
  counted = countRequests(bed.target().url);
}, 300_000);
afterAll(async () => {
  counted.close();
  await bed.stop();
});
beforeEach(() => {
  agent = openHome();
  asked = bed.servers.claude.requests.length;
  counted.paths.length = 0;
});
afterEach(() => {
  agent.remove();
  expect(bed.servers.claude.faults).toEqual([]);
  expect(bed.servers.claude.refusals).toEqual([]);
});

interface Options {
  readonly model?: string;
  readonly key?: string;
  readonly code?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the last line that the program printed with `--output-format json`. */
async function claude(prompt: string, args: readonly string[] = [], options: Options = {}) {
  const { model = KNOWN, key = bed.target().key, code = 0, env = {} } = options;
  const values: Readonly<Record<string, string>> = { ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: SMALL };
  const settings = settingsOfPage("Claude Code", "sh", counted.url).matchAll(/(\w+)=(\S+)/g);
  const own = [...settings].map(([, name = "", value = ""]) => [name, values[name] ?? value.replace("$SLUICE_KEY", key)]); // prettier-ignore
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
  const command = [
    join(program ?? "", `../claude-code-${process.platform}-${process.arch}/claude`),
    "-p",
    prompt,
    "--output-format",
    "json",
    ...args,
  ];
  const lines = await runProgram(command, agent, { env: { ...Object.fromEntries(own), ...quiet, ...env }, code });
  return lines.at(-1) ?? {};
}

const TOOLS = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash", "Read", "Edit", "Agent", "mcp__sluice"];

const says = (...turns: readonly (readonly Call[] | string)[]): void =>
  bed.says(
    "claude",
    turns.map((turn): Turn => {
      const took = { input: 100, output: 10 };
      return typeof turn === "string" ? { text: turn, took } : { calls: turn, took };
    }),
  );
/** Bodies of the requests that the provider received of this test. */
const bodies = (): unknown[] => bed.servers.claude.requests.slice(asked).map(({ body }) => body);
const sent = (): Sent[] => bed.servers.claude.requests.slice(asked).map((call) => readSent("claude", call));
const resultsIn = (one: Sent | undefined): string =>
  JSON.stringify(one?.said.flatMap((said) => ("results" in said ? said.results : [])));
const shares = (): number[] =>
  bodies()
    .slice(1)
    .map((body, at) => repeatedShare(bodies()[at], body));

let calls = 0;
const call = (name: string, args: Call["args"]): Call[] => [{ id: `toolu_${(calls += 1)}`, name, args }];
const bash = (command: string): Call[] => call("Bash", { command, description: "Runs a command" });
const made = (): string => readFileSync(join(agent.work, "made.txt"), "utf8");

describe.skipIf(program === undefined)("Claude Code", () => {
  test("answers one prompt", async () => {
    says("It works.");
    expect(await claude("Say exactly: it works.")).toMatchObject({ is_error: false, result: "It works." });
    expect(sent()).toHaveLength(1);
  }, 200_000);

  test("runs a command and edits a file, and the next session continues the last", async () => {
    const file_path = join(agent.work, "made.txt");
    says(
      bash("printf one > made.txt && echo done-1"),
      call("Read", { file_path }),
      call("Edit", { file_path, old_string: "one", new_string: "two" }),
      "Made.",
    );
    expect((await claude("Make the file.", TOOLS))["result"]).toBe("Made.");
    expect(made()).toBe("two");
    expect(resultsIn(sent()[1])).toContain("done-1");
    says("Two.");
    expect((await claude("What is in it?", [...TOOLS, "--continue"]))["result"]).toBe("Two.");
    expect(resultsIn(sent()[4])).toContain("done-1");
    expect(shares()).toEqual([1, 1, 1, 1]);
  }, 200_000);

  test("repeats the whole last prompt in plan mode, and after large results", async () => {
    const file_path = agent.write("work/big.txt", `${"word ".repeat(20)}\n`.repeat(140));
    const big = call("Read", { file_path });
    says(bash("ls"), big, bash(`cat ${file_path}`), "Planned.");
    expect((await claude("Plan it.", ["--permission-mode", "plan", "--allowedTools", "Bash"]))["result"]).toBe(
      "Planned.",
    );
    says(bash("ls"), bash(`cat ${file_path}`), "Done.");
    expect((await claude("Do it.", [...TOOLS, "--continue"]))["result"]).toBe("Done.");
    const sizes = bodies().map((body) => JSON.stringify(body).length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeGreaterThan(3 * 14_000);
    expect(JSON.stringify(bodies())).toContain('"role":"system"');
    expect(shares()).toEqual([1, 1, 1, 1, 1, 1]);
  }, 200_000);

  test("runs a subagent", async () => {
    const task = { description: "Looks", prompt: "Look around.", subagent_type: "general-purpose" };
    says(call("Agent", { ...task, run_in_background: false }), "Looked.", "Done.");
    expect((await claude("Ask an agent.", TOOLS))["result"]).toBe("Done.");
    expect(sent()).toHaveLength(3);
    expect(resultsIn(sent()[2])).toContain("Looked.");
  }, 200_000);

  test.each([{ search: "" }, { search: "true" }])(
    "calls a tool of our MCP server: %p",
    async ({ search }) => {
      const { url, key } = bed.target();
      const mcp = { mcpServers: { sluice: { type: "http", url: `${url}/mcp`, headers: { Authorization: `Bearer ${key}` } } } }; // prettier-ignore
      const config = agent.write("mcp.json", JSON.stringify(mcp));
      const name = "mcp__sluice__search_tools";
      says(
        ...(search === "" ? [] : [call("ToolSearch", { query: `select:${name}` })]),
        call(name, { query: "resize an image" }),
        "Found.",
      );
      const env = search === "" ? {} : { ENABLE_TOOL_SEARCH: search };
      expect((await claude("Find a tool.", [...TOOLS, "--mcp-config", config], { env }))["result"]).toBe("Found.");
      expect(resultsIn(sent().at(-1))).toContain("image.resize");
      expect(new Set(shares())).toEqual(new Set([1]));
      if (search === "") return;
      expect(JSON.stringify(bodies().at(-1))).toContain(`{"type":"tool_reference","tool_name":"${name}"}`);
    },
    200_000,
  );

  test("compacts a conversation that has become too long for the model", async () => {
    says("One.");
    expect((await claude("Begin."))["result"]).toBe("One.");
    bed.servers.claude.next(invalid("prompt is too long: 1000001 tokens > 1000000 maximum"));
    says("<analysis>Short.</analysis><summary>A summary.</summary>", "Two.");
    expect(await claude("Go on.", ["--continue"])).toMatchObject({ is_error: false, result: "Two." });
    const [, , summary, last] = sent().map(({ said }) => JSON.stringify(said));
    expect(summary).toContain("One.");
    expect(last).toContain("A summary.");
    expect(last).not.toContain("One.");
  }, 200_000);

  test("reports a rejected key immediately", async () => {
    const { is_error, result } = await claude("Hello.", [], { key: "slk_nobody", code: 1 });
    expect([is_error, result]).toEqual([true, expect.stringContaining("401") as string]);
    expect(counted.paths.filter((path) => path.startsWith("/v1/messages"))).toHaveLength(1);
  }, 200_000);

  test("reports an unknown model immediately", async () => {
    const { is_error, result } = await claude("Hello.", [], { model: "no-such-model", code: 1 });
    expect([is_error, result]).toEqual([true, expect.stringContaining("no-such-model") as string]);
    // Once streamed and once not.
    expect(counted.paths.filter((path) => path.startsWith("/v1/messages"))).toHaveLength(2);
  }, 200_000);
});

/** A proxy in front of the service that keeps the paths of the requests that pass, to see what the program asks and how often. */
interface RequestCount {
  readonly url: string;
  readonly paths: string[];
  close(): void;
}

function countRequests(target: string): RequestCount {
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      paths.push(pathname);
      const headers = new Headers(request.headers);
      headers.delete("host");
      const { method, body } = request;
      const answer = await fetch(`${target}${pathname}${search}`, { method, headers, body, decompress: false });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    },
  });
  return { url: server.url.origin, paths, close: () => void server.stop(true) };
}
