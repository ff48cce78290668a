/**
 * Fault: an ingress, or the janitor, dies by SIGKILL at every failpoint of its own in turn. Expected: an accepted
 * job exists, goes on and is paid once; what was not accepted leaves no job and no hold; a file is there whole or not at all, and its
 * call can be repeated under its key; the next janitor finishes what the last one began.
 */
import sharp from "sharp";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import type { Failpoint } from "#shared/base/failpoint.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { UPLOAD_PART_BYTES } from "#shared/storage/objects.ts";

import { audit } from "./audit.ts";
import { type Answer, CHAT_PATH, requestId } from "./client.ts";
import { failpointsOf } from "./failpoints.ts";
import { CREDIT, expectStorageExact, type JobFacts, type MediaBed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

const PART = UPLOAD_PART_BYTES;

let bed: MediaBed;
/** Those that did not come to their place. */
const mortals: ManagedProcess[] = [];

beforeAll(async () => {
  bed = await startMediaBed({ janitor: false, workers: 0 });
}, 90_000);

afterAll(async () => {
  for (const process of mortals) await process.stop();
  await bed?.stop();
});

describe("a janitor that dies at", () => {
  test.each(failpointsOf("janitor"))(
    "%s leaves the remaining work to the next one",
    async (at) => {
      const check = await JANITOR_SCENES[at]?.();
      if (!check) throw new Error(`no scene leads a janitor to ${at}`);
      expect(await endOfJanitor(at)).toContain("SIGKILL");
      const next = await startRole(["janitor"], bed.stack.env);
      try {
        await check();
      } finally {
        await next.stop();
      }
    },
    90_000,
  );
});

describe("with a running janitor, an ingress dies at", () => {
  beforeAll(async () => {
    await Promise.all([bed.stack.addRole("janitor"), bed.addWorker(["image"]), bed.addWorker(["chat"])]);
  }, 60_000);

  test.each(failpointsOf("ingress, image"))(
    "%s: its image job exists at most once, continues, and is charged once",
    async (at) => {
      const prompt = `image at ${at}`;
      const isEdit = at === "request.stored";
      const jobs = await watchJobs();
      bed.fal.next({ polls: ["COMPLETED"], result: bed.gallery.result("a") });
      await callThrough(at, isEdit ? "/v1/images/edits" : "/v1/images/generations", {
        prompt,
        // Its picture is put aside first.
        ...(isEdit ? { model: "sandbox-image", image_base64: await largePng() } : { model: "queued" }),
      });
      if (isEdit) return expect(await jobs()).toEqual([]);
      const [job, ...more] = await eventually("its job has ended", async () => {
        const found = await jobs();
        return found.every(({ ended_at }) => ended_at !== null) && found;
      });
      expect([more, job?.state, bed.submissions(prompt)]).toEqual([[], "completed", 1]);
      expect(await bed.usageOf(job?.id ?? "")).toEqual([{ status: "succeeded", settled: CREDIT }]);
      expect(await (await bed.shown(job?.id ?? "")).json()).toMatchObject({ status: "completed", credits_used: 1 });
    },
    60_000,
  );

  test.each(failpointsOf("ingress, chat"))(
    "%s: its chat call keeps no hold, and is settled at most once",
    async (at) => {
      const content = at === "request.stored" ? "so much to say ".repeat(40_000) : "hello";
      const before = await chatUsage();
      await callThrough(at, CHAT_PATH, { model: "sandbox-chat", max_tokens: 5, messages: [{ role: "user", content }] });
      // Of a call that no worker had; only sooner. One whose answer was on its way is released by its worker.
      if (at !== "call.taken") await bed.stack.query("update hold set deadline = clock_timestamp()");
      await eventually("its hold is closed", async () => (await bed.stack.query("select 1 from hold")).length === 0);
      const usage = (await chatUsage()).slice(before.length);
      expect(usage.length).toBeLessThanOrEqual(1);
      // Of one that no worker heard of nothing is owed.
      if (at !== "call.dispatched") for (const { settled } of usage) expect(settled).toBe(0n);
    },
    60_000,
  );

  const uploads = failpointsOf("ingress, upload");
  test.each([...uploads, "upload.reserved:2"])(
    "%s: its file is stored completely or not at all, and once",
    async (at) => {
      const bytes = randomBytes(at.endsWith(":2") ? PART + 1_000 : 1_000);
      const ingress = await dying("ingress", at);
      expect(await upload(ingress.baseUrl, at, bytes).catch(() => "cut")).toBe("cut");
      expect((await ingress.exited()).signal).toBe("SIGKILL");
      const before = (await bed.stored()).rows;
      await bed.expireUploads();
      const made = await eventually("its call can be repeated", async () => {
        const answer = await upload(bed.stack.baseUrls[0] ?? "", at, bytes);
        return answer.status === 200 && ((await answer.json()) as { id: string });
      });
      // What had become a file is told, and not made a second time.
      expect(before.includes(made.id)).toBe(at === "upload.finished");
      const authorization = `Bearer ${bed.stack.key}`;
      const read = await fetch(`${bed.stack.baseUrls[0]}/v1/files/${made.id}/content`, { headers: { authorization } });
      expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
      await expectStorageExact(bed);
    },
    60_000,
  );

  test.each(failpointsOf("ingress, failed upload"))(
    "%s: nothing of a discarded file remains",
    async (at) => {
      const ingress = await dying("ingress", at);
      const outcome = await upload(ingress.baseUrl, at, randomBytes(1_000), "no-such-purpose").catch(() => "cut");
      expect(outcome).toBe("cut");
      expect((await ingress.exited()).signal).toBe("SIGKILL");
      await outliveDeleteGrace();
      await expectStorageExact(bed);
      await eventually("its row is gone", async () => (await endedFiles()).length === 0);
    },
    60_000,
  );
});

test("the books are exact afterwards", async () => {
  await expectStorageExact(bed);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
}, 60_000);

/** Scenes that bring a janitor to the place, without one running; each returns a check for when the next one has swept. */
const JANITOR_SCENES: Readonly<Partial<Record<Failpoint, () => Promise<() => Promise<void>>>>> = {
  async "job.dispatched"() {
    const prompt = "not dispatched";
    const jobs = await watchJobs();
    bed.fal.next({ polls: ["COMPLETED"], result: bed.gallery.result("a") });
    await callThrough("job.admitted", "/v1/images/generations", { model: "queued", prompt });
    const [job] = await jobs();
    return async () => {
      const worker = await bed.addWorker(["image"]);
      await bed.jobWhen(job?.id ?? "", ({ state }) => state === "completed");
      expect(bed.submissions(prompt)).toBe(1);
      expect(await bed.usageOf(job?.id ?? "")).toEqual([{ status: "succeeded", settled: CREDIT }]);
      await worker.stop();
    };
  },
  async "job.recorded"() {
    bed.fal.next({ polls: ["COMPLETED"], result: bed.gallery.result("a") });
    const worker = await bed.addWorker(["image"]);
    const id = requestId(await bed.client.chat(bed.target(), { model: "queued", prompt: "recorded" }));
    await worker.stop();
    return async () => {
      const sql = "select 1 from job where id = $1 and recorded = 'completed'";
      await eventually("its record is noted", async () => (await bed.stack.query(sql, [id])).length > 0);
    };
  },
  async "job.concluded"() {
    const prompt = "concluded";
    const jobs = await watchJobs();
    bed.fal.next({ polls: ["COMPLETED"], result: bed.gallery.result("first", "second") });
    const before = (await bed.stored()).rows;
    const worker = await dying("worker", "artifact.kept", "image");
    const leaving = bed.client.begin(bed.target(), { model: "queued", prompt, n: 2 });
    expect((await worker.exited()).signal).toBe("SIGKILL");
    leaving.leave();
    const [job] = await jobs();
    const kept = (await bed.stored()).rows.filter((id) => !before.includes(id));
    expect(kept).toHaveLength(1);
    // Nobody could find out for a day what became of it.
    await bed.stack.query("update job set lease_until = clock_timestamp(), worker = null where id = $1", [
      job?.id ?? "",
    ]);
    await bed.stack.query("select note_unknown(id, epoch, false, 86400000) from job where id = $1", [job?.id ?? ""]);
    await bed.writeOff();
    return async () => {
      await bed.jobWhen(job?.id ?? "", ({ state }) => state === "failed");
      expect(await bed.usageOf(job?.id ?? "")).toEqual([{ status: "lost", settled: 0n }]);
      await eventually("what was kept of it is gone", async () => {
        const { rows } = await bed.stored();
        return kept.every((id) => !rows.includes(id));
      });
    };
  },
  async "bytes.erased"() {
    const ingress = await dying("ingress", "upload.stored");
    await upload(ingress.baseUrl, "erased", randomBytes(1_000)).catch(() => "cut");
    await ingress.exited();
    await bed.expireUploads();
    return async () => {
      await outliveDeleteGrace();
      await eventually("its row is gone", async () => (await endedFiles()).length === 0);
      await expectStorageExact(bed);
    };
  },
};

/** A process that dies at this place. */
async function dying(role: "ingress" | "janitor" | "worker", at: string, ...pools: string[]): Promise<ManagedProcess> {
  const mortal = await startRole([role, ...pools], { ...bed.stack.env, SLUICE_FAILPOINT: at });
  mortals.push(mortal);
  return mortal;
}

/** It may come to its place before it is ready, and then never is. */
async function endOfJanitor(at: string): Promise<string> {
  try {
    return String((await (await dying("janitor", at)).exited()).signal);
  } catch (error) {
    return String(error);
  }
}

/** A call that an ingress dies of; nobody hears of it. */
async function callThrough(at: string, path: string, body: Record<string, unknown>): Promise<void> {
  const ingress = await dying("ingress", at);
  const answer: Answer = await bed.client.chat({ url: ingress.baseUrl, key: bed.stack.key, path }, body);
  if (answer.status !== 0) throw new Error(`${at} was not reached: ${answer.status} ${answer.body.slice(0, 300)}`);
  expect((await ingress.exited()).signal).toBe("SIGKILL");
}

/** Jobs that there were not before. A job that has ended tells its prompt no more. */
async function watchJobs(): Promise<() => Promise<JobFacts[]>> {
  const columns = "id, state, epoch, attempt, dispatch, credits, unknown_since, ended_at";
  const all = (): Promise<JobFacts[]> => bed.stack.query<JobFacts>(`select ${columns} from job`);
  const before = new Set((await all()).map(({ id }) => id));
  return async () => (await all()).filter(({ id }) => !before.has(id));
}

/** Under the place's name as its key. @throws Error when the connection is cut */
function upload(url: string, key: string, bytes: Uint8Array, purpose = "user_data"): Promise<Response> {
  const form = new FormData();
  form.set("file", new File([bytes], "a.bin"));
  form.set("purpose", purpose);
  const headers = { authorization: `Bearer ${bed.stack.key}`, "idempotency-key": key };
  return fetch(`${url}/v1/files`, { method: "POST", headers, body: form, keepalive: false });
}

function chatUsage(): Promise<{ settled: bigint }[]> {
  return bed.stack.query("select settled from usage_record where model = 'sandbox-chat' order by ended_at");
}

function endedFiles(): Promise<object[]> {
  return bed.stack.query("select 1 from file where state = 'deleted'");
}

/** Bytes are left to whoever ended their file for a minute; only sooner. */
async function outliveDeleteGrace(): Promise<void> {
  await bed.stack.query("update file set ended_at = ended_at - interval '1 hour' where state = 'deleted'");
}

/** Makes a picture of more bytes than a row takes, in base64. */
async function largePng(): Promise<string> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const create = { width: 256, height: 256, channels: 3, background: "#000", noise } as const;
  return (await sharp({ create }).png().toBuffer()).toString("base64");
}
