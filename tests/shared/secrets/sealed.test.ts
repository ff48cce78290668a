/** Credentials at rest. */
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { createPublicSealer, createSealer, keyIdOf, type SealedPlace, sealingKeyId } from "#shared/secrets/sealed.ts";

const KEY = randomBytes(32);
const PLACE: SealedPlace = { workspaceId: "w", table: "notification_channel", row: "c", field: "url" };

test("an encrypted text is decrypted in its own place, and differs each time", () => {
  const sealer = createSealer([KEY]);
  const [one, other] = [sealer.seal(PLACE, "a secret ✓"), sealer.seal(PLACE, "a secret ✓")];
  expect(one).not.toBe(other);
  expect(one).not.toContain("secret");
  expect([sealer.open(PLACE, one), sealer.open(PLACE, other)]).toEqual(["a secret ✓", "a secret ✓"]);
});

test.each(["workspaceId", "table", "row", "field"] as const)("it is not decrypted elsewhere: another %s", (member) => {
  const sealer = createSealer([KEY]);
  const sealed = sealer.seal(PLACE, "a secret");
  expect(() => sealer.open({ ...PLACE, [member]: "other" }, sealed)).toThrow("is not what was kept there");
});

test("a changed, truncated or invented text is not decrypted, and the error contains nothing of it", () => {
  const sealer = createSealer([KEY]);
  const sealed = sealer.seal(PLACE, "a secret");
  const flipped = `${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`;
  for (const text of [flipped, sealed.slice(0, 20), "v1", "", "plain"]) {
    expect(() => sealer.open(PLACE, text)).toThrow();
  }
  expect(() => sealer.open(PLACE, flipped)).not.toThrow(flipped);
});

test("a new key encrypts, and the previous one still decrypts; otherwise the missing key is named", () => {
  const before = createSealer([KEY]);
  const sealed = before.seal(PLACE, "a secret");
  const next = randomBytes(32);
  const both = createSealer([next, KEY]);
  expect(both.open(PLACE, sealed)).toBe("a secret");
  expect([both.isCurrent(sealed), both.isCurrent(both.seal(PLACE, "a secret"))]).toEqual([false, true]);
  expect(() => createSealer([next]).open(PLACE, sealed)).toThrow(`the key ${sealingKeyId(KEY)}, which is not set`);
  expect(keyIdOf(sealed)).toBe(sealingKeyId(KEY));
});

const BODY_KEY: SealedPlace = { workspaceId: "w", table: "kept_body", row: "r", field: "sealed_key" };

describe("a text that was encrypted with the public key", () => {
  const sealer = createSealer([KEY]);

  test("is not decrypted in the place of a secret that only processes with the master key encrypt", () => {
    const forged = createPublicSealer(sealer.publicKey).seal(PLACE, "https://attacker.example");
    expect(() => sealer.open(PLACE, forged)).toThrow("is not what was kept there");
  });

  const { seal } = createPublicSealer(sealer.publicKey);

  test("is decrypted with the master key in its own place, and differs each time", () => {
    const [one, other] = [seal(BODY_KEY, "a secret ✓"), seal(BODY_KEY, "a secret ✓")];
    expect(one).not.toBe(other);
    expect(one).toStartWith(`v2.${sealingKeyId(KEY)}.`);
    expect([sealer.open(BODY_KEY, one), sealer.open(BODY_KEY, other)]).toEqual(["a secret ✓", "a secret ✓"]);
    expect(() => sealer.open({ ...BODY_KEY, row: "other" }, one)).toThrow("is not what was kept there");
  });

  test("is not decrypted if it was changed, truncated or given the other format", () => {
    const sealed = seal(BODY_KEY, "a secret");
    const flipped = `${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`;
    const otherSender = sealed.replace(/(?<=\.)[\w-]{8}(?=[\w-]{20})/, (chars) => chars.toLowerCase() === chars ? chars.toUpperCase() : chars.toLowerCase()); // prettier-ignore
    for (const text of [flipped, otherSender, sealed.slice(0, 40), sealed.replace("v2", "v1")]) {
      expect([text === sealed, text]).toEqual([false, text]);
      expect(() => sealer.open(BODY_KEY, text)).toThrow();
    }
  });

  test("names its key, and is decrypted after a rotation", () => {
    const sealed = seal(BODY_KEY, "a secret");
    const next = createSealer([randomBytes(32), KEY]);
    expect(next.open(BODY_KEY, sealed)).toBe("a secret");
    expect([keyIdOf(sealed), sealer.isCurrent(sealed), next.isCurrent(sealed)]).toEqual([
      sealingKeyId(KEY),
      true,
      false,
    ]);
    expect(() => createSealer([randomBytes(32)]).open(BODY_KEY, sealed)).toThrow("which is not set");
  });
});
