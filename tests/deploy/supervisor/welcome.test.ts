/** The text that `npm start` prints when everything runs. */
import { join } from "node:path";

import { expect, test } from "bun:test";

import { missingPart } from "#deploy/supervisor/roles.mjs";
import { welcome } from "#deploy/supervisor/welcome.mjs";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const STACK = {
  host: "127.0.0.1",
  port: 8080,
  publicUrl: undefined,
  code: "…",
  adminHost: "127.0.0.1",
  adminPort: 9464,
  key: "sk_local_abc",
  workspace: "default",
  natsUrl: "nats://127.0.0.1:4222",
  logFile: "/data/sluice.log",
  parts: ["worker", "ingress", "Postgres"],
  missing: [],
};

test("the welcome has at most eleven lines: running services, sign-in link, address, key, docs, how to stop and a call", () => {
  const lines = welcome(STACK).split("\n");
  expect(lines.length).toBeLessThanOrEqual(11);
  expect(lines[0]).toBe("Sluice is running: worker, ingress, Postgres. Press Ctrl-C to stop it.");
  expect(lines.slice(1, 8)).toEqual([
    "  Console  http://127.0.0.1:8080/console#code=…",
    "  API      http://127.0.0.1:8080/v1 (this machine only; SLUICE_HOST=0.0.0.0 opens it to others)",
    "  Key      sk_local_abc (workspace default)",
    "  Docs     http://127.0.0.1:8080/docs",
    "  Metrics  http://127.0.0.1:9464/metrics",
    "  Batch    nats://127.0.0.1:4222",
    "  Log      /data/sluice.log",
  ]);
  expect(lines.at(-1)).toStartWith("curl http://127.0.0.1:8080/v1/chat/completions -H ");
});

test("the welcome equals the output in the quickstart", async () => {
  const page = await Bun.file(join(PROJECT_ROOT, "schemas/docs/get-started/quickstart.md")).text();
  const [, shown = ""] = /^```text\n(Sluice is running[^]*?)^```$/m.exec(page) ?? [];
  const text = welcome({
    ...STACK,
    key: "sk_local_…",
    natsUrl: "nats://127.0.0.1:…",
    logFile: "…/.sluice/sluice.log",
    parts: ["worker", "janitor", "ingress", "nats-auth", "Postgres", "NATS", "object store"],
  });
  expect(text.split("Try it in another terminal")[0]).toBe(shown);
});

test("the link to the console has the configured address, and no code if none was created", () => {
  const linkOf = (stack: Parameters<typeof welcome>[0]) => welcome(stack).split("\n")[1];
  expect(linkOf({ ...STACK, publicUrl: "https://ai.example.com" })).toBe(
    "  Console  https://ai.example.com/console#code=…",
  );
  expect(linkOf({ ...STACK, code: null })).toBe("  Console  http://127.0.0.1:8080/console");
});

test("the welcome omits other machines if they cannot call it, and a NATS server that it did not start", () => {
  const text = welcome({ ...STACK, host: "0.0.0.0", natsUrl: undefined });
  expect(text).toContain("  API      http://127.0.0.1:8080/v1\n");
  expect(text).not.toContain("Batch");
});

test.each([
  [
    { msg: "no capability sandbox on this system: a file that exploits …; see Capabilities" },
    "No capability sandbox: capabilities process files without isolation. Use only files that you trust.",
  ],
  [
    {
      msg: "an engine is unavailable; its capabilities are not listed",
      engine: "ffmpeg",
      capabilities: ["audio.cut", "audio.join", "video.cut"],
      fault: "The trial of ffmpeg failed: there is no FFmpeg here.",
    },
    "audio.cut and 2 more capabilities are not available: there is no FFmpeg here.",
  ],
  [{ msg: "capabilities available" }, null],
])("a worker's line %j becomes %p", (entry, expected) => {
  expect(missingPart(JSON.stringify(entry))).toBe(expected);
  const missing = [missingPart(JSON.stringify(entry))].filter((sentence) => sentence !== null);
  const lines = welcome({ ...STACK, missing })
    .split("\n")
    .filter((line) => line.startsWith("  Missing "));
  expect(lines).toEqual(missing.map((sentence) => `  Missing  ${sentence}`));
});

test("a line that is not JSON is no missing part", () => {
  expect([missingPart("{broken"), missingPart("plain")]).toEqual([null, null]);
});
