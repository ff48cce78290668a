/** Transcription with the stock SDK against the running service: what the sandbox spoke comes back word for word. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";

import { toFile } from "openai";

import type { Transcription } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type Bench, CREDIT, errorOf } from "../bench.ts";
import { sharedBench } from "./shared-bench.ts";

const TEXT = "Where is the station? It is behind the tower.";
const MODEL = "sandbox-stt";
const folder = temporaryDirectory();

let bench: Bench;
let sound: Buffer;
let seconds: number;

beforeAll(async () => {
  bench = await sharedBench();
  const spoken = { model: "sandbox-tts", input: TEXT, voice: "alloy", response_format: "wav" } as const;
  const response = await bench.client.audio.speech.create(spoken);
  sound = Buffer.from(await response.arrayBuffer());
  seconds = (sound.length - 44) / 48_000;
}, 60_000);

afterAll(() => folder.remove());

/** Half a credit a minute, of the sound as we measure it, rounded up once. */
const price = (): bigint => {
  const milliseconds = BigInt(Math.ceil(seconds * 1_000 - 0.001));
  return (milliseconds * (CREDIT / 2n) + 59_999n) / 60_000n;
};

function form(fields: Record<string, string | Blob | string[]>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) data.append(name, one);
  }
  return data;
}

async function send(data: FormData): Promise<Response> {
  const headers = { authorization: `Bearer ${bench.stack.key}` };
  return fetch(`${bench.stack.baseUrls[0]}/v1/audio/transcriptions`, { method: "POST", headers, body: data });
}

const recording = (): Blob => new File([new Uint8Array(sound)], "talk.wav", { type: "audio/wav" });

describe("the stock SDK", () => {
  const path = join(folder.directory, "talk.wav");
  const ways: Readonly<Record<string, () => unknown>> = {
    File: () => recording(),
    Blob: () => toFile(new Blob([new Uint8Array(sound)]), "talk.wav"),
    Buffer: () => toFile(sound, "talk.wav"),
    stream: () => {
      writeFileSync(path, sound);
      return createReadStream(path);
    },
  };

  test.each(Object.keys(ways))("sends a %s and receives the transcript, charged by the minute", async (way) => {
    const file = (await ways[way]?.()) as File;
    const { data, response } = await bench.client.audio.transcriptions.create({ model: MODEL, file }).withResponse();
    expect(data.text).toBe(TEXT);
    expect(validate("Transcription", data)).toBeNull();
    expect(response.headers.get("x-model-used")).toBe(MODEL);
    const [usage, ...others] = await bench.usageOf(response);
    expect(others).toEqual([]);
    expect(usage).toMatchObject({ status: "succeeded", settled: price() });
    expect(usage?.units["seconds"]).toBeCloseTo(seconds, 3);
    expect(Number(response.headers.get("x-credits-used"))).toBe(Number(price()) / 1e9);
    expect(data).toMatchObject({ usage: { credits: Number(price()) / 1e9 } });
  });

  test("reads a stored file by its id, in the field of the wire format", async () => {
    const { id } = await bench.client.files.create({ file: await toFile(sound, "talk.wav"), purpose: "user_data" });
    const response = await bench.call("/v1/audio/transcriptions", { model: MODEL, file_id: id });
    expect(await response.json()).toMatchObject({ text: TEXT });
  });

  test("streams a slow transcript: the first words arrive before it is charged", async () => {
    const { data: stream, response } = await bench.client.audio.transcriptions
      .create({ model: "sandbox-stt-slow", file: recording() as File, stream: true })
      .withResponse();
    const pieces: string[] = [];
    for await (const event of stream) {
      if (event.type !== "transcript.text.delta") continue;
      if (pieces.length === 0) expect(await bench.stack.query("select 1 from hold")).not.toEqual([]);
      pieces.push(event.delta);
    }
    expect(response.headers.get("x-model-used")).toBe("sandbox-stt-slow");
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(TEXT);
  });

  test("reads a stream of it to its end", async () => {
    const stream = await bench.client.audio.transcriptions.create({
      model: MODEL,
      file: recording() as File,
      stream: true,
    });
    let text = "";
    let whole: string | undefined;
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") whole = event.text;
    }
    expect([text, whole]).toEqual([TEXT, TEXT]);
  });
});

