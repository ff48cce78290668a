/** The README's examples, run as they stand against a running stack: only address and key are replaced. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { BUN, PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { sharedStack } from "./shared-stack.ts";

const README = readFileSync(join(PROJECT_ROOT, "README.md"), "utf8");
const PRINTED_BASE = "http://127.0.0.1:8080";

let stack: Stack;
let folder: string;

beforeAll(async () => {
  stack = await asNewWorkspace(await sharedStack());
  // Inside the project, so that the examples find the packages they import.
  folder = mkdtempSync(join(PROJECT_ROOT, "node_modules", ".readme-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function block(language: string, containing: string): string {
  for (const [, name, text = ""] of README.matchAll(/```(\w+)\n([\s\S]*?)```/g)) {
    if (name === language && text.includes(containing)) return text.replaceAll(PRINTED_BASE, stack.baseUrls[0] ?? "");
  }
  throw new Error(`README has no ${language} block with ${containing}`);
}

async function run(command: string[]): Promise<string> {
  const env = { ...process.env, SLUICE_KEY: stack.key, SLUICE_NATS: stack.natsUrl };
  const child = Bun.spawn(command, { cwd: folder, env, stderr: "pipe" });
  const [out, fault, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${fault}`);
  return out;
}

describe("README", () => {
  test("the curl call gets its completion", async () => {
    const answer = JSON.parse(await run(["bash", "-c", block("sh", "curl")])) as {
      choices: { message: { content: string } }[];
    };
    expect(answer.choices[0]?.message.content).toBe("it works");
  });

  test("the SDK example streams its text", async () => {
    const file = join(folder, "example.mjs");
    writeFileSync(file, block("js", "OpenAI"));
    expect(await run([BUN, file])).toBe("streamed");
  });

  test("the batch publisher's example hears the end of its job", async () => {
    const file = join(folder, "publisher.mjs");
    // The package is installed here under another name.
    const text = block("js", "batch.chat").replace('"@nats-io/transport-node"', '"nats"');
    writeFileSync(file, text);
    expect(await run([BUN, file])).toMatch(/^[0-9a-f-]{36} queued\n[0-9a-f-]{36} completed\n$/);
  });

  test("names only sandbox models that there are, and the guide to them all", async () => {
    const { SANDBOX_MODELS } = await import("#workers/providers/sandbox/models.ts");
    const section = README.slice(README.indexOf("## Sandbox models"), README.indexOf("## Real providers"));
    const named = Array.from(section.matchAll(/`(sandbox-[a-z-]+)`/g), (match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !Object.hasOwn(SANDBOX_MODELS, name))).toEqual([]);
    expect(section).toContain("](schemas/docs/reference/test-models.md)");
  });

  test("every file it links to exists", async () => {
    for (const [, path = ""] of README.matchAll(/\]\(([^)#]+)\)/g)) {
      expect([path, (await Bun.file(join(PROJECT_ROOT, path)).exists()) || path === "deploy/decisions"]).toEqual([
        path,
        true,
      ]);
    }
  });
});
