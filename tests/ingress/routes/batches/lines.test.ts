import { describe, expect, test } from "bun:test";

import { isBlank, linesOf } from "#ingress/routes/batches/validate.ts";

/** The lines of a text that comes in blocks of so many bytes. */
async function linesIn(text: string, blockBytes: number, bytesMax?: number) {
  const bytes = Buffer.from(text);
  const blocks = async function* () {
    // Each block lies where the one before lay.
    const memory = Buffer.alloc(blockBytes);
    for (let at = 0; at < bytes.length; at += blockBytes) {
      const length = bytes.copy(memory, 0, at, at + blockBytes);
      yield await Promise.resolve(memory.subarray(0, length));
    }
  };
  const lines: (readonly [number, number, string | undefined])[] = [];
  for await (const { number, start, bytes: own } of linesOf(blocks(), bytesMax)) {
    lines.push([number, start, own && Buffer.from(own).toString()]);
  }
  return lines;
}

describe("lines of a file", () => {
  test.each([1, 2, 3, 7, 1_000])("are equal for every division into blocks of %d bytes", async (blockBytes) => {
    expect(await linesIn("one\r\n\nthree é\nlast", blockBytes)).toEqual([
      [1, 0, "one"],
      [2, 5, ""],
      [3, 6, "three é"],
      [4, 15, "last"],
    ]);
    expect(await linesIn("one\n", blockBytes)).toEqual([[1, 0, "one"]]);
    expect(await linesIn("", blockBytes)).toEqual([]);
  });

  test.each([1, 4, 1_000])("that are too long are skipped, in blocks of %d bytes", async (blockBytes) => {
    expect(await linesIn("12345\n123456\n12345\r\n123456\r\n1", blockBytes, 5)).toEqual([
      [1, 0, "12345"],
      [2, 6, undefined],
      [3, 13, "12345"],
      [4, 20, undefined],
      [5, 28, "1"],
    ]);
  });

  test("of blanks only are blank", () => {
    expect([" \t", "", " a"].map((text) => isBlank(Buffer.from(text)))).toEqual([true, true, false]);
  });
});
