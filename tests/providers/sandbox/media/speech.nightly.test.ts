/** Speech of the sandbox in every format, and what its voices sound like. */
import { afterAll, describe, expect, test } from "bun:test";

import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { transcribeAudio } from "#workers/providers/sandbox/media/speech/transcribe.ts";

import { testSpeechFormats } from "./speech-formats.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

testSpeechFormats(media, ["opus", "aac", "flac", "pcm"]);

describe("a voice", () => {
  const speak = async (params: object) => media.speak({ text: "Good morning.", format: "pcm", ...params });

  test("sounds equal every time, and different from the others", async () => {
    const voices = ["nova", "nova", "onyx", "a name of my own", "a name of my own"];
    const [nova, again, onyx, own, ownAgain] = await Promise.all(voices.map((voice) => speak({ voice })));
    expect(again).toEqual(nova);
    expect(ownAgain).toEqual(own);
    expect(onyx?.bytes).not.toEqual(nova?.bytes);
    expect((await speak({ voice: "nova", instructions: "a deep voice" })).bytes).not.toEqual(nova?.bytes);
  });

  test("is longer at a lower speed, and stays decodable", async () => {
    const text = "One two three four five.";
    const [usual, ...others] = await Promise.all([1, 0.25, 2, 4].map((speed) => speak({ text, speed })));
    for (const [at, factor] of [4, 0.5, 0.25].entries()) {
      const { seconds = 0, bytes = new Uint8Array(0) } = others[at] ?? {};
      expect(seconds / (usual?.seconds ?? 0) / factor).toBeWithin(0.85, 1.15);
      expect((await transcribeAudio(bytes)).text).toBe(text);
    }
  });
});

test("speech with a forged marker is described as noise", async () => {
  const { bytes } = await media.speak({ text: "Good morning to you.", format: "mp3" });
  const at = Buffer.from(bytes).lastIndexOf("SLUICE_SPEECH") + 40;
  const forged = bytes.map((value, index) => (index === at ? value ^ 1 : value));
  expect((await transcribeAudio(forged)).text).toMatch(/^\[.* seconds of sound/);
});
