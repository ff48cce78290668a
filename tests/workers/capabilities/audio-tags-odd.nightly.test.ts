/** Tags as taggers write them and as none should: they are read, or left out, and no child ends of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { MediaError } from "#shared/children/media-error.ts";

import { seeded, testSeed } from "../../support/seed.ts";
import { storm } from "../../support/storm.ts";
import { aiffWith, frameOf, mp3With, randomFile, tagOf, userText, wavWith } from "../children/tagged-files.ts";

import { type OneChild, openChild } from "./in-child.ts";

let child: OneChild;
beforeAll(() => {
  child = openChild("ffmpeg");
});
afterAll(() => child.close());

const tags = async (audio: Uint8Array): Promise<unknown> =>
  (await child.run("audio.probe", { audio })).output?.["tags"];
const FILES = { aiff: aiffWith, wav: wavWith, mp3: mp3With } as const;

describe.each(Object.entries(FILES))("a text of several values in %s", (_name, file) => {
  test.each([2, 3, 4])("is one text, like in ID3 2.%d, for any script", async (version) => {
    const latin = userText(0, "A", ["one", "two"]);
    const marked = userText(1, "B", ["one", "two ♪", "three"], 1);
    const big = userText(2, "C", ["eins", "zwei"], 3);
    const plain = userText(3, "D", ["♪", "two"], 2);
    const alone = userText(3, "E", ["alone"], 1);
    const frames = [latin, marked, big, plain, alone].map((body) => frameOf(version, "TXXX", body));
    expect(await tags(file(tagOf(version, [...frames, Buffer.alloc(64)])))).toEqual({
      A: "one;two",
      B: "one; two ♪; three",
      C: "eins;zwei  ",
      D: "♪;two ",
      E: "alone",
    });
  });
});

test("repeated tags are all read so", async () => {
  const both = ["A", "B"].map((name) => tagOf(4, [frameOf(4, "TXXX", userText(3, name, ["1", "2"]))]));
  expect(await tags(mp3With(Buffer.concat(both)))).toEqual({ A: "1;2", B: "1;2" });
});

test("a text of several values that is stored otherwise is omitted", async () => {
  // FF 00 stands for FF.
  const body = Buffer.from("\u0000\u00ff\u0000k\u0000one\u0000two", "latin1");
  const frames = [frameOf(4, "TXXX", body, 0x02), frameOf(4, "TXXX", userText(3, "k", ["v"]))];
  expect(await tags(mp3With(tagOf(4, frames)))).toEqual({ k: "v" });
});

test("names and values that are not UTF-8 contain replacement characters", async () => {
  const odd = Buffer.from([3, 0x61, 0xff, 0, 0x62, 0xfe]);
  expect(await tags(aiffWith(tagOf(4, [frameOf(4, "TXXX", odd)])))).toEqual({ "a\ufffd": "b\ufffd" });
});

test("a song with the tags of a collector is probed, cut and converted", async () => {
  const texts = ["MusicBrainz Artist Id", "MusicBrainz Album Artist Id", "Artists"];
  const frames = [
    ...texts.map((name) => frameOf(4, "TXXX", userText(3, name, ["3fe817fc-966e", "984f8239-8fe1"]))),
    frameOf(4, "POPM", Buffer.from("no@email\0\u00b0\0\0\0\0", "latin1")),
    frameOf(4, "UFID", Buffer.from("http://musicbrainz.org\0d062f484")),
    frameOf(4, "TIPL", userText(3, "producer", ["Roy", "engineer", "James"])),
  ];
  for (const audio of [mp3With(tagOf(4, frames)), aiffWith(tagOf(4, frames))]) {
    expect(await tags(audio)).toMatchObject({ Artists: "3fe817fc-966e;984f8239-8fe1" });
    await child.run("audio.convert", { audio }, { format: "wav" });
    await child.run("audio.trim", { audio }, { start: 0, duration: 0.05 });
  }
});

test("random tags are read or rejected, all in one child", async () => {
  const seed = testSeed("odd tags");
  for (let round = 0; round < storm(60, 5_000); round++) {
    try {
      await child.run("audio.probe", { audio: randomFile(seeded(seed + round)) });
    } catch (error) {
      const { fault, message } = error as MediaError;
      expect([seed + round, fault, message]).not.toEqual([seed + round, "failed", message]);
    }
  }
}, 600_000);
