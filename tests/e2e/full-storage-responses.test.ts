/** Stored responses and conversations count in the storage of their workspace. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Bench, errorOf, startBench } from "./media/bench.ts";

const STORAGE_BYTES_MAX = 100_000;
/** Storage is counted in blocks of this many bytes. */
const BLOCK = 4_096;

let bench: Bench;

beforeAll(async () => {
  bench = await startBench({ pools: ["chat"], env: { SLUICE_STORAGE_BYTES_MAX: String(STORAGE_BYTES_MAX) } });
}, 60_000);
afterAll(() => bench?.close());

const used = async (): Promise<number> =>
  Number((await bench.stack.query<{ used: bigint }>("select sum(used) as used from file_storage"))[0]?.used ?? 0n);

const exact = async (): Promise<void> => expect(await bench.stack.query("select * from audit_storage()")).toEqual([]);

const ask = (more: object = {}) => ({ model: "sandbox-chat", input: "x".repeat(30_000), ...more });

const remove = (path: string): Promise<Response> =>
  fetch(`${bench.stack.baseUrls[0]}${path}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${bench.stack.key}` },
  });

async function made(path: string, body: object): Promise<string> {
  const response = await bench.call(path, body);
  const text = await response.text();
  expect([path, response.status, text]).toEqual([path, 200, text]);
  return (JSON.parse(text) as { id: string }).id;
}

async function refused(path: string, body: object): Promise<void> {
  const error = await errorOf(await bench.call(path, body));
  expect([path, error.status, error.code]).toEqual([path, 403, "storage_limit_exceeded"]);
}

test("count, are rejected at the limit before any charge, and are released", async () => {
  const ids = [await made("/v1/responses", ask()), await made("/v1/responses", ask())];
  ids.push(await made("/v1/responses", ask()));
  expect(await used()).toBeGreaterThan(3 * 30_000 - 3 * BLOCK);
  await exact();
  // An answer goes out before its call is settled.
  await bench.stack.settled();
  const before = await bench.stack.query("select count(*) from usage_record");
  await refused("/v1/responses", ask());
  await refused("/v1/responses", ask({ background: true }));
  await refused("/v1/conversations", { items: [{ role: "user", content: "x".repeat(30_000) }] });
  expect(await bench.stack.query("select count(*) from usage_record")).toEqual(before);
  await made("/v1/responses", ask({ store: false }));

  const [first = ""] = ids;
  expect((await remove(`/v1/responses/${first}`)).status).toBe(200);
  await exact();
  const conversation = await made("/v1/conversations", { items: [{ role: "user", content: "x".repeat(10_000) }] });
  expect((await bench.call(`/v1/conversations/${conversation}/items`, { items: [{ role: "user", content: "y".repeat(8_000) }] })).status).toBe(200); // prettier-ignore
  await exact();
  await refused(`/v1/conversations/${conversation}/items`, { items: [{ role: "user", content: "y".repeat(30_000) }] });
  await refused("/v1/responses", ask({ conversation }));
  expect((await remove(`/v1/conversations/${conversation}`)).status).toBe(200);
  await exact();
  await bench.stack.query("update response set expires_at = now() - interval '1 second'");
  await bench.stack.query("delete from response where expires_at <= now()");
  expect(await used()).toBe(0);
});

test("count a small conversation as one block, and its rows as nothing", async () => {
  const id = await made("/v1/conversations", {});
  expect(await used()).toBe(BLOCK);
  expect((await remove(`/v1/conversations/${id}`)).status).toBe(200);
  expect(await used()).toBe(0);
});
