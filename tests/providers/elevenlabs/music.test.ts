import { describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import { classifyAnswer } from "#workers/providers/elevenlabs/errors.ts";
import type { Artifact, MediaCall, MusicInput, SpeechFormat } from "#workers/providers/media.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { adaptTo } from "#workers/calls/source-params.ts";
import { SPEECH_TYPES } from "#workers/providers/speech.ts";

import { samples } from "./music-endpoint.ts";
import { MUSIC_ERRORS } from "./music-errors.ts";
import { composed, startElevenLabsServer } from "./server.ts";
import { bytesReply, type Members, VENDOR_MARK } from "../engine/behaviour.ts";
import { direct, failureOf, mediaCall, overriding, useServers } from "../engine/calls.ts";
import { soundOf } from "../sounds.ts";

const own = useServers();

function start() {
  const server = own(startElevenLabsServer("key-ours"));
  const adapters = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key-ours" } });
  const music = direct(adapters.music);
  return {
    server,
    compose: (input: Partial<MusicInput> = {}, call: Partial<MediaCall<MusicInput>> = {}) =>
      music.run(mediaCall({ prompt: "a waltz", format: "mp3", ...input }, { sourceModel: "music_v2_5", ...call })),
  };
}

function bytesOf([artifact]: readonly Artifact[]): Buffer {
  if (artifact && "bytes" in artifact) return Buffer.from(artifact.bytes);
  throw new Error("expected bytes");
}

/** @throws Error when these are no whole WAVE of samples */
function readWave(bytes: Buffer): { channels: number; rate: number; data: Buffer } {
  const sizes = [bytes.readUInt32LE(4) + 8, bytes.readUInt32LE(40) + 44];
  if (sizes.some((size) => size !== bytes.length)) throw new Error(`sizes ${sizes.join()} of ${bytes.length}`);
  expect([bytes.toString("latin1", 0, 4), bytes.toString("latin1", 8, 16)]).toEqual(["RIFF", "WAVEfmt "]);
  expect([bytes.readUInt32LE(16), bytes.readUInt16LE(20), bytes.readUInt16LE(34)]).toEqual([16, 1, 16]);
  const [channels, rate] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24)];
  expect([bytes.readUInt32LE(28), bytes.readUInt16LE(32)]).toEqual([rate * channels * 2, channels * 2]);
  expect(bytes.toString("latin1", 36, 40)).toBe("data");
  return { channels, rate, data: bytes.subarray(44) };
}

describe("a request for music", () => {
  test("has the prompt and the length in milliseconds, the format in its address, and no other defaults", async () => {
    const { server, compose } = start();
    await compose({ duration: 30, seed: 7 });
    const [call] = server.requests;
    expect([call?.method, call?.pathname, call?.query]).toEqual([
      "POST",
      "/v1/music",
      { output_format: "mp3_44100_128" },
    ]);
    expect(call?.headers["xi-api-key"]).toBe("key-ours");
    expect(call?.body).toEqual({ model_id: "music_v2_5", prompt: "a waltz", music_length_ms: 30_000 });
  });

  test("without a length uses the model's default", async () => {
    const { server, compose } = start();
    await compose();
    expect(server.requests[0]?.body).toEqual({ model_id: "music_v2_5", prompt: "a waltz" });
  });

  test("has its lyrics in the prompt", async () => {
    const { server, compose } = start();
    await compose({ lyrics: "La la\nla" });
    expect((server.requests[0]!.body as Members)["prompt"]).toBe("a waltz\n\nLyrics:\nLa la\nla");
  });

  test("has its lyrics in the field of its source, if one exists", async () => {
    const { server, compose } = start();
    await compose({ lyrics: "La la" }, { fields: { prompt: "prompt", lyrics: "lyrics_text" } });
    expect(server.requests[0]?.body).toEqual({ model_id: "music_v2_5", prompt: "a waltz", lyrics_text: "La la" });
  });

  test("is changed by its source, last", async () => {
    const { server, compose } = start();
    await compose({ duration: 30 }, overriding({ force_instrumental: true }));
    expect(server.requests[0]?.body).toMatchObject({ force_instrumental: true, music_length_ms: 30_000 });
  });

  test.each([1, 2, 601])("of %p seconds is rejected before it is sent", async (duration) => {
    const { server, compose } = start();
    expect(await failureOf(compose({ duration }))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "duration",
      say: `Expected duration to be 3 to 600 seconds for this model, got ${duration}.`,
    });
    expect(server.requests).toEqual([]);
  });

  test.each([3, 600])("of %p seconds is sent", async (duration) => {
    const { server, compose } = start();
    await compose({ duration });
    expect(composed(server)).toBe(1);
  });

  test("to a source without a length parameter is not rejected for one", async () => {
    const { server, compose } = start();
    await compose({ duration: 2 }, { fields: { prompt: "prompt" } });
    expect(server.requests[0]?.body).toEqual({ model_id: "music_v2_5", prompt: "a waltz" });
  });

  test.each<[Partial<MusicInput>, string]>([
    [{ prompt: "x".repeat(4_101) }, "prompt"],
    [{ prompt: "x".repeat(4_101), lyrics: "La" }, "prompt"],
    [{ prompt: "x".repeat(4_000), lyrics: "x".repeat(100) }, "lyrics"],
  ])("above the maximum (%.20j) is rejected before it is sent", async (input, param) => {
    const { server, compose } = start();
    expect(await failureOf(compose(input))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param,
      say: "This model accepts at most 4100 characters of prompt and lyrics in total.",
    });
    expect(server.requests).toEqual([]);
  });

  test("at the maximum is sent", async () => {
    const { server, compose } = start();
    await compose({ prompt: "x".repeat(4_000), lyrics: "x".repeat(89) });
    expect(String((server.requests[0]!.body as Members)["prompt"])).toHaveLength(4_099);
  });
});

