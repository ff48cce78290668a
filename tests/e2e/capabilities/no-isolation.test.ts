/** A service whose workers cannot isolate the children of capabilities, and need it. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";

let bench: CapabilityBench;
beforeAll(async () => {
  // No program of the system is found there, unshare among them.
  bench = await startCapabilityBench({ env: { SLUICE_CAPABILITY_ISOLATION: "on", PATH: "/nowhere" } });
}, 120_000);
afterAll(() => bench.stop());

test("engines of native code are not offered, with a log line and a reason for each; others run", async () => {
  const [worker] = bench.stack.processes;
  expect(worker?.logs().some((line) => line.includes("engines of native code are not offered"))).toBe(true);
  const reason = "It runs native code, and this worker cannot isolate it";
  const ready = await fetch(`${worker?.adminUrl}/readyz`);
  const { engines } = (await ready.json()) as { engines: Record<string, string> };
  expect([ready.status, engines["code"], engines["archive"]]).toEqual([200, "ok", "ok"]);
  for (const engine of ["ffmpeg", "sharp", "ocr", "pdf", "browser"]) expect(engines[engine]).toStartWith(reason);
  const listed = await eventually("the ingress has heard", async () => {
    const { data } = (await (await bench.call("/v1/tools")).json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id);
    return !ids.includes("image.resize") && ids;
  });
  expect(listed).toContain("code.regex");
  expect(listed.filter((id) => /^(?:image|video|audio)\./.test(id))).toEqual([]);
  const refused = await bench.run("image.resize", {
    input: { image: { file_id: "file-sample-photo" } },
    params: { width: 3 },
  });
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect([refused.status, error.code]).toEqual([404, "capability_not_found"]);
  // The reason is the operator's: its setting says nothing to a caller.
  expect(error.message).toStartWith("This service does not offer image.resize");
  const input = { text: { text: "abc" } };
  expect((await bench.made("code.regex", { input, params: { pattern: "b" } })).capability).toBe("code.regex");
}, 60_000);