describe("a transcript", () => {
  const ask = async (more: object): Promise<Response> =>
    bench.call("/v1/audio/transcriptions", { model: MODEL, audio_base64: sound.toString("base64"), ...more });

  test("as text is plain text", async () => {
    const response = await ask({ response_format: "text" });
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    expect((await response.text()).trim()).toBe(TEXT);
  });

  test.each(["srt", "vtt"])("as %s has times, in order and within the audio", async (response_format) => {
    const response = await ask({ response_format });
    const text = await response.text();
    if (response_format === "vtt") expect(text.startsWith("WEBVTT\n\n")).toBe(true);
    const mark = response_format === "srt" ? "," : "\\.";
    const times = Array.from(
      text.matchAll(new RegExp(`(\\d\\d):(\\d\\d):(\\d\\d)${mark}(\\d{3})|(\\d\\d):(\\d\\d)\\.(\\d{3})`, "g")),
      ([whole]) => whole,
    );
    expect(times.length).toBeGreaterThanOrEqual(2);
    const all = times.map((time) => {
      const [rest = "", ms = "0"] = time.split(/[,.]/);
      return rest.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) + Number(ms) / 1_000;
    });
    expect(all.toSorted((one, other) => one - other)).toEqual(all);
    expect(all.at(-1)).toBeLessThanOrEqual(seconds + 0.001);
    expect(text.replace(/\s+/g, " ")).toContain("Where is the station?");
  });

  test("as verbose_json has the language, the length and the requested timestamps", async () => {
    const plain = (await (await ask({ response_format: "verbose_json" })).json()) as Transcription &
      Record<string, unknown>;
    expect(plain.text).toBe(TEXT);
    expect(Number(plain["duration"])).toBeCloseTo(seconds, 2);
    expect(typeof plain["language"]).toBe("string");
    expect((plain["segments"] as unknown[]).length).toBeGreaterThan(0);
    expect(plain["words"]).toBeUndefined();
    const timed = await ask({ response_format: "verbose_json", timestamp_granularities: ["word"] });
    const { words, segments } = (await timed.json()) as {
      words: { word: string; start: number; end: number }[];
      segments?: unknown;
    };
    expect(
      words
        .map(({ word }) => word)
        .join(" ")
        .toLowerCase(),
    ).toContain("station");
    expect(words.every(({ start, end }) => start <= end && end <= seconds + 0.01)).toBe(true);
    expect(segments).toBeUndefined();
  });

  test("of a form reads its fields in form encoding", async () => {
    const fields = {
      model: MODEL,
      response_format: "verbose_json",
      temperature: "0.2",
      "timestamp_granularities[]": ["word", "segment"],
    };
    const response = await send(form({ file: recording(), ...fields }));
    const { words, segments } = (await response.json()) as { words: unknown[]; segments: unknown[] };
    expect([words.length > 0, segments.length > 0]).toEqual([true, true]);
  });

  test("of audio that the sandbox did not generate describes it, the same each time", async () => {
    const tone = Buffer.from(sound);
    for (let at = 44; at + 1 < tone.length; at += 2) tone.writeInt16LE(Math.round(8_000 * Math.sin(at / 30)) & ~1, at);
    const said = async (): Promise<unknown> => await (await ask({ audio_base64: tone.toString("base64") })).json();
    const first = await said();
    expect(first).toEqual(await said());
    expect((first as Transcription).text).not.toBe(TEXT);
  });
});

describe("a rejected call", () => {
  const large = (): Blob => {
    const bytes = Buffer.concat([sound.subarray(0, 44), Buffer.alloc(26 * 1_048_576)]);
    return new File([new Uint8Array(bytes)], "large.wav");
  };
  const cases: Readonly<Record<string, readonly [() => FormData, string, string, number?]>> = {
    "without a file": [() => form({ model: MODEL }), "missing_required_parameter", "file"],
    "without a model": [() => form({ file: recording() }), "missing_required_parameter", "model"],
    "with a text that is called a sound": [
      () => form({ model: MODEL, file: new File(["hello"], "a.mp3", { type: "audio/mpeg" }) }),
      "unprocessable_input",
      "file",
      422,
    ],
    "with an empty file": [() => form({ model: MODEL, file: new File([], "a.wav") }), "invalid_request", "file"],
    "with two files": [
      () => form({ model: MODEL, file: [recording(), recording()] as unknown as string[] }),
      "invalid_request",
      "file",
    ],
    "with subtitles as a stream": [
      () => form({ model: MODEL, file: recording(), response_format: "srt", stream: "true" }),
      "unsupported_value",
      "stream",
    ],
    "with times for what has none": [
      () => form({ model: MODEL, file: recording(), "timestamp_granularities[]": "word" }),
      "unsupported_value",
      "timestamp_granularities",
    ],
    "with a format nobody has": [
      () => form({ model: MODEL, file: recording(), response_format: "xml" }),
      "unsupported_value",
      "response_format",
    ],
    "of a speech model": [() => form({ model: "sandbox-tts", file: recording() }), "model_not_supported", "model"],
    "with more than the model takes": [() => form({ model: MODEL, file: large() }), "unsupported_value", "file"],
  };

  test.each(Object.keys(cases))("%s costs nothing and names the error", async (what) => {
    const [make, code, param, status = 400] = cases[what] ?? [];
    if (!make) throw new Error(what);
    const response = await send(make());
    expect(await errorOf(response)).toMatchObject({ status, code, param });
    expect(await bench.usageOf(response)).toEqual([]);
  });

  test.each([
    ["sandbox-stt-error", 502, "upstream_error"],
    ["sandbox-stt-refuse", 502, "upstream_refused"],
  ])("by %s costs nothing", async (model, status, code) => {
    const response = await send(form({ model, file: recording() }));
    expect(await errorOf(response)).toMatchObject({ status, code });
    expect(await bench.usageOf(response)).toMatchObject([{ status: "failed", settled: 0n }]);
  });

  test("with another workspace's file is answered like with an unknown file", async () => {
    const other = await createWorkspace(bench.stack, { creditsNano: 0n });
    const stored = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.key}` },
      body: form({ file: recording(), purpose: "user_data" }),
    });
    expect(stored.status).toBe(200);
    const { id } = (await stored.json()) as { id: string };
    for (const file_id of [id, "file-0123456789abcdef0123456789abcdef"]) {
      const response = await bench.call("/v1/audio/transcriptions", { model: MODEL, file_id });
      expect(await errorOf(response)).toMatchObject({ status: 404, code: "file_not_found", param: "file_id" });
    }
  });
});
