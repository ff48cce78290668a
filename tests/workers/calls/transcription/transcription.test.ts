/** The transcription pool over sources of the test's own. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";

import { createLogger } from "#shared/base/logger.ts";
import { serializePrice } from "#shared/calls/pricing/price.ts";
import { build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob } from "#tests/workers/runner/job-message.ts";
import { fakeBreaker } from "#tests/workers/routing/fake-breaker.ts";
import { controllerOf, fakeIngress, callOf } from "#tests/workers/runner/fake-ingress.ts";
import type { WorkerContext } from "#workers/context.ts";
import { jobAbort } from "#workers/job.ts";
import { createTranscriptionHandler } from "#workers/calls/transcription/transcription.ts";
import { openLiveCalls } from "#workers/runner/live-calls.ts";
import type { DirectAdapter, Transcript, TranscriptionInput } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

type Adapter = DirectAdapter<TranscriptionInput, Transcript>;

const catalogue = build([
  `
providers:
  - { id: one, family: deepgram, base_url: "http://127.0.0.1:1" }
  - { id: two, family: deepgram, base_url: "http://127.0.0.1:2" }
models:
  - slug: hears
    modality: stt
    owned_by: one
    created: 1700000000
    pricing: { unit: per_minute, minute_price: "0.6" }
    allowed_params: { response_formats: [json], supported_inputs: [audio] }
    sources: [{ provider: one, model: m }, { provider: two, model: m }]
  - slug: counts
    modality: stt
    owned_by: one
    created: 1700000000
    max_output_tokens: 1000
    pricing: { unit: per_token, input_per_million: "100", audio_input_per_million: "300", output_per_million: "500" }
    allowed_params: { response_formats: [json], supported_inputs: [audio] }
    sources: [{ provider: one, model: m }, { provider: two, model: m }]
`,
]);

const RECORDING = new TextEncoder().encode("a recording");
const REFERENCE = `${RECORDING.length}#${createHash("sha256").update(RECORDING).digest("hex")}#claims/1/file`;

/** @param adapters of the model's first source and of its second */
async function run(
  adapters: readonly [Adapter, Adapter],
  {
    plainMs = 60_000,
    totalMs = 60_000,
    log = createLogger({ level: "silent", role: "test" }),
    isStreamed = false,
    slug = "hears",
    signal = new AbortController().signal,
  } = {},
) {
  const breaker = fakeBreaker();
  const closed: object[] = [];
  const { replies, answers, frames } = fakeIngress();
  const told = (): string =>
    frames
      .map(({ frame, data }) => `${frame.t === "error" ? frame.code : ""}${new TextDecoder().decode(data)}`)
      .join("");
  const handle = { inc: () => undefined, add: () => undefined, observe: () => undefined, addNano: () => undefined };
  const model = catalogue.models.get(slug);
  if (!model) throw new Error("no model");
  const context = {
    config: { calls: { plainMs } },
    log,
    catalogue: { current: () => catalogue },
    breaker,
    repeats: { succeeded: () => undefined, take: () => false },
    storage: {
      bucket: "b",
      request: () => Promise.resolve(undefined),
      client: { send: () => Promise.resolve({ Body: new Blob([RECORDING]).stream() }) },
    },
    metrics: {
      callPartSeconds: handle,
      tokens: handle,
      providerSeconds: handle,
      usageEstimated: handle,
      providerErrors: handle,
      creditsSettled: handle,
      creditsUncollected: handle,
    },
    ledger: {
      settle: (end: { readonly usedNano: bigint | null }) => {
        closed.push(end);
        return Promise.resolve({ takenNano: end.usedNano ?? 0n, wasClosed: false });
      },
    },
    providers: { media: ({ id }: { readonly id: string }) => (id === "one" ? adapters[0] : adapters[1]) },
    replies,
    answers,
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const recording = {
    reference: REFERENCE,
    contentType: "audio/wav",
    filename: "a.wav",
    bytes: RECORDING.length,
    seconds: 60,
    param: "file",
  };
  const job = chatJob({
    kind: "transcription",
    model: slug,
    hold_nano: "1000000000",
    price: serializePrice(model.price),
    deadline_ms: Date.now() + totalMs,
    request: { model: slug, recording, ...(isStreamed ? { stream: true } : {}) },
  });
  const cancels = { onCancel: () => () => undefined, subject: "_INBOX.wk.test.cancel" };
  const live = openLiveCalls({ context, handler: createTranscriptionHandler(context), cancels });
  await live.run(callOf(job), controllerOf(signal), new AbortController().signal);
  live.close();
  return { told: told(), firstFrame: frames[0]?.frame.t, closed, breaker: breaker.told };
}

const hears: Adapter = { run: () => Promise.resolve({ output: { text: "hello" }, usage: {} }) };
/** An adapter whose provider takes the call and never answers. */
const silent: Adapter = {
  run: ({ signal }) =>
    new Promise((_resolve, reject) => {
      const end = (): void => reject(new ProviderError("aborted", "the call was aborted", { cause: signal.reason }));
      signal.addEventListener("abort", end, { once: true });
    }),
};

describe("a recording whose first source is silent", () => {
  test("is transcribed by the next one", async () => {
    const ran = await run([silent, hears], { plainMs: 50 });
    expect(ran.told).toContain("hello");
    expect(ran.breaker).toEqual(["record:failed one/m", "record:ok two/m"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });

  test("is transcribed by the next one even if the call is shorter than a source's limit", async () => {
    const ran = await run([silent, hears], { totalMs: 1_000 });
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });

  test("and whose last one is too uses the complete time of the call, and fails with a timeout", async () => {
    const ran = await run([silent, silent], { plainMs: 20, totalMs: 300 });
    expect(ran.told).toContain("upstream_timeout");
    expect(ran.breaker).toEqual(["record:failed one/m", "record:failed two/m"]);
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });
});

describe("a recording with a streamed transcript", () => {
  const deltas = (told: string) => [...told.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
  const speaks: Adapter = {
    run: ({ onText }) => {
      onText?.("good ");
      onText?.("morning");
      return Promise.resolve({ output: { text: "good morning all" }, usage: {} });
    },
  };

  test("returns the words as they become known, then the remainder, and the complete text", async () => {
    const ran = await run([speaks, hears], { isStreamed: true });
    expect(deltas(ran.told)).toEqual(["good ", "morning", " all"]);
    expect(ran.firstFrame).toBe("head");
    expect(ran.told).toContain('"type":"transcript.text.done","text":"good morning all"');
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: 600_000_000n }]);
  });

  test("returns the text of a source without streams as one piece", async () => {
    const ran = await run([hears, hears], { isStreamed: true });
    expect(deltas(ran.told)).toEqual(["hello"]);
    // Before its end: the client is answered with an event stream.
    expect(ran.firstFrame).toBe("head");
  });

  test("returns no words without a request for them", async () => {
    const ran = await run([speaks, hears]);
    expect(deltas(ran.told)).toEqual([]);
  });

  test("is not transcribed by another source once words are delivered, and an interruption costs nothing", async () => {
    const breaks: Adapter = {
      run: ({ onText }) => {
        onText?.("good ");
        return Promise.reject(new ProviderError("failed", "gone"));
      },
    };
    const ran = await run([breaks, hears], { isStreamed: true });
    expect(ran.told).not.toContain("hello");
    expect(ran.told).toContain("upstream_error");
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  // By the minute all of it; by the token ten for each of 60 seconds, and two for the five characters.
  test.each([
    ["hears", 600_000_000n],
    ["counts", 181_000_000n],
  ])("is charged when the caller disconnects after its first words (%s)", async (slug, usedNano) => {
    const left = new AbortController();
    const waits: Adapter = {
      run: (call) => {
        call.onText?.("good ");
        const ended = silent.run(call);
        left.abort(jobAbort("caller_left"));
        return ended;
      },
    };
    const ran = await run([waits, hears], { isStreamed: true, signal: left.signal, slug });
    expect(ran.closed).toMatchObject([{ status: "cancelled", usedNano }]);
  });
});

test("a provider's text, which may repeat a prompt, is not logged", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "trace", role: "test", write: (line) => lines.push(line) });
  const repeats: Adapter = { run: () => Promise.reject(new ProviderError("failed", "cannot hear zanzibarquokka")) };
  const { told } = await run([repeats, repeats], { log });
  expect(lines.join("")).toContain("provider call failed");
  expect(lines.join("") + told).not.toContain("zanzibarquokka");
});