describe("music", () => {
  test.each<[SpeechFormat, string, string]>([
    ["mp3", "mp3_44100_128", "audio/mpeg"],
    ["opus", "opus_48000_128", "audio/ogg"],
  ])(
    "as %s is requested as %s and passed on unchanged, with its length measured by us",
    async (format, theirs, type) => {
      const { server, compose } = start();
      expect(await compose({ format, duration: 3 })).toEqual({
        output: [{ bytes: soundOf(format), contentType: type }],
        usage: {},
      });
      expect(server.requests[0]?.query).toEqual({ output_format: theirs });
    },
  );

  test.each<SpeechFormat>(["wav", "flac", "aac", "pcm"])(
    "as %s is requested as samples, which get a file header",
    async (format) => {
      const { server, compose } = start();
      const { output, usage } = await compose({ format, duration: 4 });
      expect(server.requests[0]?.query).toEqual({ output_format: "pcm_44100" });
      expect(output).toMatchObject([{ contentType: "audio/wav" }]);
      const { channels, rate, data } = readWave(bytesOf(output));
      expect([channels, rate, usage]).toEqual([2, 44_100, { seconds: 4 }]);
      expect(data.equals(samples(4, 2))).toBeTrue();
    },
  );

  test.each<[string, number, 1 | 2, number | undefined, 1 | 2]>([
    ["one channel of the length that was asked for", 4, 1, 4, 1],
    ["one channel, a little short", 3.8, 1, 4, 1],
    ["two channels, a little short", 3.5, 2, 4, 2],
    ["two channels, longer than was asked for", 6, 2, 4, 2],
    ["two channels where no length was asked for", 4, 2, undefined, 2],
  ])("of %s is reported as such", async (_what, seconds, made, duration, channels) => {
    const { server, compose } = start();
    server.next(bytesReply("audio/pcm", samples(seconds, made)));
    const { output, usage } = await compose({ format: "wav", ...(duration === undefined ? {} : { duration }) });
    expect(readWave(bytesOf(output)).channels).toBe(channels);
    expect(usage.seconds).toBeCloseTo(seconds, 3);
  });

  test("that ends in the middle of a sample is truncated before it", async () => {
    const { server, compose } = start();
    server.next(bytesReply("audio/pcm", samples(1, 2).subarray(0, -1)));
    const { output } = await compose({ format: "wav" });
    expect(readWave(bytesOf(output)).data).toHaveLength(4 * 44_099);
  });

  test.each<[SpeechFormat, string]>([
    ["wav", "audio/wav"],
    ["mp3", "audio/mpeg"],
    ["flac", "audio/flac"],
  ])("that is %s where samples were requested is passed on as %s", async (format, contentType) => {
    const { server, compose } = start();
    const bytes = format === "mp3" ? Buffer.from("ID3\u0004 and so on") : soundOf(format);
    server.next(bytesReply("application/octet-stream", bytes));
    expect(await compose({ format: "pcm" })).toEqual({ output: [{ bytes, contentType }], usage: {} });
  });

  test.each([
    ["text under the name of sound", bytesReply("audio/mpeg", Buffer.from("all is well"))],
    ["JSON that begins as sound does", bytesReply("application/json", soundOf("mp3"))],
    ["nothing", bytesReply("audio/mpeg", Buffer.alloc(0))],
  ])("that is %s was charged, with an unknown outcome", async (_what, reply) => {
    const { server, compose } = start();
    server.next(reply);
    expect((await failureOf(compose())).kind).toBe("unknown");
  });
});

