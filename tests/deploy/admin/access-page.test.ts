/** The commands of the pages on access and operators, run as they stand against a service: only placeholders are replaced. */
import { expect, test } from "bun:test";
import { join } from "node:path";

import { PROJECT_ROOT } from "../../support/infrastructure.ts";
import { openCommands } from "./commands.ts";

const { outcome, json, text, makeWorkspace } = openCommands();

/** Needs a call that has been made: tests/deploy/admin/verbs.test.ts runs it. */
const NOT_RUN = ["usage <workspace> --request <x-request-id>"];

async function commandsOf(page: string): Promise<string[][]> {
  const markdown = await Bun.file(join(PROJECT_ROOT, "schemas/docs/operate", page)).text();
  const blocks = Array.from(markdown.matchAll(/^```sh\n([^]*?)^```$/gm), ([, block = ""]) => block);
  const lines = blocks.map((block) => Array.from(block.matchAll(/^npm run admin -- (.+)$/gm), ([, line = ""]) => line));
  return lines.filter((found) => found.length > 0);
}

function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => String(quoted ?? plain));
}

const [firstSteps = [], ...others] = await commandsOf("access.md");
const [ofOperators = []] = await commandsOf("operators.md");

test("the first steps create a workspace, credits and a key", async () => {
  for (const line of firstSteps) {
    const { code, stderr } = await outcome(...wordsOf(line));
    expect([line, code, stderr]).toEqual([line, 0, ""]);
  }
  expect(await json("workspace", "list")).toContainEqual(expect.objectContaining({ name: "acme", credits: "5000" }));
  expect(await json("key", "list", "acme")).toMatchObject([{ member: "ada", preset: "standard" }]);
});

test.each(others.flat().filter((line) => !NOT_RUN.includes(line)))("%s", async (line) => {
  const { id, name } = await makeWorkspace();
  await text("credits", "top-up", id, "100");
  const key = await json<{ id: string }>("key", "create", id, "--member", "ada", "--preset", "standard");
  await text("budget-alert", "set", id, "monthly", "--threshold", "10", "--period", "daily");
  await text("balance-alert", "set", id, "monthly", "--below-credits", "10");
  const values: Readonly<Record<string, string>> = {
    workspace: name,
    name: "ada",
    role: "admin",
    "key id": key.id,
    preset: "pro",
    "workflow id": key.id,
    model: "sandbox-error",
    fallback: "sandbox-slow",
    credits: "5",
    text: "a note",
    user: "alice",
    alert: "monthly",
  };
  const words = Array.from(line.matchAll(/<([^>]+)>|(\S+)/g), ([, placeholder, word = ""]) =>
    placeholder === undefined ? word : values[placeholder],
  );
  expect([line, words.includes(undefined)]).toEqual([line, false]);
  const { code, stderr } = await outcome(...words.map(String));
  expect([line, code, stderr]).toEqual([line, 0, ""]);
});

test("an operator's token is created, listed and revoked", async () => {
  for (const line of ofOperators) {
    const { code, stderr } = await outcome(...wordsOf(line.replaceAll("<name>", "grace")));
    expect([line, code, stderr]).toEqual([line, 0, ""]);
  }
  expect(await json("operator", "list")).toContainEqual(
    expect.objectContaining({ name: "grace", revoked_at: expect.any(String) }),
  );
});
