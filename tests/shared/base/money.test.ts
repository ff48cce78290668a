import { describe, expect, test } from "bun:test";

import { assert, bigInt, property } from "fast-check";

import { creditsNumber, formatCredits, NANO_PER_CREDIT, parseCredits, parseDecimal } from "#shared/base/money.ts";

describe("a decimal number", () => {
  test.each([
    ["0", 9, 0n],
    ["1", 9, 1_000_000_000n],
    ["0.000000001", 9, 1n],
    ["1.9e-08", 9, 19n],
    ["2.5E+2", 0, 250n],
    ["-3.5", 1, -35n],
    ["1.500", 1, 15n],
    ["99999999999999999999.999999999", 9, 99_999_999_999_999_999_999_999_999_999n],
  ])("%p at scale %p is %p", (text, scale, value) => {
    expect(parseDecimal(text, scale)).toBe(value);
  });

  test.each(["", " ", "1,5", "1.", ".5", "0x10", "1e", "NaN", "Infinity", "1 2", "--1", "+1", "١"])(
    "%p is rejected",
    (text) => {
      expect(() => parseDecimal(text, 9)).toThrow(RangeError);
    },
  );

  test("with digits beyond the scale is rejected, not rounded", () => {
    expect(() => parseCredits("0.0000000001")).toThrow(/decimal places/);
    expect(() => parseDecimal("1e-400", 9)).toThrow(RangeError);
  });

  test("with a huge exponent is rejected before it is computed", () => {
    expect(() => parseDecimal("1e999", 9)).toThrow(/out of range/);
  });

  test("in an error is quoted up to forty characters", () => {
    const text = `${"9".repeat(50)}x`;
    expect(() => parseDecimal(text, 0)).toThrow(`"${"9".repeat(40)}"`);
  });
});

describe("credits", () => {
  test.each([
    [1_500_000_000n, "1.5"],
    [1n, "0.000000001"],
    [0n, "0"],
    [-1n, "-0.000000001"],
    [10n * NANO_PER_CREDIT, "10"],
  ])("%p nano-credits print as %p", (nano, text) => {
    expect(formatCredits(nano)).toBe(text);
  });

  test("printing and parsing are inverse for every amount", () => {
    assert(
      property(bigInt(-(10n ** 30n), 10n ** 30n), (nano) => {
        expect(parseCredits(formatCredits(nano))).toBe(nano);
      }),
    );
  });

  test("an answer's number is the nearest double of the exact amount", () => {
    expect(creditsNumber(100_000_001n)).toBe(0.100000001);
    expect(creditsNumber(3n * NANO_PER_CREDIT)).toBe(3);
  });
});
