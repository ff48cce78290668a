import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { ERROR_CODES, type Code } from "#shared/errors.ts";
import { decodeFrame, encodeFrame, type Frame } from "#shared/queue/frames.ts";

const n = fc.nat();
const nano = fc.bigInt({ min: 0n, max: 10n ** 19n }).map(String);
const text = fc.string({ unit: "binary", maxLength: 40 });
const milliseconds = fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs);

const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ t: fc.constant("head" as const), n, model: text, upstream_ms: milliseconds, nano, tokens: fc.nat() }),
  fc.record({ t: fc.constant("delta" as const), n, nano, tokens: fc.nat() }),
  fc.record({ t: fc.constant("part" as const), n }),
  fc.record({ t: fc.constant("end" as const), n, model: text, nano, upstream_ms: milliseconds }),
  fc.record({
    t: fc.constant("error" as const),
    n,
    code: fc.constantFrom(...(Object.keys(ERROR_CODES) as Code[])),
    message: text,
    param: fc.option(text),
    retry: fc.boolean(),
  }),
  fc.record({
    t: fc.constant("error" as const),
    n,
    code: fc.constant("overloaded" as const),
    message: text,
    param: fc.constant(null),
    retry: fc.boolean(),
    retry_after_s: fc.nat(),
  }),
  fc.constantFrom<Frame>({ t: "beat" }, { t: "lost" }),
);

/** Bytes with many line ends, since a line end divides a frame. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.array(fc.constantFrom(10, 13, 0, 123, 255), { maxLength: 20 }).map((list) => Uint8Array.from(list)),
);

describe("a frame", () => {
  test("comes out as it went in, with any bytes behind it", () => {
    fc.assert(
      fc.property(frame, bytes, (sent, data) => {
        const got = decodeFrame(encodeFrame(sent, data));
        expect(got.frame).toEqual(sent);
        expect(Buffer.from(got.data).equals(data)).toBe(true);
      }),
    );
  });

  test("carries a text as its UTF-8", () => {
    fc.assert(
      fc.property(frame, fc.string({ unit: "grapheme", maxLength: 100 }), (sent, data) => {
        const got = decodeFrame(encodeFrame(sent, data));
        expect(got.frame).toEqual(sent);
        expect(new TextDecoder().decode(got.data)).toBe(data);
      }),
    );
  });

  test("without data has none", () => {
    expect(decodeFrame(encodeFrame({ t: "beat" })).data).toHaveLength(0);
  });

  test.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["no line end", '{"t":"beat"}'],
    ["no JSON", "beat\n"],
    ["cut JSON", '{"t":"be\n'],
    ["a number", "7\n"],
    ["null", "null\n"],
    ["an array", "[]\n"],
    ["a text", '"beat"\n'],
    ["an object without a kind", "{}\n"],
    ["a kind that is no text", '{"t":7}\n'],
    ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x0a)],
  ])("cannot be read from %s", (_name, sent) => {
    expect(() => decodeFrame(typeof sent === "string" ? new TextEncoder().encode(sent) : sent)).toThrow(SyntaxError);
  });

  test("cannot be read from noise, and nothing else is thrown for it", () => {
    fc.assert(
      fc.property(bytes, (noise) => {
        try {
          decodeFrame(noise);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});
