import { describe, expect, test } from "bun:test";

import { Seam } from "#workers/calls/chat/rescue.ts";

/** The text, and what a model that goes on adds to it in these pieces. */
function joined(text: string, ...pieces: readonly string[]): string {
  const seam = new Seam(text);
  return text + pieces.map((piece) => seam.add(piece)).join("") + seam.end();
}

const TEXT = "The spider has eight legs, and each of them";

describe("the text of a continuation", () => {
  test("is kept completely if it continues, for any short common start", () => {
    expect(joined(TEXT, " has seven", " parts.")).toBe(`${TEXT} has seven parts.`);
    expect(joined("ha ha", " ha", "!")).toBe("ha ha ha!");
    expect(joined("hel", "lo")).toBe("hello");
    expect(joined(TEXT, " each of them", " too")).toBe(`${TEXT} each of them too`);
    expect(joined(TEXT)).toBe(TEXT);
  });

  test.each([
    ["its last words", [" and each ", "of them has seven."]],
    ["all of it", ["The spider", " has eight legs, and each of them has", " seven."]],
    ["all of it in one piece", [`${TEXT} has seven.`]],
  ])("is kept without the text's end if it repeats %s", (_what, pieces) => {
    expect(joined(TEXT, ...pieces)).toBe(`${TEXT} has seven.`);
  });

  test("is kept without a short text that it repeats from the start", () => {
    expect(joined("one two", "one", " two", " three")).toBe("one two three");
    expect(joined("one two ", "one", " two", " three")).toBe("one two three");
  });

  test("is kept without the white space at the text's end", () => {
    expect(joined("one two ", " three")).toBe("one two three");
    expect(joined("one two ", "three")).toBe("one two three");
    expect(joined("one two\n\n", "\n", "\nthree")).toBe("one two\n\nthree");
    expect(joined("one two", " three")).toBe("one two three");
  });

  test("waits only while it may be a repetition", () => {
    const seam = new Seam(TEXT);
    expect([seam.add(" each"), seam.add(" of"), seam.add(" us"), seam.add(" each")]).toEqual([
      "",
      "",
      " each of us",
      " each",
    ]);
  });

  test("is kept without its prefix, if its answer starts with that, at any length", () => {
    const long = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(" ");
    const after = (text: string, asked: string, ...pieces: readonly string[]): string => {
      const seam = new Seam(text, asked);
      return text + pieces.map((piece) => seam.add(piece)).join("") + seam.end();
    };
    expect(after(long, long, long.slice(0, 5_000), `${long.slice(5_000)} more`)).toBe(`${long} more`);
    expect(after("hel", "hel", "hel", "lo")).toBe("hello");
    expect(after("hel", "Oh, hel", "Oh, ", "hello")).toBe("hello");
    expect(after("one two ", "one two", "one two", " three")).toBe("one two three");
    expect(after("one two", "one two", "one", " by one")).toBe("one twoone by one");
    expect(after("one two", "one two", "one")).toBe("one two");
  });

  test("is compared with the last 4,096 characters of a text only", () => {
    const long = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(" ");
    expect(joined(long, long.slice(-2_000), " more")).toBe(`${long} more`);
    expect(joined(long, "word0 word1 word2 word3 word4")).toBe(`${long}word0 word1 word2 word3 word4`);
  });
});
