import { expect, test } from "bun:test";

import { isUuid, newId } from "#shared/base/ids.ts";

test("new ids are UUIDs of version 7 and sort by age", () => {
  const ids = Array.from({ length: 1_000 }, newId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => isUuid(id) && id[14] === "7")).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
});

test.each([
  "",
  "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f405",
  "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f40511",
  "0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4051",
  "0190a1b2c3d47e5f8a9b0c1d2e3f4051",
  "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4051\n",
  "g190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4051",
  "*",
])("%p is not an id", (value) => {
  expect(isUuid(value)).toBe(false);
});
