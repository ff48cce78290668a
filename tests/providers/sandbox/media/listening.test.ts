/** Amount of a stranger's recording that is decoded to say what it is. */
import { expect, test } from "bun:test";

import { wav } from "#tests/support/hostile-files/sounds.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { transcribeAudio } from "#workers/providers/sandbox/media/speech/transcribe.ts";

const [CHANNELS, RATE] = [8, 192_000];
const SILENCE = 0x80;

test.each([
  ["heard before", -1, /sound the sandbox cannot put into words/],
  ["not heard after", 0, /\[\S+ seconds of silence\]/],
])("a noise in many channels is %s the samples that are decoded", async (_what, frames, says) => {
  const sound = Buffer.alloc(MEDIA_LIMITS.listenSamplesMax + 100 * CHANNELS, SILENCE);
  sound.fill(0xff, MEDIA_LIMITS.listenSamplesMax + 100 * frames * CHANNELS);
  const { text } = await transcribeAudio(wav({ rate: RATE, channels: CHANNELS, bits: 8 }, sound));
  expect(text).toMatch(says);
});
