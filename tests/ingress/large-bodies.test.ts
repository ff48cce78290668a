import { describe, expect, test } from "bun:test";

import { LargeBodies, largeBodyBytes } from "#ingress/large-bodies.ts";

const never = new AbortController().signal;
const bodies = (limits: Partial<ConstructorParameters<typeof LargeBodies>[0]> = {}) =>
  new LargeBodies({ bytesMax: 100, workspaceBytesMax: 60, waitMs: 10_000, ...limits });

/** Whether it has resolved by now. */
async function isThere(promise: Promise<unknown>): Promise<boolean> {
  const nothing = {};
  await Bun.sleep(1);
  return (await Promise.race([promise, Promise.resolve(nothing)])) !== nothing;
}

describe("large bodies", () => {
  test("wait beyond the bytes of a process, in their order", async () => {
    const pool = bodies();
    const first = await pool.take("a", 60, never);
    const second = pool.take("b", 60, never);
    const third = pool.take("c", 60, never);
    expect([await isThere(second), await isThere(third)]).toEqual([false, false]);
    first();
    first();
    expect([await isThere(second), await isThere(third)]).toEqual([true, false]);
    (await second)();
    expect(await isThere(third)).toBe(true);
  });

  test("of a workspace at its limit hold up no other's", async () => {
    const pool = bodies();
    const first = await pool.take("a", 50, never);
    const more = pool.take("a", 20, never);
    expect(await isThere(more)).toBe(false);
    const other = await pool.take("b", 40, never);
    other();
    expect(await isThere(more)).toBe(false);
    first();
    expect(await isThere(more)).toBe(true);
  });

  test("that wait are not kept out by smaller ones that come later", async () => {
    const pool = bodies();
    const first = await pool.take("a", 60, never);
    const large = pool.take("b", 50, never);
    const small = pool.take("c", 10, never);
    expect([await isThere(large), await isThere(small)]).toEqual([false, false]);
    first();
    expect([await isThere(large), await isThere(small)]).toEqual([true, true]);
  });

  test("larger than every limit are handled alone", async () => {
    const pool = bodies();
    const whole = await pool.take("a", 500, never);
    const next = pool.take("b", 1, never);
    expect(await isThere(next)).toBe(false);
    whole();
    expect(await isThere(next)).toBe(true);
  });

  test("are told that there is no room in time, and take none when their callers leave", async () => {
    const pool = bodies({ waitMs: 20 });
    const held = await pool.take("a", 90, never);
    expect(pool.take("b", 50, never)).rejects.toMatchObject({ code: "overloaded" });
    const leaving = new AbortController();
    const left = pool.take("c", 50, leaving.signal);
    leaving.abort();
    expect(left).rejects.toThrow("left");
    await Bun.sleep(30);
    held();
    expect(await isThere(pool.take("d", 100, never))).toBe(true);
  });
});

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
