/**
 * Fault: the only worker is killed with four jobs in hand: one whose submission is open, one whose pictures
 * are being copied, one whose picture is in the store and in no row, one that has ended and whose message nobody heard to be
 * done. Expected: each was submitted once; the first is of unknown outcome, the others are settled once; no byte is left over.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import { durableName, streamName } from "#shared/queue/subjects.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

import { audit } from "./audit.ts";
import { errorCode, requestId } from "./client.ts";
import {
  CREDIT,
  expectStorageExact,
  type JobFacts,
  type MediaBed,
  type Placed,
  running,
  startMediaBed,
} from "./media-bed.ts";
import { metric } from "./metric.ts";
import { eventually } from "./wait.ts";

let bed: MediaBed;
let nats: TcpProxy;
let open: Placed;
let copied: Placed;
let kept: Placed;
let ended: Placed;
/** The row of `ended` and the object of `kept` at the moment of the kill. */
let endedBefore: JobFacts;
let orphan: string | undefined;
/** The picture of `copied` that was kept before the kill. */
let keptBefore: readonly string[];

beforeAll(async () => {
  // fal is told where to ring, so it may yet tell of a submission that went unanswered.
  const env = { SLUICE_MEDIA_WAIT_MS: "60000", SLUICE_PUBLIC_URL: "http://sluice.example" };
  bed = await startMediaBed({ workers: 0, env });
  nats = startTcpProxy(new URL(bed.stack.natsUrl).host);
  const { gallery } = bed;
  const worker = await bed.addWorker(["image"], { NATS_URL: `nats://${nats.host}` });
  const [done, last] = [["COMPLETED"] as const, running({ result: gallery.result("e") })];

  open = await bed.place("open", { start: "hang" });
  gallery.hold("b");
  copied = await bed.place("copied", { polls: done, result: gallery.result("a", "b") }, { n: 2 });
  await eventually("its second picture is copied", () => gallery.asked("b") > 0);
  keptBefore = (await bed.stored()).rows;
  bed.storeFails("PUT", "files/", "mute");
  const before = (await bed.stored()).objects;
  kept = await bed.place("kept", { polls: done, result: gallery.result("k") });
  orphan = await eventually("its picture is in the store", async () =>
    (await bed.stored()).objects.find((id) => !before.includes(id)),
  );
  ended = await bed.place("ended", last);
  await bed.jobWhen(ended.id, ({ state }) => state === "running");
  nats.freeze();
  last.end();
  endedBefore = await bed.jobWhen(ended.id, ({ state }) => state === "completed");
  expect(await unacknowledged()).toBe(4);

  worker.kill("SIGKILL");
  await worker.exited();
  gallery.release("b");
  await bed.expireUploads();
  await bed.stack.addRole("worker", "image");
}, 90_000);

afterAll(async () => {
  await bed?.stop();
  nats?.close();
});

test("a job with an open submission is never sent again, and its caller receives the job to look for", async () => {
  const answer = await open.answer;
  expect([answer.status, errorCode(answer)]).toEqual([504, "job_timeout"]);
  expect(JSON.parse(answer.body)).toMatchObject({ error: { job_id: open.id } });
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect(await bed.jobOf(open.id)).toMatchObject({ state: "running", credits: null, unknown_since: expect.any(Date) });
  expect(await bed.usageOf(open.id)).toEqual([]);
  expect(await bed.listedUnknown()).toEqual([open.id]);
  const [janitor] = bed.stack.janitors;
  await eventually("it is counted", async () => (await metric(janitor?.adminUrl ?? "", "sluice_jobs_unknown")) === 1);
  expect(await (await bed.shown(open.id)).json()).toMatchObject({ status: "processing" });
});

test("a job whose images are being copied is collected from its provider by the next worker, and charged once", async () => {
  const answer = await copied.answer;
  expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "2"]);
  expect(await bed.usageOf(copied.id)).toEqual([{ status: "succeeded", settled: 2n * CREDIT }]);
  // The first one had been kept; it is not kept twice.
  const files = await filesOf(copied);
  expect(files).toHaveLength(2);
  expect(keptBefore).toHaveLength(1);
  expect(files.map(({ file_id }) => file_id)).toContain(keptBefore[0] ?? "");
});

test("a job whose image was in the store without a row stores it once, and the orphan is deleted", async () => {
  const answer = await kept.answer;
  expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "1"]);
  expect(await bed.usageOf(kept.id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
  expect(await filesOf(kept)).toHaveLength(1);
  expect((await bed.stored()).objects).not.toContain(orphan ?? "");
  await expectStorageExact(bed);
});

test("an ended job is changed by no redelivery", async () => {
  const answer = await ended.answer;
  expect([answer.status, requestId(answer)]).toEqual([200, ended.id]);
  await eventually("its message is done with", async () => (await unacknowledged()) === 0, 30_000);
  expect(await bed.jobOf(ended.id)).toEqual(endedBefore);
  expect(await bed.usageOf(ended.id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
  expect(await filesOf(ended)).toHaveLength(1);
});

test("a job without a report is written off after a day, free, and the books are exact", async () => {
  await bed.writeOff();
  await bed.jobWhen(open.id, ({ state }) => state === "failed");
  expect(await bed.usageOf(open.id)).toEqual([{ status: "lost", settled: 0n }]);
  expect(await (await bed.shown(open.id)).json()).toMatchObject({ error: { code: "upstream_timeout" } });
  for (const prompt of ["open", "copied", "kept", "ended"])
    expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
});

/** Files in the outcome of a job. */
async function filesOf({ id }: Placed): Promise<{ file_id: string }[]> {
  const { data = [] } = (await (await bed.shown(id)).json()) as { data?: { file_id: string }[] };
  const { rows } = await bed.stored();
  return data.filter(({ file_id }) => rows.includes(file_id));
}

/** Messages that were handed out and of which nobody has said that they are done. */
async function unacknowledged(): Promise<number> {
  const connection = await connect({ servers: bed.stack.natsUrl });
  try {
    const manager = await jetstreamManager(connection);
    return (await manager.consumers.info(streamName("image"), durableName("image", "live"))).num_ack_pending;
  } finally {
    await connection.close();
  }
}
