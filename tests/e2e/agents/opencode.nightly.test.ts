/** The opencode program with its provider for Anthropic's API, against the running service and a scripted provider of that API. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type FamilyBed, startFamilies } from "#tests/e2e/families/bed.ts";
import { readSent } from "#tests/e2e/families/sent.ts";

import { repeatedShare } from "./prompt-prefix.ts";
import { type AgentHome, findProgram, openHome, runProgram } from "./run-program.ts";

const program = await findProgram("opencode-ai", "1.18.33");
let bed: FamilyBed;
let agent: AgentHome;

beforeAll(async () => {
  bed = await startFamilies();
  agent = openHome();
}, 300_000);
afterEach(() => {
  expect([bed.servers.claude.faults, bed.servers.claude.refusals]).toEqual([[], []]);
});
afterAll(async () => {
  agent.remove();
  await bed.stop();
});

test.skipIf(program === undefined)(
  "opencode runs a command, and repeats all of the last prompt",
  async () => {
    const { url, key } = bed.target();
    const limit = { context: 400_000, output: 32_000 };
    const settings = {
      autoupdate: false,
      share: "disabled",
      // It asks for a title with the smaller model.
      small_model: "sluice/openai-one",
      provider: {
        sluice: {
          npm: "@ai-sdk/anthropic",
          options: { baseURL: `${url}/v1`, apiKey: "{env:SLUICE_KEY}" },
          models: { "claude-one": { tool_call: true, limit }, "openai-one": { limit } },
        },
      },
    };
    agent.write("home/.config/opencode/opencode.json", JSON.stringify(settings));
    const took = { input: 100, output: 10 };
    const args = { command: "printf one > made.txt && echo done-1", description: "Makes the file" };
    bed.says("claude", [
      { calls: [{ id: "toolu_1", name: "bash", args }], took },
      { text: "Made.", took },
    ]);
    const command = [join(program ?? "", `../opencode-${process.platform}-${process.arch}/bin/opencode`), "run", "--format", "json", "--model", "sluice/claude-one", "Make the file."]; // prettier-ignore
    const events = await runProgram(command, agent, { env: { SLUICE_KEY: key, OPENCODE_DISABLE_MODELS_FETCH: "1" } });
    expect(JSON.stringify(events)).toContain("Made.");
    expect(readFileSync(join(agent.work, "made.txt"), "utf8")).toBe("one");
    const { requests } = bed.servers.claude;
    expect(requests).toHaveLength(2);
    expect(JSON.stringify(readSent("claude", requests[1] ?? { path: "", body: {} }).said)).toContain("done-1");
    expect(repeatedShare(requests[0]?.body, requests[1]?.body)).toBe(1);
  },
  200_000,
);
