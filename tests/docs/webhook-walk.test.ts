/** The walk-through of the page on webhooks, run as it stands against a service that may send to this machine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";
import { CLIENT_VARIABLES } from "#shared/config/config.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

import { blocks, WALK } from "./notifications-page.ts";
import { readPage } from "./page.ts";
import { writePrograms } from "./run-page.ts";

const STEPS = blocks("sh", WALK);
const [START = "", ...CALLS] = STEPS;

let stack: Stack;
let folder: string;
beforeAll(async () => {
  const [, setting = "", value = ""] = /^(SLUICE_[A-Z_]+)=(\S+) npm start\n$/.exec(START) ?? [];
  // A reader restarts the service in a shell that may export the variables of clients.
  const ofClients = Object.fromEntries(CLIENT_VARIABLES.map((name) => [name, "of-a-client"]));
  stack = await startStack({ pools: ["chat", "workflow", "webhook"], env: { ...ofClients, [setting]: value } });
  // Inside the project, so that npm finds its scripts.
  folder = mkdtempSync(join(PROJECT_ROOT, "node_modules", ".walk-"));
  writePrograms(folder);
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await stack.stop();
});

test("the recipe has the same steps", () => {
  expect(STEPS.length).toBe(7);
  expect(readPage("cookbook/receive-a-webhook.md").body).toContain(
    WALK.slice(WALK.indexOf("1. "), WALK.lastIndexOf("```") + 3),
  );
});

test("each step has the stated result, with a client's key in the environment", async () => {
  const port = String(await freePort());
  const wait = (text: string): string =>
    `for _ in $(seq 300); do grep -q '${text}' listen.txt && break; sleep 0.1; done\n`;
  const script = CALLS.map((block) => {
    const text = block.replaceAll("http://127.0.0.1:8080", stack.baseUrls[0] ?? "").replaceAll(":8090/", `:${port}/`);
    if (!text.includes("webhook listen")) return text;
    const receiver = text.trim().replace("webhook listen", `webhook listen --port ${port}`);
    // Its own process group: npm does not end its child.
    return [
      `: > listen.txt\nsetsid bash -c '${receiver}' > listen.txt 2>&1 &\nLISTENER=$!\ntrap 'kill -- -$LISTENER' EXIT`,
      wait("Listening on"),
    ].join("\n");
  });
  const last = script.pop() ?? "";
  const shell = Bun.spawn(
    ["bash", "-eu", "-o", "pipefail", "-c", [...script, wait("run.succeeded"), "cat listen.txt", last].join("\n")],
    {
      cwd: folder,
      env: { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}`, SLUICE_KEY: stack.key },
      stdin: "ignore",
      stderr: "pipe",
    },
  );
  const [out, fault] = await Promise.all([new Response(shell.stdout).text(), new Response(shell.stderr).text()]);
  expect([await shell.exited, fault]).toEqual([0, ""]);
  const [, printed = ""] = out.split("Listening on");
  expect(printed).toMatch(/\btest\b/);
  expect(printed).toContain("run.succeeded");
  expect(printed.match(/signature\W+valid$/gm)).toHaveLength(2);
}, 60_000);
