import { describe, expect, test } from "bun:test";

import type { MusicInput, Polled } from "#workers/providers/media.ts";

import { ok, type Reply } from "../engine/behaviour.ts";
import { type CallChanges, failureOf, mediaCall, never, queued, stored } from "../engine/calls.ts";
import { pollOf, useFal } from "./jobs.ts";
import { modelReply, type Script } from "./server.ts";

const serve = useFal();

const ACE = "fal-ai/ace-step";
const FIELDS = { prompt: "tags", lyrics: "lyrics", duration: "duration", seed: "seed" };

function start(...scripts: readonly Script[]) {
  const { server, adapters, another } = serve(...scripts);
  const music = queued(adapters.music);
  return {
    server,
    music,
    another,
    make: (input: Partial<MusicInput> = {}, changes: CallChanges = {}) =>
      music.start(
        mediaCall({ prompt: "lofi", format: "mp3", ...input }, { sourceModel: ACE, fields: FIELDS, ...changes }),
      ),
  };
}

async function outcomeOf(script: Script, input: Partial<MusicInput> = {}): Promise<Polled<unknown>> {
  const { music, make } = start({ polls: ["COMPLETED"], ...script });
  return music.poll(await make(input), never);
}

describe("music", () => {
  test("is asked for under its source's own names; formats are ours to make", async () => {
    const { server, make } = start();
    await make({ lyrics: "la la", duration: 30, seed: 7, format: "opus" });
    expect(server.requests).toMatchObject([{ method: "POST", path: `/${ACE}` }]);
    expect(server.requests[0]?.body).toEqual({ tags: "lofi", lyrics: "la la", duration: 30, seed: 7 });
  });

  test("goes under the usual names where its source says nothing", async () => {
    const { server, make } = start();
    await make({ lyrics: "la", duration: 30, seed: 7 }, { sourceModel: "acme/band", fields: null });
    expect(server.requests[0]?.body).toEqual({ prompt: "lofi", lyrics: "la", duration: 30, seed: 7 });
  });

  test("may be written in other units", async () => {
    const { server, make } = start();
    await make({ duration: 30 }, { fields: { prompt: "prompt", duration: "music_length_ms:ms" } });
    expect(server.requests[0]?.body).toEqual({ prompt: "lofi", music_length_ms: 30_000 });
  });

  test("is not asked of a source without a field for its prompt", async () => {
    const { server, make } = start();
    expect((await failureOf(make({ lyrics: "la" }, { fields: { lyrics: "lyrics" } }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("is found by a process that has only what was stored", async () => {
    const { server, another, make } = start({ polls: ["IN_QUEUE", "COMPLETED"] });
    const job = stored(await make());
    const poll = pollOf(another(), "music");
    expect((await poll(job)).state).toBe("pending");
    const outcome = await poll(job);
    const url = `${server.filesUrl}/files/${String(job["request_id"])}-0-3s.wav`;
    // Nobody said how long it is: that is measured.
    expect(outcome).toEqual({ state: "done", output: [{ url, contentType: "audio/wav" }], usage: {} });
    const answer = await fetch(url);
    expect((await answer.text()).slice(0, 4)).toBe("RIFF");
    expect(server.charged).toBe(1);
  });

  test.each<[string, Reply, object]>([
    ["audio_file", ok({ audio_file: { url: "https://x.example/1", content_type: "application/octet-stream" } }), {}],
    ["audio_url, a bare address", ok({ audio_url: "https://x.example/1" }), {}],
    ["audio_url, a file", ok({ audio_url: { url: "https://x.example/1", duration: 12.5 } }), { seconds: 12.5 }],
    ["one of audios", ok({ audios: [{ url: "https://x.example/1", duration: 9 }] }), { seconds: 9 }],
    [
      "audio, with the time it took",
      ok({ audio: { url: "https://x.example/1" }, timings: { inference: 2 } }),
      { computeSeconds: 2 },
    ],
  ])("may come as %s", async (_what, result, usage) => {
    expect(await outcomeOf({ result })).toEqual({ state: "done", output: [{ url: "https://x.example/1" }], usage });
  });

  test.each<[string, Reply]>([
    ["a video", ok({ video: { url: "https://x.example/1.mp4" } })],
    ["an address that is none", ok({ audio: { url: "javascript:alert(1)" } })],
    ["a number", ok({ audio: 7 })],
  ])("whose result is %s stays open", async (_what, result) => {
    expect(await outcomeOf({ result })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply, object]>([
    ["nothing in its place", ok({ audio: null }), { kind: "failed" }],
    ["a refusal", modelReply("content_policy_violation"), { kind: "refused" }],
    [
      "styles it cannot take",
      modelReply("string_too_short", "tags"),
      { kind: "rejected", code: "invalid_request", param: "prompt" },
    ],
    [
      "lyrics it cannot take",
      modelReply("missing", "lyrics"),
      { kind: "rejected", code: "unsupported_value", param: "lyrics" },
    ],
    ["a field of nobody's", modelReply("missing", "scheduler"), { kind: "misconfigured" }],
  ])("whose result is %s has failed, by its class", async (_what, result, error) => {
    expect(await outcomeOf({ result })).toMatchObject({ state: "failed", error });
  });

  test("that the model cannot make so long is told by our name", async () => {
    const outcome = await outcomeOf({}, { duration: 241 });
    expect(outcome).toMatchObject({ state: "failed", error: { kind: "rejected", param: "duration" } });
  });
});
