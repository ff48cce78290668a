/** The format of keys: what we mint, what we recognise, what we refuse without a look-up. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";

import {
  hashKey,
  isMintedKey,
  isWellFormedKey,
  keyHint,
  mintKey,
  isOperatorToken,
  mintOperatorToken,
} from "#shared/secrets/api-keys.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("a generated key is slk_, 32 random characters and their checksum", () => {
  const keys = Array.from({ length: 500 }, mintKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatch(/^slk_[0-9A-Za-z]{38}$/);
    expect(isMintedKey(key)).toBe(true);
    expect(isWellFormedKey(key)).toBe(true);
  }
  // Every character of the alphabet comes up, so none of them is rarer by a mistake of ours.
  const used = new Set(keys.flatMap((key) => key.slice(4, 36).split("")));
  expect([...used].toSorted().join("")).toBe(ALPHABET);
});

test("the checksum is the CRC32 of the body in base 62", () => {
  // CRC32 of 32 zeros is 0xa0f292d0 by `python3 -c "import zlib; print(hex(zlib.crc32(b'0' * 32)))"`.
  const body = "0".repeat(32);
  let rest = 0xa0f292d0;
  let text = "";
  for (let i = 0; i < 6; i++) {
    text = (ALPHABET[rest % 62] ?? "") + text;
    rest = Math.floor(rest / 62);
  }
  expect(isWellFormedKey(`slk_${body}${text}`)).toBe(true);
});

test("any single typo in a generated key is rejected", () => {
  const key = mintKey();
  for (let at = 4; at < key.length; at++) {
    const wrong = key[at] === "a" ? "b" : "a";
    expect(isWellFormedKey(key.slice(0, at) + wrong + key.slice(at + 1))).toBe(false);
  }
  for (let at = 4; at < key.length - 1; at++) {
    if (key[at] === key[at + 1]) continue;
    const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
    expect(isWellFormedKey(swapped)).toBe(false);
  }
});

test("an imported key has 20 to 200 plain characters without our prefixes", () => {
  const good = ["a".repeat(20), "A-z_0".repeat(40), "sk-proj-abcdefghijklmnop", "SLK_abcdefghijklmnopqrstuv"];
  for (const key of good) expect([key, isWellFormedKey(key), isMintedKey(key)]).toEqual([key, true, false]);
  const bad = [
    "",
    "a".repeat(19),
    "a".repeat(201),
    "slk_abcdefghijklmnopqrstuvwx",
    "slo_abcdefghijklmnopqrstuvwx",
    `${"a".repeat(20)} `,
    `${"a".repeat(20)}\n`,
    "ä".repeat(30),
  ];
  for (const key of bad) expect([key, isWellFormedKey(key)]).toEqual([key, false]);
});

test("the SHA-256 is stored, and the displayed part is short", () => {
  const key = mintKey();
  expect(Buffer.from(hashKey(key)).toString("hex")).toBe(createHash("sha256").update(key).digest("hex"));
  expect(keyHint(key)).toBe(`${key.slice(0, 8)}…`);
});

test("an operator's token has its own prefix and is no key, nor a key one", () => {
  const token = mintOperatorToken();
  expect(token).toMatch(/^slo_[0-9A-Za-z]{38}$/);
  expect([isOperatorToken(token), isWellFormedKey(token), isMintedKey(token)]).toEqual([true, false, false]);
  for (const wrong of [mintKey(), token.replace("slo_", "slk_"), `${token}0`, token.slice(0, -1), "slo_", ""]) {
    expect(isOperatorToken(wrong)).toBe(false);
  }
  for (let at = 4; at < token.length; at++) {
    const typo = token.slice(0, at) + (token[at] === "a" ? "b" : "a") + token.slice(at + 1);
    expect(isOperatorToken(typo)).toBe(false);
  }
});
