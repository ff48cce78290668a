/** The transcription pool over sources of the test's own. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";

import { createLogger } from "#shared/logger.ts";
import { decodeFrame } from "#shared/queue/frames.ts";
import { serializePrice } from "#shared/pricing/price.ts";
import { build } from "#tests/shared/catalogue/build-catalogue.ts";
import { chatJob } from "#tests/workers/jobs.ts";
import { fakeBreaker } from "#tests/workers/routing/fake-breaker.ts";
import type { WorkerContext } from "#workers/context.ts";
import { createTranscriptionHandler } from "#workers/pools/transcription.ts";
import type { DirectOffer, Transcript, TranscriptionInput } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

type Offer = DirectOffer<TranscriptionInput, Transcript>;

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
`,
]);

const RECORDING = new TextEncoder().encode("a recording");
const REFERENCE = `${RECORDING.length}#${createHash("sha256").update(RECORDING).digest("hex")}#claims/1/file`;

/** @param offers of the model's first source and of its second */
async function run(
  offers: readonly [Offer, Offer],
  { plainMs = 60_000, totalMs = 60_000, log = createLogger({ level: "silent", role: "test" }) } = {},
) {
  const breaker = fakeBreaker();
  const closed: object[] = [];
  let told = "";
  const handle = { inc: () => undefined, observe: () => undefined, addNano: () => undefined };
  const model = catalogue.models.get("hears");
  if (!model) throw new Error("no model");
  const context = {
    config: { chat: { plainMs } },
    log,
    catalogue: { current: () => catalogue },
    breaker,
    repeats: { succeeded: () => undefined, take: () => false },
    storage: {
      bucket: "b",
      client: { send: () => Promise.resolve({ Body: new Blob([RECORDING]).stream() }) },
    },
    metrics: { providerSeconds: handle, usageEstimated: handle, providerErrors: handle, creditsSettled: handle },
    ledger: {
      finish: (end: { readonly usedNano: bigint | null }) => {
        closed.push(end);
        return Promise.resolve({ takenNano: end.usedNano ?? 0n, wasClosed: false });
      },
    },
    providers: { media: ({ id }: { readonly id: string }) => (id === "one" ? offers[0] : offers[1]) },
    answers: {
      isClosed: () => false,
      publish: (_subject: string, bytes: Uint8Array) => {
        const { frame, data } = decodeFrame(bytes);
        told += `${frame.t === "error" ? frame.code : ""}${new TextDecoder().decode(data)}`;
      },
    },
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
    model: "hears",
    hold_nano: "1000000000",
    price: serializePrice(model.price),
    deadline_ms: Date.now() + totalMs,
    request: { model: "hears", recording },
  });
  const control = { signal: new AbortController().signal, reply: "_INBOX.gw.ingress.job" };
  await createTranscriptionHandler(context).run(job, control);
  return { told, closed, breaker: breaker.told };
}

const hears: Offer = { run: () => Promise.resolve({ output: { text: "hello" }, usage: {} }) };
/** As an adapter whose provider takes the call and never answers. */
const silent: Offer = {
  run: ({ signal }) =>
    new Promise((_resolve, reject) => {
      const end = (): void => reject(new ProviderError("aborted", "the call was aborted", { cause: signal.reason }));
      signal.addEventListener("abort", end, { once: true });
    }),
};

describe("a recording whose first source stays silent", () => {
  test("is transcribed by the next one", async () => {
    const ran = await run([silent, hears], { plainMs: 50 });
    expect(ran.told).toContain("hello");
    expect(ran.breaker).toEqual(["record:failed one/m", "record:ok two/m"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });

  test("is transcribed by the next one even where the call is shorter than a source's limit", async () => {
    const ran = await run([silent, hears], { totalMs: 1_000 });
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });

  test("and whose last does too has the whole of the call for that one, and is told that it took too long", async () => {
    const ran = await run([silent, silent], { plainMs: 20, totalMs: 300 });
    expect(ran.told).toContain("upstream_timeout");
    expect(ran.breaker).toEqual(["record:failed one/m", "record:failed two/m"]);
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });
});

test("a provider's words, which may repeat a prompt, are not logged", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "trace", role: "test", write: (line) => lines.push(line) });
  const repeats: Offer = { run: () => Promise.reject(new ProviderError("failed", "cannot hear zanzibarquokka")) };
  const { told } = await run([repeats, repeats], { log });
  expect(lines.join("")).toContain("provider call failed");
  expect(lines.join("") + told).not.toContain("zanzibarquokka");
});
