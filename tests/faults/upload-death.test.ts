/**
 * Fault: an ingress is killed in the middle of an upload of several parts. Expected: nothing of it is left, what
 * was reserved is free, its key is anybody's, and the next call under that key makes the file.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { beginUpload, END, part } from "#tests/support/raw-form.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apart: true, workers: 0 });
}, 120_000);
afterAll(() => stack.stop());

const storage = () => stack.query("select used, reserved from file_storage");

async function until(sql: string, isReached: (rows: object[]) => boolean): Promise<void> {
  while (!isReached(await stack.query(sql))) await Bun.sleep(50);
}

const rest = Buffer.concat([Buffer.from("\r\n"), part('name="purpose"', "user_data"), END]);

test("an upload whose ingress was killed leaves nothing, and can be repeated under its key", async () => {
  const [ingress] = stack.ingresses;
  if (!ingress) throw new Error("the stack has no ingress");
  const head = part('name="file"; filename="a.bin"', "").subarray(0, -2);
  const begin = () => beginUpload(ingress.baseUrl, stack.key, { "idempotency-key": "once" });
  const first = begin();
  await first.send(head);
  for (let sent = 0; sent < 12; sent++) await first.send(randomBytes(1_048_576));
  await until("select 1 from file where bytes > 0 and upload_id is not null", (rows) => rows.length === 1);
  ingress.kill("SIGKILL");
  await ingress.exited();
  await first.closed;
  expect(await storage()).toMatchObject([{ used: 0n }]);
  // Its lease runs out, only sooner.
  await stack.query("update file set lease_until = clock_timestamp()");
  await until("select 1 from file", (rows) => rows.length === 0);
  expect(await storage()).toEqual([{ used: 0n, reserved: 0n }]);
  expect(await stack.query("select * from idempotency_key")).toEqual([]);

  await ingress.restart();
  const second = begin();
  await second.send(head);
  await second.send(randomBytes(1_000));
  await second.send(rest);
  second.end();
  expect(await second.answered).toMatch(/^HTTP\/1\.1 200 [^]*x-storage-used-bytes: 1000\r\n/i);
  second.socket.destroy();
  expect(await storage()).toEqual([{ used: 1_000n, reserved: 0n }]);
}, 60_000);
