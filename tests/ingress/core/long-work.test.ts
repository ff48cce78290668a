/** Work that takes long: of a workspace one at a time, of others beside it. */
import { expect, test } from "bun:test";

import { parseBody } from "#ingress/core/body.ts";
import { withPermit, LONG_WORK_WAITING_MAX } from "#ingress/core/long-work.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "#shared/json/tokens.ts";

import { fakeContext } from "../fake-context.ts";

const fake = fakeContext();
fake.close();

function callOf(workspaceId: string, signal = new AbortController().signal) {
  return { caller: { ...fake.caller, workspaceId }, request: { signal } as Request };
}

/** Returns the error that the work fails with. */
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );

/** Work that goes on until it is told to end. */
function held(workspaceId: string) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const work = withPermit(callOf(workspaceId), async () => {
    begun.resolve();
    await end.promise;
  });
  return { begun: begun.promise, end: end.resolve, work };
}

test("large bodies of one workspace are read one at a time, in order, and independent of other workspaces", async () => {
  const [workspace, other] = [newId(), newId()];
  const order: string[] = [];
  const first = held(workspace);
  await first.begun;
  const later = ["second", "third"].map((name) =>
    withPermit(callOf(workspace), () => Promise.resolve(order.push(name))),
  );
  await withPermit(callOf(other), () => Promise.resolve(order.push("other")));
  expect(order).toEqual(["other"]);
  first.end();
  await Promise.all([first.work, ...later]);
  expect(order).toEqual(["other", "second", "third"]);
});

test("large bodies queue up to a limit, and one more is rejected", async () => {
  const workspace = newId();
  const first = held(workspace);
  await first.begun;
  // A workspace has half of those that wait.
  const waiting = Array.from({ length: LONG_WORK_WAITING_MAX / 2 }, () =>
    withPermit(callOf(workspace), () => Promise.resolve()),
  );
  const refused = await faultOf(withPermit(callOf(workspace), () => Promise.resolve()));
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ code: "overloaded", status: 503, headers: { "retry-after": "2" } });
  first.end();
  await Promise.all([first.work, ...waiting]);
});

test("a turn is released after a failure, and a position when its caller disconnects", async () => {
  const workspace = newId();
  expect(await faultOf(withPermit(callOf(workspace), () => Promise.reject(new Error("broken"))))).toMatchObject({
    message: "broken",
  });
  const first = held(workspace);
  await first.begun;
  const left = new AbortController();
  const gone = withPermit(callOf(workspace, left.signal), () => Promise.resolve());
  left.abort();
  expect(await faultOf(gone)).toMatchObject({ code: "request_timeout" });
  first.end();
  await first.work;
  await withPermit(callOf(workspace), () => Promise.resolve());
});

test("a small body is read immediately, regardless of its workspace's work; a large one waits", async () => {
  const workspace = newId();
  const first = held(workspace);
  await first.begun;
  const text = (length: number) => Buffer.from(`"${"x".repeat(length - 2)}"`);
  const small = await parseBody(callOf(workspace), text(JSON_AT_ONCE_BYTES_MAX));
  expect(small.textBytes).toBe(JSON_AT_ONCE_BYTES_MAX);
  let isRead = false;
  const large = parseBody(callOf(workspace), text(JSON_AT_ONCE_BYTES_MAX + 1)).then((body) => {
    isRead = true;
    return body;
  });
  await small.work(async (slices) => slices.next());
  expect(isRead).toBe(false);
  first.end();
  expect((await large).textBytes).toBe(JSON_AT_ONCE_BYTES_MAX + 1);
  await first.work;
});
