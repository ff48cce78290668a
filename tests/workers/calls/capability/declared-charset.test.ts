/** Charsets that senders declare, on their way from the request or the server to the text that a run reads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "bun:test";

import { findCapability } from "#shared/calls/capabilities/list.ts";
import { readRun } from "#shared/calls/capabilities/read-run.ts";
import { allow, listen } from "#tests/shared/net/servers.ts";
import { readInputs } from "#workers/calls/capability/inputs.ts";
import type { InputFile } from "#workers/capabilities/define.ts";
import { charsetUsed, textOf } from "#workers/capabilities/text.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-charset-"));
const BYTES = Buffer.from("\xf0\xd2\xc9", "latin1");
const KOI8 = "text/plain; charset=KOI8-R";
const server = await listen((request, response) => {
  response.setHeader("content-type", request.url === "/koi8" ? KOI8 : "text/plain").end(BYTES);
});
allow(`127.0.0.1:${server.port}`);
afterAll(() => {
  allow();
  server.close();
  rmSync(folder, { recursive: true });
});

const base64 = BYTES.toString("base64");

test.each<[string, object, string, string]>([
  ["the media type of base64", { base64, mime_type: KOI8 }, "При", "koi8-r"],
  ["a data URL", { base64: `data:text/plain;charset=koi8-r;base64,${base64}` }, "При", "koi8-r"],
  ["the server", { url: server.url("/koi8") }, "При", "koi8-r"],
  ["nobody, so by its bytes", { base64 }, "ðÒÉ", "windows-1252"],
  ["nobody at an address", { url: server.url("/plain") }, "ðÒÉ", "windows-1252"],
  ["a name that is unknown", { base64, mime_type: "text/plain; charset=klingon" }, "ðÒÉ", "windows-1252"],
])("text is read by the charset of %s", async (_what, text, expected, charset) => {
  const id = "code.regex";
  const members = findCapability(id)?.members;
  if (!members) throw new Error(`${id} is not generated`);
  // The request is what the ingress makes of it; it asks the catalogue for the price alone.
  const context = {
    availableCapabilities: { find: findCapability },
    catalogue: { current: () => ({ capabilities: new Map() }) },
  };
  const body = { input: { text }, params: { pattern: "a" } };
  const { request } = await readRun(context as never, { workspaceId: "none" } as never, id, body);
  const inputs = await readInputs({
    // No file is stored: nothing of it is used.
    context: {} as never,
    workspaceId: "none",
    folder: mkdtempSync(join(folder, "run-")),
    members,
    ...request,
    stored: {},
    reserveBytes: () => Promise.resolve(),
    judgeRobots: () => Promise.resolve(true),
    signal: new AbortController().signal,
  });
  const file = inputs["text"] as InputFile;
  expect([await textOf(file), charsetUsed(file)]).toEqual([expected, charset]);
});
