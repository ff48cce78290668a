/** Clients that two generators write from /openapi.json: their types accept a right call, and the calls work. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { run } from "#deploy/embedded/process.mjs";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { sharedStack } from "./shared-stack.ts";

const HERE = join(import.meta.dir, "generated-clients");
const PROGRAMS = ["openapi-fetch", "hey-api"] as const;

/** Settings of most applications: `exactOptionalPropertyTypes` refuses what these generators write. */
const TSCONFIG = {
  compilerOptions: {
    target: "ESNext",
    module: "preserve",
    lib: ["ESNext", "DOM", "DOM.Iterable"],
    types: [],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
  },
  include: ["*.ts"],
};

let stack: Stack;
let folder: string;
beforeAll(async () => {
  stack = await asNewWorkspace(await sharedStack());
  folder = await mkdtemp(join(tmpdir(), "sluice-clients-"));
  await symlink(join(PROJECT_ROOT, "node_modules"), join(folder, "node_modules"));
  const document = join(folder, "openapi.json");
  await Bun.write(document, await fetch(`${stack.baseUrls[0]}/openapi.json`));
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const name of PROGRAMS) await cp(join(HERE, `${name}.ts.txt`), join(folder, `${name}.ts`));
  await succeed("the generators", process.execPath, [join(HERE, "generate.ts"), document, folder]);
}, 240_000);
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true });
});

async function succeed(name: string, command: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run({ name, command, args: [...args], cwd: PROJECT_ROOT, env: process.env });
  expect([name, code, stdout + stderr]).toEqual([name, 0, expect.any(String)]);
}

test("generated types are accepted by the project's TypeScript, and reject what the API rejects", async () => {
  const tsc = join(PROJECT_ROOT, "node_modules/typescript/bin/tsc");
  await succeed("tsc", process.execPath, [tsc, "-p", folder]);
}, 120_000);

test.each(PROGRAMS)(
  "the generated client of %s calls chat, streams, runs a capability and a workflow",
  async (name) => {
    const program = (await import(join(folder, `${name}.ts`))) as {
      useApi(baseUrl: string, key: string): Promise<Readonly<Record<string, unknown>>>;
    };
    expect(await program.useApi(stack.baseUrls[0] ?? "", stack.key)).toMatchObject({
      text: "typed",
      streamed: "streamed",
      width: 32,
      output: "tea",
      status: "succeeded",
      refused: "messages[0].role",
      ...(name === "hey-api" ? { audio: "audio/mpeg" } : {}),
    });
  },
);
