/**
 * Fault: a worker is stopped in the middle of two image jobs, for longer than its leases, and goes on when both have been
 * ended by another: it copies a picture of the one, and asks for the other at its provider. Expected: nothing that it still does
 * changes anything; what it keeps is nobody's and goes; it serves the next job.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { ManagedProcess } from "#tests/support/stack.ts";

import { audit } from "./audit.ts";
import {
  CREDIT,
  expectStorageExact,
  type JobFacts,
  type MediaBed,
  type Placed,
  running,
  startMediaBed,
} from "./media-bed.ts";
import { eventually } from "./wait.ts";

let bed: MediaBed;
let paused: ManagedProcess;
let heir: ManagedProcess;
let copied: Placed;
let followed: Placed;
/** Jobs as the heir ended them. */
let ended: readonly (JobFacts | undefined)[];
let files: readonly string[];

beforeAll(async () => {
  bed = await startMediaBed({ workers: 0, env: { SLUICE_MEDIA_WAIT_MS: "90000" } });
  const { gallery } = bed;
  paused = await bed.addWorker(["image"]);
  gallery.hold("b");
  copied = await bed.place("copied", { polls: ["COMPLETED"], result: gallery.result("a", "b") }, { n: 2 });
  await eventually("its second picture is copied", () => gallery.asked("b") > 0);
  const last = running({ result: gallery.result("c") });
  followed = await bed.place("followed", last);
  await eventually("fal's name for it is noted", async () => {
    const named = "select 1 from job where id = $1 and provider_job ? 'job'";
    return (await bed.stack.query(named, [followed.id])).length > 0;
  });
  paused.kill("SIGSTOP");

  heir = await bed.addWorker(["image"]);
  await eventually("the heir copies it as well", () => gallery.asked("b") > 1, 40_000);
  // The one that sleeps gets its picture too, and finds it when it wakes.
  gallery.release("b");
  last.end();
  for (const { id } of [copied, followed]) await bed.jobWhen(id, ({ state }) => state === "completed");
  ended = await Promise.all([copied, followed].map(({ id }) => bed.jobOf(id)));
  files = (await bed.stored()).rows;
  paused.kill("SIGCONT");
}, 120_000);

afterAll(() => bed?.stop());

test("both were collected by the next worker, answered and charged once", async () => {
  for (const [{ id, answer }, count] of [[copied, 2] as const, [followed, 1] as const]) {
    expect([(await answer).status, (await answer).headers.get("x-credits-used")]).toEqual([200, String(count)]);
    expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: BigInt(count) * CREDIT }]);
  }
  for (const prompt of ["copied", "followed"]) expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
});

test("writes of the paused worker after its pause change nothing", async () => {
  await eventually("it lets go of both", () => {
    const told = paused
      .logs()
      .filter((line) => line.includes("end was discarded") || line.includes("returns to the queue"));
    return told.length >= 2;
  });
  expect(await Promise.all([copied, followed].map(({ id }) => bed.jobOf(id)))).toEqual([...ended]);
  for (const [{ id }, count] of [[copied, 2] as const, [followed, 1] as const]) {
    expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: BigInt(count) * CREDIT }]);
  }
  await eventually("no file is there twice", async () => Bun.deepEquals((await bed.stored()).rows, files));
  await expectStorageExact(bed);
});

test("it serves the next job, and the books are exact", async () => {
  await heir.stop();
  const next = await bed.place("next", { polls: ["COMPLETED"], result: bed.gallery.result("d") });
  expect((await next.answer).status).toBe(200);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
}, 60_000);
