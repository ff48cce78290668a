/** A short piece of the sandbox as MP3, and the refusals. The other formats and the golden pieces are in music.nightly.test.ts. */
import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

import { composer, PARAMS, testMusicFormats } from "./music-pieces.ts";

const media = createSandboxMedia();
afterAll(() => media.close());
const compose = composer(media);

testMusicFormats(compose, ["mp3"]);

describe("a piece of music", () => {
  test.each([2.9, 181, Number.NaN, Infinity])("of %p seconds is rejected", async (seconds) => {
    const error: unknown = await compose({ seconds }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ fault: "invalid" });
  });

  test("ends when its signal aborts", async () => {
    const stop = new AbortController();
    const composing = media.composeMusic({ ...PARAMS, seconds: 180 }, stop.signal);
    stop.abort();
    const error: unknown = await composing.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MediaError);
    expect(error).toMatchObject({ fault: "aborted" });
  });
});
