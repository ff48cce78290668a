import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { randomBytes } from "node:crypto";

import { connect, type NatsConnection } from "nats";

import { createCancel } from "#ingress/wait/cancel.ts";
import { newId } from "#shared/base/ids.ts";
import { cancelSubject } from "#shared/queue/subjects.ts";
import { createJobTokens } from "#shared/secrets/job-token.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { type Cancels, openCancels } from "#workers/runner/cancels.ts";

const tokens = createJobTokens(randomBytes(32));

let nats: TestNats;
let worker: NatsConnection;
let ingress: NatsConnection;
let cancels: Cancels;

beforeAll(async () => {
  nats = await startNats();
  worker = await connect({ servers: nats.url });
  ingress = await connect({ servers: nats.url });
  cancels = openCancels(worker, tokens);
  await worker.flush();
}, 60_000);

afterAll(async () => {
  await cancels.close();
  await Promise.all([worker.close(), ingress.close()]);
  await nats.close();
});

/** Publishes cancels and resolves when the worker has taken them. */
async function cancel(...jobIds: readonly string[]): Promise<void> {
  for (const jobId of jobIds) ingress.publish(cancelSubject(jobId), tokens.of(jobId));
  await ingress.flush();
  await worker.flush();
}

describe("a cancel", () => {
  test("reaches all listeners of its job, and no others", async () => {
    const [mine, other] = [newId(), newId()];
    const heard: string[] = [];
    const forget = cancels.onCancel(mine, () => heard.push("mine"));
    const forgetOther = cancels.onCancel(other, () => heard.push("other"));
    await cancel(mine);
    expect(heard).toEqual(["mine"]);
    forget();
    forgetOther();
  });

  test.each([
    ["without a token", () => ""],
    ["with the token of another job", () => tokens.of(newId())],
    ["with a token of another secret", (jobId: string) => createJobTokens(randomBytes(32)).of(jobId)],
    ["that is what a stream acknowledges with", () => '{"stream":"BATCH_IN","seq":1}'],
  ])("%s is neither delivered nor stored", async (_what, forge) => {
    const [running, later] = [newId(), newId()];
    const heard: string[] = [];
    const forget = cancels.onCancel(running, () => heard.push("running"));
    for (const jobId of [running, later]) ingress.publish(cancelSubject(jobId), forge(jobId));
    await ingress.flush();
    await worker.flush();
    forget();
    expect(heard).toEqual([]);
    expect(cancels.wasCancelled(later)).toBe(false);
  });

  test("that overtook its job is stored", async () => {
    const jobId = newId();
    expect(cancels.wasCancelled(jobId)).toBe(false);
    await cancel(jobId);
    expect(cancels.wasCancelled(jobId)).toBe(true);
  });

  test("of a call whose worker is known reaches that worker only", async () => {
    const another = openCancels(worker, tokens);
    await worker.flush();
    const tell = createCancel(ingress, tokens);
    const heardBy = async (at: string | undefined): Promise<string[]> => {
      const jobId = newId();
      tell(jobId, at);
      await ingress.flush();
      await worker.flush();
      return Object.entries({ ours: cancels, another }).flatMap(([name, one]) =>
        one.wasCancelled(jobId) ? [name] : [],
      );
    };
    expect(await heardBy(another.subject)).toEqual(["another"]);
    expect(await heardBy(cancels.subject)).toEqual(["ours"]);
    expect(await heardBy(undefined)).toEqual(["ours", "another"]);
    // No worker's: whoever wrote it would have the ingress publish there.
    expect(await heardBy("work.chat.live")).toEqual(["ours", "another"]);
    await another.close();
  });

  test("that was delivered is not stored", async () => {
    const jobId = newId();
    const forget = cancels.onCancel(jobId, () => undefined);
    await cancel(jobId);
    forget();
    expect(cancels.wasCancelled(jobId)).toBe(false);
  });

  test("is not delivered once its listener was removed", async () => {
    const jobId = newId();
    let heard = 0;
    cancels.onCancel(jobId, () => (heard += 1))();
    await cancel(jobId);
    expect(heard).toBe(0);
  });

  test("is stored among ten thousand later ones, then dropped: memory is bounded", async () => {
    const jobId = newId();
    await cancel(jobId);
    const ids = Array.from({ length: 10_000 }, newId);
    await cancel(...ids.slice(0, 9_000));
    expect(cancels.wasCancelled(jobId)).toBe(true);
    await cancel(...ids.slice(9_000));
    expect(cancels.wasCancelled(jobId)).toBe(false);
    expect(cancels.wasCancelled(ids.at(-1) ?? "")).toBe(true);
  });
});
