import { expect, test } from "bun:test";

import { fingerprintOf } from "#ingress/batch/read-call.ts";

const of = (text: string): string => fingerprintOf(new TextEncoder().encode(text));

test("a message has the same fingerprint whatever the order of its members", () => {
  expect(of('{"endpoint":"/v1/embeddings","body":{"a":1,"b":[2]}}')).toBe(
    of('{"body":{"b":[2],"a":1},"endpoint":"/v1/embeddings"}'),
  );
});

test("messages that differ in an integer beyond a double have different ones", () => {
  expect(of('{"body":{"seed":9007199254740992}}')).not.toBe(of('{"body":{"seed":9007199254740993}}'));
});
