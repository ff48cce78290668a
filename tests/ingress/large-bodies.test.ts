import { expect, test } from "bun:test";

import { largeBodyBytes } from "#ingress/large-bodies.ts";

test.each([
  ["no body", undefined, { "content-length": "9999999" }, 0],
  ["a small one", "{}", { "content-type": "application/json", "content-length": "1048576" }, 0],
  ["a large one", "{}", { "content-type": "application/json; charset=utf-8", "content-length": "1048577" }, 1_048_577],
  ["one beyond the limit", "{}", { "content-type": "application/json", "content-length": "99999999" }, 5_000_000],
  ["one of unknown length", "{}", { "content-type": "application/json", "transfer-encoding": "chunked" }, 5_000_000],
  ["none, of a client that always names a type", undefined, { "content-type": "application/json" }, 0],
  [
    "a form, which is never whole in memory",
    "x",
    { "content-type": "multipart/form-data", "content-length": "9999999" },
    0,
  ],
])("%s counts as what it may bring", (_name, body, headers, bytes) => {
  const request = new Request("http://localhost/", {
    ...(body === undefined ? {} : { method: "POST", body }),
    headers,
  });
  expect(largeBodyBytes(request, 5_000_000)).toBe(bytes);
});