describe("an answer to a paid request", () => {
  test.each([
    ["reset", "unknown"],
    ["reset-after-head", "unknown"],
    ["cut-body", "unknown"],
    ["gateway-timeout", "unknown"],
    ["request-timeout", "unknown"],
    ["html", "unknown"],
    ["html-502", "unknown"],
    ["empty", "unknown"],
    ["error-in-200", "unknown"],
    ["redirect", "failed"],
    ["server-error", "failed"],
    ["unavailable", "busy"],
    ["too-many", "busy"],
    ["busy", "busy"],
    ["invalid-key", "misconfigured"],
    ["quota", "misconfigured"],
    ["paid-plan", "misconfigured"],
    ["unknown-model", "misconfigured"],
    ["format-not-allowed", "misconfigured"],
    ["fault-format", "misconfigured"],
    ["fault-plan", "misconfigured"],
    ["bad-prompt", "refused"],
    ["against-policy", "refused"],
  ] as const)("%s is %s, and is not requested again", async (name, kind) => {
    const { server, compose } = start();
    const error = await failureOf(compose({}, { sourceModel: `mock-${name}` }));
    expect([error.kind, error.isUnsent]).toEqual([kind, false]);
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["fault-prompt", "prompt"],
    ["fault-length", "duration"],
    ["fault-lyrics", "lyrics"],
  ] as const)("%s refers to %s", (name, param) => {
    const { status, headers, body } = MUSIC_ERRORS[name];
    expect(classifyAnswer(status, new Headers(headers), body)).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param,
    });
  });

  test("above the maximum size of music is not read, with an unknown outcome", async () => {
    const { server, compose } = start();
    const head = "HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: 300000000\r\n\r\n";
    server.next({ kind: "custom", play: async (_request, wire) => void (await wire.write(head)) });
    expect((await failureOf(compose())).kind).toBe("unknown");
  });

  test("of a request that was never sent is reported as unsent", async () => {
    const { server, compose } = start();
    server.close();
    expect(await failureOf(compose())).toMatchObject({ kind: "failed", isUnsent: true });
  });

  test("that never arrives ends with its caller, and its connection ends with the caller's signal", async () => {
    const { server, compose } = start();
    const controller = new AbortController();
    const failing = failureOf(compose({}, { sourceModel: "mock-silent", signal: controller.signal }));
    const call = await server.received(1);
    controller.abort();
    // What that means for the job depends on who ended it (workers/calls/media/run.ts).
    expect((await failing).kind).toBe("aborted");
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(composed(server)).toBe(1);
  });
});

describe("the catalogue", () => {
  test("requests only what ElevenLabs' music accepts, in every declared format", async () => {
    const models = (await loadOurLayers()).flatMap(({ content }) => content.models ?? []);
    const ours = models.filter(
      ({ modality, sources = [] }) => modality === "music" && sources.some(({ provider }) => provider === "elevenlabs"),
    );
    expect(ours.length).toBeGreaterThan(0);
    for (const { slug, allowed_params: allowed = {}, sources = [] } of ours) {
      const [source] = sources;
      if (!source) throw new Error(slug);
      const formats = (allowed.output_formats ?? []) as SpeechFormat[];
      expect(formats, slug).toContain("mp3");
      const lengths = [allowed.default_duration ?? 0, allowed.max_duration_seconds ?? 0];
      expect(
        lengths.filter((seconds) => seconds < 3 || seconds > 600),
        slug,
      ).toEqual([]);
      for (const format of formats) {
        const { server, compose } = start();
        const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
        const call = { sourceModel: source.model, adapt, ...(source.fields ? { fields: source.fields } : {}) };
        const { output } = await compose({ format, duration: 3, lyrics: "La", seed: 7 }, call);
        expect(output[0]?.contentType).toBe(SPEECH_TYPES[format]);
        expect(composed(server), `${slug} ${format}`).toBe(1);
      }
    }
  });
});
