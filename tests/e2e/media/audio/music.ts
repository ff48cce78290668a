/** Music of the sandbox, and media calls that show their states as a stream, against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { MediaResults, MediaState } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { eventually } from "#tests/faults/wait.ts";
import { decoders } from "#tests/support/decoded-sound.ts";
import { startRole } from "#tests/support/role-process.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";

import { type Bench, CREDIT, errorOf } from "../bench.ts";
import { sharedBench } from "./shared-bench.ts";

const MUSIC = "/v1/music/generations";
const IMAGES = "/v1/images/generations";

let bench: Bench;

beforeAll(async () => {
  bench = await sharedBench();
  const [row] = await bench.stack.query<{ id: string }>("select id from workspace where name = 'default'");
  await subscribeToEvents(bench.stack, row?.id ?? "");
}, 60_000);

describe("music", () => {
  test.each([
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["flac", "audio/flac"],
  ] as const)(
    "as %s is generated in one call, has the requested length, and is charged by the minute",
    async (format, type) => {
      const body = { model: "sandbox-music", prompt: "a slow waltz", duration: 3, output_format: format, seed: 1 };
      const response = await bench.call(MUSIC, body);
      const answer = (await response.json()) as MediaResults;
      expect([response.status, validate("MediaResults", answer)]).toEqual([200, null]);
      expect(answer).toMatchObject({ credits_used: 0.3, data: [{ content_type: type }] });
      expect(response.headers.get("x-credits-used")).toBe("0.3");
      const linked = await fetch(answer.data[0]?.url ?? "");
      const { samples, sampleRate } = await decoders[format](new Uint8Array(await linked.arrayBuffer()));
      expect(samples.length / sampleRate).toBeCloseTo(3, 0);
      expect(answer.data[0]?.duration_seconds).toBeCloseTo(3, 1);
      expect(await bench.usageOf(response)).toMatchObject([{ status: "succeeded", settled: (3n * CREDIT) / 10n }]);
    },
    60_000,
  );

  test("is returned as bytes on request", async () => {
    const body = { model: "sandbox-music", prompt: "drums", duration: 3, response_format: "b64_json" };
    const { data } = (await (await bench.call(MUSIC, body)).json()) as MediaResults;
    const { samples } = await decoders.mp3(new Uint8Array(Buffer.from(data[0]?.b64_json ?? "", "base64")));
    expect(samples.some((sample) => Math.abs(sample) > 0.05)).toBe(true);
  }, 60_000);

  test.each([
    ["no prompt", { prompt: undefined }, "missing_required_parameter", "prompt"],
    ["too long a piece", { duration: 121 }, "unsupported_value", "duration"],
    ["a format nobody has", { output_format: "midi" }, "unsupported_value", "output_format"],
    ["a speech model", { model: "sandbox-tts" }, "model_not_supported", "model"],
  ])("of %s is rejected by name and costs nothing", async (_what, more, code, param) => {
    const response = await bench.call(MUSIC, { model: "sandbox-music", prompt: "x", ...more });
    expect(await errorOf(response)).toMatchObject({ status: 400, code, param });
    expect(await bench.usageOf(response)).toEqual([]);
  });

  test("that exceeds its caller's wait is collected once, under its job", async () => {
    const impatient = await startRole(["ingress"], { ...bench.stack.env, SLUICE_MEDIA_WAIT_MS: "200" });
    const response = await fetch(`${impatient.baseUrl}${MUSIC}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-music-slow", prompt: "x", duration: 3 }),
    });
    await impatient.stop();
    const id = response.headers.get("x-request-id") ?? "";
    expect(await errorOf(response)).toMatchObject({ status: 504, code: "job_timeout", job_id: id });
    const job = await bench.endOf(id);
    expect(job).toMatchObject({ modality: "music", status: "completed", credits_used: 0.3 });
    expect(await bench.usageOf(id)).toMatchObject([{ settled: (3n * CREDIT) / 10n }]);
  }, 60_000);
});

/** The frames of an event stream, and whether it ended as it should. */
async function framesOf(response: Response): Promise<{ readonly states: MediaState[]; readonly isDone: boolean }> {
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const datas = Array.from((await response.text()).matchAll(/^data: (.*)$/gm), ([, data = ""]) => data);
  const isDone = datas.at(-1) === "[DONE]";
  const states = datas.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data) as MediaState);
  for (const state of states) expect(validate("MediaState", state)).toBeNull();
  return { states, isDone };
}

