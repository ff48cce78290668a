import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import {
  importsOf,
  LAYERS,
  LINES_MAX,
  longFiles,
  slowGateFiles,
  strayRootEntries,
  TEST_LINES_MAX,
  violations,
} from "./support/architecture.ts";

const ROOT = join(import.meta.dir, "..");

async function projectSources(): Promise<Map<string, string>> {
  const glob = new Bun.Glob(`{${LAYERS.join(",")}}/**/*.{ts,tsx,mts,js,mjs}`);
  // This file holds seeded violations.
  const files = (await Array.fromAsync(glob.scan({ cwd: ROOT }))).filter(
    (file) => file !== "tests/architecture.test.ts" && !file.startsWith("ingress/console/built/"),
  );
  return new Map(
    await Promise.all(files.map(async (file) => [file, await Bun.file(join(ROOT, file)).text()] as const)),
  );
}

/**
 * Files of the gate that take over 20 s side by side with others, each with the reason why it is not nightly. Durations are those of
 * tests/timings.json, which a whole `npm run verify` on a quiet machine rewrites (CONTRIBUTING.md).
 */
const SLOW_IN_THE_GATE: Readonly<Record<string, string>> = {
  "tests/e2e/batches.test.ts": "holds the contract of the Batch API, on one stack",
  "tests/e2e/capabilities/capabilities.test.ts": "holds runs, prices and rights of capabilities, on one stack",
  "tests/e2e/families.test.ts": "compares the golden costs of every chat family",
  "tests/e2e/fallback.test.ts": "makes each order of three failing sources with the retries and pauses of a chain",
  "tests/e2e/images.test.ts": "makes images through every road and death of a worker, on one stack",
  "tests/e2e/inputs.test.ts": "reads each form of an input at every endpoint, on one stack",
  "tests/e2e/keys-and-credits.test.ts": "holds keys, budgets and balances that race over two ingresses",
  "tests/e2e/mcp.test.ts": "holds the contract of the MCP endpoint with the stock client",
  "tests/e2e/media/audio.test.ts": "makes speech, music and transcriptions in every format, on one stack",
  "tests/e2e/media/sandbox-media.test.ts": "makes each kind of media with the sandbox, on one stack",
  "tests/e2e/openapi/openapi.test.ts": "compares the recorded answer of every operation and error code",
  "tests/e2e/stock-clients.test.ts": "runs the stock SDKs that users start with",
  "tests/e2e/streams.test.ts": "waits for streams that break, stall and lose their client",
  "tests/e2e/test-models.test.ts": "compares each test model with its row of the guide",
  "tests/e2e/workflows/definitions.test.ts": "holds every refusal of a workflow definition over HTTP",
  "tests/e2e/workflows/runs.test.ts": "holds every mode, step kind and control of a run, on one stack",
  "tests/faults/nats-restart.test.ts": "restarts NATS under load: a death that a change breaks most easily",
  "tests/faults/nats-wiped.test.ts": "wipes NATS under load: a death that a change breaks most easily",
  "tests/workers/capabilities/letters.test.ts": "draws each script with every capability that draws text",
};

/** The rules that a project of one file breaks. */
function broken(file: string, source: string): string[] {
  return violations(new Map([[file, source]])).map(({ rule }) => rule);
}

describe("the project", () => {
  test("keeps the architecture rules", async () => {
    const sources = await projectSources();
    expect(sources.size).toBeGreaterThan(20);
    expect(violations(sources)).toEqual([]);
    const long = longFiles(sources);
    // Not a fault yet; the list is there to be read.
    if (long.length > 0) process.stderr.write(`long files, look for the second idea: ${long.join(", ")}\n`);
  });

  test("keeps slow test files out of the gate", async () => {
    const { files } = (await Bun.file(join(ROOT, "tests/timings.json")).json()) as { files: Record<string, number> };
    const slow = slowGateFiles(files);
    expect(slow.filter((file) => SLOW_IN_THE_GATE[file] === undefined)).toEqual([]);
    // The machine's speed changes by 40 %, so a file keeps its reason until it takes half of the bound.
    expect(Object.keys(SLOW_IN_THE_GATE).filter((file) => (files[file] ?? 0) < 10_000)).toEqual([]);
  });

  test("has only known entries in its root folder", () => {
    expect(strayRootEntries(readdirSync(ROOT))).toEqual([]);
  });
});

describe("the import reader", () => {
  test.each([
    ['import a from "x";', ["x"]],
    ['import type { A } from "x";', ["x"]],
    ['import { a, type B } from "x";', ["x"]],
    ['import {\n  a,\n  b,\n} from "x";', ["x"]],
    ['import * as a from "x"; import b from "y";', ["x", "y"]],
    ['import "x";', ["x"]],
    ["import a from 'x'", ["x"]],
    ['export { a } from "x";', ["x"]],
    ['export * from "x";', ["x"]],
    ['export type { A } from "x";', ["x"]],
    ['const a = await import("x");', ["x"]],
    ['type A = import("x").A;', ["x"]],
    ['const a = require("x");', ["x"]],
    ['// import a from "x";', []],
    ['/* import a from "x"; */', []],
    ['const url = "http://x/y"; import a from "z";', ["z"]],
    ['export const from = "x";', []],
  ])("%p imports %p", (source, expected) => {
    expect(importsOf(source)).toEqual(expected);
  });
});

