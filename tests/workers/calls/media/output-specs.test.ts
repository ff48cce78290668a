import { describe, expect, test } from "bun:test";

import { wavOf } from "#tests/providers/fal/clips.ts";
import { soundOf } from "#tests/providers/sounds.ts";
import { MUSIC_OUTPUT, SPEECH_OUTPUT } from "#workers/calls/media/kinds.ts";
import type { Artifact } from "#workers/providers/media.ts";

const HTML = Buffer.from("<!doctype html><title>Not found</title>");
const at = (contentType: string): Artifact => ({ url: "https://files.example/song", contentType });

/** Three frames of AAC without a container: 44,100 a second, two channels, 16 bytes each. */
const AAC = Buffer.concat(
  Array.from({ length: 3 }, () =>
    Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc]), Buffer.alloc(9)]),
  ),
);

describe("audio at an address", () => {
  test("has the type of its bytes, for any type of its server", async () => {
    for (const output of [MUSIC_OUTPUT, SPEECH_OUTPUT]) {
      expect(await output.typeOf(HTML, at("audio/wav"))).toBeUndefined();
      expect(await output.typeOf(wavOf(1), at("audio/x-wav"))).toBe("audio/wav");
      expect(await output.typeOf(soundOf("mp3"), at("audio/wav"))).toBe("audio/mpeg");
      expect(await output.typeOf(soundOf("flac"), at("text/html"))).toBe("audio/flac");
      expect(await output.typeOf(AAC, at("audio/x-aac"))).toBe("audio/aac");
    }
  });

  test("cannot be samples, which have no signature", async () => {
    expect(await MUSIC_OUTPUT.typeOf(soundOf("pcm"), at("audio/pcm"))).toBeUndefined();
  });
});

describe("audio of an answer", () => {
  test("has the type of its adapter, which has inspected it", async () => {
    expect(await SPEECH_OUTPUT.typeOf(soundOf("pcm"), { bytes: soundOf("pcm"), contentType: "audio/pcm" })).toBe(
      "audio/pcm",
    );
    const open = () => Promise.reject(new Error("not asked"));
    expect(await SPEECH_OUTPUT.typeOf(soundOf("pcm"), { open, contentType: "audio/pcm" })).toBe("audio/pcm");
    expect(await SPEECH_OUTPUT.typeOf(soundOf("opus"), { open })).toBe("audio/ogg");
  });
});