describe("a stream of states", () => {
  test.each([
    ["pictures", IMAGES, { model: "sandbox-image", prompt: "a hill", size: "256x256", stream: true }, "url"],
    ["pictures' bytes", IMAGES, { model: "sandbox-image", prompt: "a hill", size: "256x256", stream: true, response_format: "b64_json" }, "b64_json"], // prettier-ignore
    ["music", `${MUSIC}?stream=true`, { model: "sandbox-music", prompt: "a waltz", duration: 3 }, "url"],
  ] as const)(
    "of %s goes from queued to completed, without file and price",
    async (_what, path, body, member) => {
      const response = await bench.call(path, body);
      expect(response.headers.get("x-model-used")).toBe(body.model);
      const { states, isDone } = await framesOf(response);
      expect(states.map(({ status }) => status)).toEqual(["queued", "processing", "completed"]);
      expect(isDone).toBe(true);
      const last = states.at(-1);
      expect(last).not.toHaveProperty("credits_used");
      const [made] = last?.data ?? [];
      expect(made).not.toHaveProperty("file_id");
      expect(typeof made?.[member]).toBe("string");
      if (made?.url !== undefined) expect((await fetch(made.url)).status).toBe(200);
      const [usage] = await bench.usageOf(response);
      expect(usage?.status).toBe("succeeded");
      expect(usage?.settled).toBeGreaterThan(0n);
      // Nobody finds it again: there is no such job, and what was made goes when its link does.
      const id = response.headers.get("x-request-id") ?? "";
      expect(await errorOf(await bench.call(`/v1/images/jobs/${id}`))).toMatchObject({ code: "job_not_found" });
      expect(await bench.stack.query("select 1 from event where metadata->>'jobId' = $1", [id])).toEqual([]);
    },
    60_000,
  );

  test.each([
    ["sandbox-image-error", "upstream_error"],
    ["sandbox-image-refuse", "upstream_refused"],
  ])("of %s ends in failed, with the cause, and costs nothing", async (model, code) => {
    const response = await bench.call(IMAGES, { model, prompt: "x", stream: true });
    const { states, isDone } = await framesOf(response);
    expect(states.at(-1)).toMatchObject({ status: "failed", error: { code } });
    expect([states[0]?.status, isDone]).toEqual(["queued", true]);
    expect(await bench.usageOf(response)).toMatchObject([{ status: "failed", settled: 0n }]);
  });

  test("does not try another model, whatever the workspace's chain", async () => {
    const chain = ["admin", "fallback-chains", "set", "sandbox-image-error", "sandbox-image", "--workspace", "default"];
    expect(await bench.stack.command(...chain)).toMatchObject({ code: 0 });
    const plain = async (): Promise<Response> =>
      bench.call(IMAGES, { model: "sandbox-image-error", prompt: "x", size: "256x256" });
    await eventually("the chain is in force", async () => (await plain()).status === 200);
    const streamed = await bench.call(IMAGES, {
      model: "sandbox-image-error",
      prompt: "x",
      size: "256x256",
      stream: true,
    });
    expect((await framesOf(streamed)).states.at(-1)).toMatchObject({
      status: "failed",
      error: { code: "upstream_error" },
    });
  }, 30_000);

  test("whose client disconnects ends its job, which costs nothing", async () => {
    const leaving = new AbortController();
    const response = await fetch(`${bench.stack.baseUrls[0]}${IMAGES}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-image-slow", prompt: "x", stream: true }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const usage = await eventually("it has ended", async () => (await bench.usageOf(response))[0]);
    expect(usage).toMatchObject({ status: "cancelled", settled: 0n });
  }, 30_000);

  test("is rejected before it starts like any call", async () => {
    const response = await bench.call(IMAGES, { model: "sandbox-image", prompt: "x", size: "3x3", stream: true });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: "unsupported_value", param: "size" });
  });
});

describe("a stored job", () => {
  test("writes an event at its end, with its cost", async () => {
    const made = await bench.call(IMAGES, { model: "sandbox-image", prompt: "x", size: "256x256" });
    const failed = await bench.call(IMAGES, { model: "sandbox-image-refuse", prompt: "x" });
    const eventsOf = (response: Response) =>
      bench.stack.query("select type, metadata from event where metadata->>'jobId' = $1", [
        response.headers.get("x-request-id"),
      ]);
    expect(await eventsOf(made)).toMatchObject([
      { type: "job.completed", metadata: { modality: "image", model: "sandbox-image", creditsUsed: 2 } },
    ]);
    expect(await eventsOf(failed)).toMatchObject([
      { type: "job.failed", metadata: { creditsUsed: 0, error: { code: "upstream_refused" } } },
    ]);
  });
});