describe("imports", () => {
  test.each([
    ["schemas/a.ts", "#shared/b.ts", "schemas does not import shared"],
    ["shared/a.ts", "#ingress/b.ts", "shared does not import ingress"],
    ["shared/a.ts", "#workers/b.ts", "shared does not import workers"],
    ["shared/a.ts", "#deploy/b.ts", "shared does not import deploy"],
    ["shared/a.ts", "#tests/b.ts", "shared does not import tests"],
    ["ingress/a.ts", "#workers/b.ts", "ingress does not import workers"],
    ["workers/a.ts", "#ingress/b.ts", "workers does not import ingress"],
    ["workers/a.ts", "#tests/b.ts", "workers does not import tests"],
    ["ingress/a.ts", "#deploy/b.ts", "ingress does not import deploy"],
    ["deploy/a.ts", "#tests/b.ts", "deploy does not import tests"],
  ])("%s may not reach %s", (file, specifier, rule) => {
    expect(broken(file, `import type { A } from "${specifier}";`)).toEqual([rule]);
  });

  test("a relative path is checked as well", () => {
    const rules = broken("ingress/routes/a.ts", 'export * from "../../workers/b.ts";');
    expect(rules).toEqual(["ingress does not import workers", "folders are crossed by #names"]);
    expect(broken("ingress/routes/a.ts", 'import a from "../../shared/b.ts";')).toEqual([
      "folders are crossed by #names",
    ]);
  });

  test("generated files are checked as well", () => {
    expect(broken("schemas/generated/a.ts", 'import a from "#shared/b.ts";')).toHaveLength(1);
  });

  test.each([
    ["shared/a.ts", "#schemas/b.ts"],
    ["shared/a/b.ts", "../c.ts"],
    ["ingress/a.ts", "#shared/b.ts"],
    ["workers/a.ts", "#shared/b.ts"],
    ["workers/a/b.ts", "../c.ts"],
    ["deploy/a.ts", "#workers/b.ts"],
    ["tests/a.ts", "#deploy/b.ts"],
    ["shared/a.ts", "pino"],
    ["tests/run.mjs", "../deploy/start.mjs"],
    ["tests/a/b.test.ts", "../../package.json"],
  ])("%s may reach %s", (file, specifier) => {
    expect(broken(file, `import a from "${specifier}";`)).toEqual([]);
  });
});

describe("folders that import each other", () => {
  const RULE = "no two folders import each other";
  const pair = (one: string, other: string): ReadonlyMap<string, string> =>
    new Map([
      [one, `import type { A } from "#${other}";`],
      [other, `import { b } from "#${one}";`],
    ]);

  test("are both listed, also at different depths", () => {
    expect(violations(pair("shared/a/x.ts", "shared/b/y.ts")).map(({ rule, file }) => [rule, file])).toEqual([
      [RULE, "shared/a/x.ts"],
      [RULE, "shared/b/y.ts"],
    ]);
    expect(violations(pair("workers/a/b/x.ts", "workers/a/c/y.ts"))).toHaveLength(2);
    expect(violations(pair("workers/a/b/x.ts", "workers/c/y.ts"))).toHaveLength(2);
  });

  test("do not include a folder and its subfolder, nor tests", () => {
    expect(violations(pair("shared/a/x.ts", "shared/a/b/y.ts"))).toEqual([]);
    expect(violations(pair("shared/x.ts", "shared/a/b/y.ts"))).toEqual([]);
    expect(violations(pair("tests/a/x.ts", "tests/b/y.ts"))).toEqual([]);
  });
});

