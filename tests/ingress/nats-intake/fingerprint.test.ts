import { expect, test } from "bun:test";

import { fingerprintOf } from "#ingress/nats-intake/read-call.ts";

const of = (text: string): Promise<string> => fingerprintOf(new TextEncoder().encode(text));

test("a message has the same fingerprint for any order of its members, and for any size", async () => {
  for (const more of ["2", `2,"${"x".repeat(100_000)}"`]) {
    expect(await of(`{"endpoint":"/v1/embeddings","body":{"a":1,"b":[${more}]}}`)).toBe(
      await of(`{"body":{"b":[${more}],"a":1},"endpoint":"/v1/embeddings"}`),
    );
  }
});

test("messages that differ in an integer beyond a double have different fingerprints", async () => {
  expect(await of('{"body":{"seed":9007199254740992}}')).not.toBe(await of('{"body":{"seed":9007199254740993}}'));
});
