/** Speech with the stock SDK against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { SpeechEvent } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { decoders } from "#tests/support/decoded-sound.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";
import { SPEECH_TYPES } from "#workers/providers/speech.ts";

import { type Bench, CREDIT, errorOf } from "../bench.ts";
import { sharedBench } from "./shared-bench.ts";

const TEXT = "The fox jumps over the lazy dog. Then it sleeps.";

function eventsOf(text: string): SpeechEvent[] {
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)) as SpeechEvent);
}

const FORMATS = Object.keys(SPEECH_TYPES) as SpeechFormat[];

let bench: Bench;

beforeAll(async () => {
  bench = await sharedBench();
}, 60_000);

describe("speech", () => {
  test.each(FORMATS)(
    "as %s is decoded by an independent decoder, charged by the character, and stored",
    async (format) => {
      const response = await bench.client.audio.speech.create({
        model: "sandbox-tts",
        input: TEXT,
        voice: "alloy",
        response_format: format,
      });
      expect(response.headers.get("content-type")).toBe(SPEECH_TYPES[format]);
      expect(response.headers.get("x-credits-used")).toBe("0.048");
      expect(response.headers.get("x-model-used")).toBe("sandbox-tts");
      const bytes = new Uint8Array(await response.arrayBuffer());
      const { samples, sampleRate } = await decoders[format](bytes);
      expect(samples.length / sampleRate).toBeGreaterThan(1.5);
      expect(samples.some((sample) => Math.abs(sample) > 0.05)).toBe(true);
      expect(await bench.usageOf(response)).toMatchObject([
        { status: "succeeded", settled: (48n * CREDIT) / 1_000n, units: { characters: 48 } },
      ]);
      const { data, modality } = await bench.endOf(response.headers.get("x-request-id") ?? "");
      expect(modality).toBe("audio");
      const kept = await bench.client.files.content(String(data?.[0]?.["file_id"]));
      expect(Buffer.from(await kept.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
    },
  );

  test("is streamed during generation: the first bytes arrive before the job has ended", async () => {
    const input = `${TEXT} `.repeat(16);
    const response = await bench.call("/v1/audio/speech", { model: "sandbox-tts", input, voice: "nova" });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeGreaterThan(0);
    expect((await bench.jobOf(response.headers.get("x-request-id") ?? "")).status).toBe("processing");
    const pieces = [first?.value ?? new Uint8Array()];
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) pieces.push(next.value);
    const { samples, sampleRate } = await decoders.mp3(new Uint8Array(Buffer.concat(pieces)));
    expect(samples.length / sampleRate).toBeGreaterThan(24);
    await bench.endOf(response.headers.get("x-request-id") ?? "");
  });

  test("has the requested speed and voice, and rejects voices that the model lacks", async () => {
    const speak = async (more: object): Promise<Buffer> => {
      const body = { model: "sandbox-tts", input: TEXT, response_format: "pcm", ...more };
      const response = await bench.call("/v1/audio/speech", body);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, SPEECH_TYPES.pcm]);
      return Buffer.from(await response.arrayBuffer());
    };
    const plain = await speak({ voice: "alloy" });
    expect((await speak({ voice: "alloy", speed: 2 })).length).toBeLessThan(plain.length * 0.7);
    expect((await speak({ voice: "onyx" })).equals(plain)).toBe(false);
    // Dropped without a word, and the model's usual one speaks.
    expect((await speak({ voice: "somebody" })).equals(plain)).toBe(true);
    expect((await speak({ voice: "alloy", instructions: "In a deep voice." })).equals(plain)).toBe(false);
  });

  test.each(["mp3", "flac"])("as events of %s is the same audio in pieces, ended by its usage", async (format) => {
    const body = { model: "sandbox-tts", input: TEXT, voice: "alloy", response_format: format };
    const plain = Buffer.from(await (await bench.call("/v1/audio/speech", body)).arrayBuffer());
    const response = await bench.call("/v1/audio/speech", { ...body, stream_format: "sse" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("x-credits-used")).toBe("0.048");
    const events = eventsOf(await response.text());
    const done = events.pop();
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["speech.audio.delta"]));
    expect(Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? "", "base64"))).equals(plain)).toBe(true);
    const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, characters: 48, credits: 0.048 };
    expect(done).toEqual({ type: "speech.audio.done", usage });
    for (const event of [...events, done]) expect(validate("SpeechEvent", event)).toBeNull();
  });

  test("as events that is interrupted ends with an error event and without its end event", async () => {
    const body = { model: "sandbox-tts-truncate", input: TEXT.repeat(8), voice: "alloy", stream_format: "sse" };
    const events = eventsOf(await (await bench.call("/v1/audio/speech", body)).text());
    expect(events.at(-1)?.error).toMatchObject({ code: "upstream_error", type: "server_error", param: null });
    expect(events.map(({ type }) => type)).not.toContain("speech.audio.done");
  });

  test.each([
    ["the one asked for", { voice: "nova" }, "nova"],
    ["the model's usual one, for a voice that it has not", { voice: "somebody" }, "alloy"],
    ["the model's usual one, when none is named", {}, "alloy"],
  ])("names the used voice in a header: %s", async (_what, more, voice) => {
    for (const format of ["mp3", "flac"]) {
      const body = { model: "sandbox-tts", input: "Hi.", response_format: format, ...more };
      const response = await bench.call("/v1/audio/speech", body);
      expect(response.headers.get("x-voice-used")).toBe(voice);
      await response.arrayBuffer();
    }
  });

  test.each([
    ["a way to stream that is none", { model: "sandbox-tts", input: "a", stream_format: "ws" }, "unsupported_value", "stream_format"], // prettier-ignore
    ["no text", { model: "sandbox-tts" }, "missing_required_parameter", "input"],
    ["too much text", { model: "sandbox-tts", input: "a".repeat(4_097) }, "invalid_request", "input"],
    ["a format nobody has", { model: "sandbox-tts", input: "a", response_format: "midi" }, "unsupported_value", "response_format"], // prettier-ignore
    ["too much speed", { model: "sandbox-tts", input: "a", speed: 4.1 }, "unsupported_value", "speed"],
    ["a model that draws", { model: "sandbox-image", input: "a" }, "model_not_supported", "model"],
    ["no model that there is", { model: "nobody", input: "a" }, "model_not_found", "model"],
  ])("of %s is a 400 that names the parameter, and costs nothing", async (_what, body, code, param) => {
    const response = await bench.call("/v1/audio/speech", body);
    expect(await errorOf(response)).toMatchObject({ status: 400, code, param });
    expect(await bench.usageOf(response)).toEqual([]);
  });

  test("that is interrupted is cut off without a regular end, and costs nothing", async () => {
    const body = { model: "sandbox-tts-truncate", input: TEXT.repeat(8), voice: "alloy" };
    const response = await bench.call("/v1/audio/speech", body);
    expect(response.status).toBe(200);
    expect(await response.arrayBuffer().catch(() => "cut")).toBe("cut");
    const id = response.headers.get("x-request-id") ?? "";
    expect(await bench.endOf(id)).toMatchObject({ status: "failed", credits_used: 0 });
    expect(await bench.usageOf(id)).toMatchObject([{ status: "failed", settled: 0n }]);
  });

  test("whose caller disconnects continues, is stored and charged once", async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({ model: "sandbox-tts-slow", input: TEXT, voice: "alloy" });
    const headers = { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" };
    const gone = fetch(`${bench.stack.baseUrls[0]}/v1/audio/speech`, {
      method: "POST",
      body,
      headers,
      signal: leaving.signal,
    });
    const running = await (async () => {
      for (;;) {
        const [row] = await bench.stack.query<{ id: string }>("select id from job where state = 'running'");
        if (row) return row.id;
        await Bun.sleep(20);
      }
    })();
    leaving.abort();
    await gone.catch(() => undefined);
    expect(await bench.endOf(running)).toMatchObject({ status: "completed", credits_used: 0.048 });
  });
});