describe("privileges", () => {
  const ENVIRONMENT = "only shared/config/config.ts reads the environment";
  const DRIVER = "only shared/database/client.ts names the driver";
  const CALLS = "only workers/providers/http.ts calls out";
  const ACKS = "only the runners, the batch intake and the pull loop acknowledge messages";
  const FLUSH = "a wait for NATS never fails what waits";
  const OPENING = "a doc comment opens with a noun phrase or a verb";
  const STATE = "roles of one process share no state by accident";
  const CONSOLE = "nothing writes to the console";

  test.each([
    [ENVIRONMENT, "deploy/sluice.ts", "const port = process.env.PORT;"],
    [ENVIRONMENT, "shared/base/logger.ts", 'process.env["PORT"]'],
    [ENVIRONMENT, "shared/base/logger.ts", "Bun.env.PORT"],
    [ENVIRONMENT, "workers/main.ts", "const { env } = process;"],
    [ENVIRONMENT, "ingress/main.ts", 'import { argv, env } from "node:process";'],
    [DRIVER, "shared/ledger/move.ts", 'import type { Pool } from "pg";'],
    [DRIVER, "deploy/admin/credits.ts", 'const pg = await import("pg");'],
    [CALLS, "workers/calls/chat/chat.ts", "const answer = await fetch(url);"],
    [CALLS, "shared/queue/a.ts", "return globalThis.fetch(url);"],
    [CALLS, "deploy/sluice.ts", "const call = fetch;"],
    [CALLS, "ingress/app.ts", 'import { request } from "node:https";'],
    [CALLS, "shared/process/admin-server.ts", "async fetch(request) {\n  return fetch(request);\n}"],
    [ACKS, "workers/calls/chat/chat.ts", "message.ack();"],
    [ACKS, "workers/janitor/sweep.ts", "message\n  .nak(1_000);"],
    [ACKS, "ingress/nats-intake/admit.ts", "await message.ackAck();"],
    [ACKS, "workers/calls/chat/chat.ts", "message.term(); message.working();"],
    [FLUSH, "ingress/wait/job-waiter.ts", "await Promise.race([rung, connection.flush()]);"],
    [FLUSH, "workers/main.ts", "await replies\n  .flush();"],
    [OPENING, "shared/a.ts", "/** Whether it is. */\nconst a = 1;"],
    [OPENING, "tests/a.ts", "/**\n * Of a call: its end.\n */"],
    [STATE, "shared/a.ts", "let cached: string | undefined;"],
    [STATE, "shared/a.ts", "const seen = new Map<string, Facts>();"],
    [STATE, "shared/a.ts", "const places = new WeakMap<object, string>();"],
    [STATE, "shared/a.ts", "const probing = openRequestLimit({"],
    [STATE, "shared/a.ts", "const kept: Buffer[] = [];"],
    [CONSOLE, "shared/a.ts", "console.log(1);"],
    [CONSOLE, "deploy/start.mjs", "console.error(1);"],
    [CONSOLE, "tests/a.test.ts", 'console["log"](1);'],
    ["only shared/storage speaks S3", "ingress/a.ts", 'import { S3Client } from "@aws-sdk/client-s3";'],
    ["files are named in kebab-case", "shared/rateWindow.ts", ""],
    [`no file is longer than ${LINES_MAX} lines`, "shared/a.ts", "x;\n".repeat(LINES_MAX + 1)],
    [`no file is longer than ${TEST_LINES_MAX} lines`, "tests/a.test.ts", "x;\n".repeat(TEST_LINES_MAX + 1)],
  ])("%s: %s is caught", (rule, file, source) => {
    expect(broken(file, source)).toEqual([rule]);
  });

  test.each([
    ["shared/config/config.ts", "export function load(environment = process.env) {}"],
    ["deploy/start.mjs", "const port = process.env.PORT; await fetch(url);"],
    ["tests/a.test.ts", 'process.env.PORT = "0"; await fetch(url); import pg from "pg"; message.ack();'],
    ["shared/database/client.ts", 'import pg from "pg";'],
    ["workers/providers/http.ts", 'import { request } from "node:https"; await fetch(url);'],
    ["workers/runner/runner.ts", "message.ack(); message.nak(1); message.term(); message.working();"],
    ["ingress/nats-intake/intake.ts", "message.ack();"],
    ["shared/process/admin-server.ts", "Bun.serve({\n  async fetch(request: Request): Promise<Response> {\n  },\n});"],
    ["shared/a.ts", "app.fetch(request); prefetch(1); // fetch(url), console.log, process.env"],
    ["shared/a.ts", "/** Returns what it is. */ // Of a line comment\n/** Asks whether. */"],
    ["shared/a.ts", "const KNOWN = new Map([[1, 2]]);\nfunction f() {\n  let a = 1;\n  const b = new Map();\n}"],
    ["workers/a.ts", "let cached: string | undefined;"],
    ["shared/storage/client.ts", 'import { S3Client } from "@aws-sdk/client-s3";'],
    ["shared/a.ts", "x;\n".repeat(LINES_MAX)],
    ["schemas/generated/validators.js", "x;\n".repeat(LINES_MAX + 1)],
    ["tests/shared/rate-window.test.ts", ""],
  ])("%s has the privilege", (file, source) => {
    expect(broken(file, source)).toEqual([]);
  });
});

test("files of more than 300 lines are listed, longest first, generated files separately", () => {
  const sources = new Map([
    ["shared/a.ts", "x;\n".repeat(301)],
    ["shared/b.ts", "x;\n".repeat(350)],
    ["shared/c.ts", "x;\n".repeat(300)],
    ["schemas/generated/d.ts", "x;\n".repeat(900)],
  ]);
  expect(longFiles(sources)).toEqual(["shared/b.ts (350 lines)", "shared/a.ts (301 lines)"]);
});

test("a gate file above the bound is slow, a nightly file is not", () => {
  const at = { "tests/a.test.ts": 20_000, "tests/b.test.ts": 20_001, "tests/c.nightly.test.ts": 90_000 };
  expect(slowGateFiles(at)).toEqual(["tests/b.test.ts"]);
});

test("an unknown folder or file in the root is listed", () => {
  expect(
    strayRootEntries(["shared", "lib", "README.md", "notes.txt", ".sluice", ".sluice-test", "demo-output"]),
  ).toEqual(["lib", "notes.txt"]);
});
