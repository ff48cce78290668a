/**
 * Fault: an ingress is killed while it shows the states of streamed image calls, and right after it has accepted
 * plain ones. Expected: streams are cut without `[DONE]` and end as if their readers had left: free, unless they were done by
 * then. An accepted call is one job or none, goes on, and is paid once; so is what is made although it was to stop.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import type { Script } from "#tests/providers/fal/server.ts";

import { audit } from "./audit.ts";
import { type Answer, DONE, errorCode, type Live, requestId } from "./client.ts";
import { CREDIT, expectStorageExact, type MediaBed, running, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

const ACCEPTED = Array.from({ length: 6 }, (_, at) => `accepted ${at}`);

let bed: MediaBed;
/** Streams of jobs that end at their provider as told to, by themselves, while being told to, and long after. */
let stopped: Live;
let finished: Live;
let overtaken: Live;
let patient: Live;
let plain: readonly Promise<Answer>[];
/** Ids of the jobs that the accepted calls left. */
let jobs: ReadonlyMap<string, string>;
let rest: ReturnType<typeof running>;

beforeAll(async () => {
  bed = await startMediaBed({ ingress: 2, env: { SLUICE_PACE: "1" } });
  const { client, fal, gallery, stack } = bed;
  const stream = (body: object): Promise<Live> => client.open(bed.target(), { stream: true, ...body });
  const early = running({ result: gallery.result("f") });
  fal.next(early);
  finished = await stream({ model: "queued", prompt: "finished" });
  await eventually("fal has it", () => bed.submissions("finished") === 1);
  fal.next(running());
  patient = await stream({ model: "queued", prompt: "patient" });
  await eventually("fal has it", () => bed.submissions("patient") === 1);
  const last = running({ result: gallery.result("o") });
  fal.next(endingOnCancel(last));
  overtaken = await stream({ model: "queued", prompt: "overtaken" });
  await eventually("fal has it", () => bed.submissions("overtaken") === 1);
  // As late as can be: the slow image may not be made before the ingress dies.
  stopped = await stream({ model: "sandbox-image-slow", prompt: "stopped", size: "256x256" });
  await Promise.all([stopped, finished, patient, overtaken].map((live) => live.frames(2)));

  rest = running({ result: gallery.result("r") });
  fal.next(...ACCEPTED.map(() => rest));
  plain = ACCEPTED.map(async (prompt) => (await client.begin(bed.target(), { model: "queued", prompt }).head).ended);
  await eventually("one is accepted", async () => (await accepted()).size > 0);
  early.end();
  stack.ingresses[0]?.kill("SIGKILL");
  await stack.ingresses[0]?.exited();
  await eventually("the database has done what it was sent", async () => {
    const busy = "state = 'active' and query like '%admit_job%' and pid <> pg_backend_pid()";
    return (
      (await stack.query(`select 1 from pg_stat_activity where datname = current_database() and ${busy}`)).length === 0
    );
  });
  jobs = await accepted();
  await eventually("fal has them", () => [...jobs.keys()].every((prompt) => bed.submissions(prompt) > 0), 20_000);
  // Whoever was not accepted tries the other ingress: every script is taken by then.
  const again = ACCEPTED.filter((prompt) => !jobs.has(prompt)).map((prompt) => `${prompt}, again`);
  for (const prompt of again) client.begin(bed.target(undefined, 1), { model: "queued", prompt });
  await eventually("fal has those too", () => again.every((prompt) => bed.submissions(prompt) === 1), 20_000);
}, 90_000);

afterAll(() => bed?.stop());

test("streamed calls are cut off without a regular end", async () => {
  for (const live of [stopped, finished, overtaken, patient]) {
    const answer = await live.ended;
    expect(answer.isCut).toBe(true);
    expect(answer.frames.map((frame) => (JSON.parse(frame) as { status: string }).status)).toEqual([
      "queued",
      "processing",
    ]);
    expect(answer.frames).not.toContain(DONE);
  }
});

test("a streamed job that its provider stops is free", async () => {
  const id = requestId(stopped.answer);
  await bed.jobWhen(id, ({ ended_at }) => ended_at !== null, 15_000);
  expect(await bed.usageOf(id)).toMatchObject([{ settled: 0n }]);
});

test("a job that ends at its provider meanwhile is charged once, without a reader", async () => {
  await expectPaidUnseen(finished);
});

test("a job that its provider does not stop is written off immediately, free of charge", async () => {
  for (const live of [overtaken, patient]) {
    const id = requestId(live.answer);
    await bed.jobWhen(id, ({ state }) => state === "failed", 15_000);
    expect(await bed.usageOf(id)).toEqual([{ status: "lost", settled: 0n }]);
    expect((await bed.shown(id)).status).toBe(404);
  }
});

test("a plain call that finishes despite its cancel is collected late, at any time, and charged once", async () => {
  const { gallery } = bed;
  gallery.hold("b");
  // Ended before anything was made, and while the second picture is copied.
  const [early, half] = [running({ result: gallery.result("c") }), running({ result: gallery.result("a", "b") })];
  half.end();
  const begun = await bed.place("begun", early, {}, 1);
  const copied = await bed.place("copied", half, { n: 2 }, 1);
  await eventually("its second picture is copied", () => gallery.asked("b") > 0);
  for (const { id } of [begun, copied]) await cancel(id);
  for (const { answer } of [begun, copied]) expect(errorCode(await answer)).toBe("job_timeout");
  expect((await bed.listedUnknown()).toSorted()).toEqual([begun.id, copied.id].toSorted());
  early.end();
  gallery.hold("c");
  await bed.askAgain();
  const isCopied = async (): Promise<boolean> => {
    if (gallery.asked("c") > 0) return true;
    throw new Error(
      JSON.stringify(await bed.jobOf(begun.id), (_, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      ),
    );
  };
  await eventually("it is copied", isCopied, 20_000);
  // The worker reads in its rows with every beat that it is not wanted.
  await Bun.sleep(2 * LANE_SETTINGS.live.beatMs);
  for (const name of ["b", "c"]) gallery.release(name);
  for (const { id, count } of [
    { ...begun, count: 1 },
    { ...copied, count: 2 },
  ]) {
    await bed.jobWhen(id, ({ state }) => state === "completed");
    expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: BigInt(count) * CREDIT }]);
    const { data = [] } = (await (await bed.shown(id)).json()) as { data?: { url: string }[] };
    expect(data).toHaveLength(count);
    for (const { url } of data) expect((await fetch(url)).status).toBe(200);
  }
}, 60_000);

test("a plain call that was accepted exists at most once, ends and is charged once", async () => {
  for (const answer of await Promise.all(plain)) expect(answer.status).toBe(0);
  rest.end();
  for (const [prompt, id] of jobs) {
    await bed.jobWhen(id, ({ state }) => state === "completed");
    expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
    expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
    expect(await (await bed.shown(id)).json()).toMatchObject({ status: "completed", credits_used: 1 });
  }
  for (const prompt of ["finished", "overtaken", "patient"])
    expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
  for (const prompt of ACCEPTED) expect(bed.submissions(prompt)).toBe(jobs.has(prompt) ? 1 : 0);
  expect(jobs.size).toBeGreaterThan(0);
}, 60_000);

test("the ingress restarts, and the books are exact", async () => {
  await bed.stack.ingresses[0]?.restart();
  bed.fal.next({ result: bed.gallery.result("after") });
  const answer = await (await bed.client.open(bed.target(), { model: "queued", prompt: "after" })).ended;
  expect([answer.status, errorCode(answer)]).toEqual([200, undefined]);
  await expectStorageExact(bed);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
});

async function cancel(id: string): Promise<void> {
  const { url, key, path } = bed.target(`/v1/images/jobs/${id}/cancel`, 1);
  const told = await fetch(url + path, { method: "POST", headers: { authorization: `Bearer ${key}` } });
  expect(told.status).toBe(200);
}

/** Checks that a streamed job is paid for and that its record is shown to no caller. */
async function expectPaidUnseen({ answer }: Live): Promise<void> {
  const id = requestId(answer);
  await bed.jobWhen(id, ({ state }) => state === "completed", 20_000);
  expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
  expect((await bed.shown(id)).status).toBe(404);
}

/** fal is done by the time that it is told to stop. */
function endingOnCancel(script: ReturnType<typeof running>): Script {
  return {
    ...script,
    get polls() {
      return script.polls ?? [];
    },
    get cancel() {
      script.end();
      return { status: 400, body: { status: "ALREADY_COMPLETED" } };
    },
  };
}

/** The prompts of accepted calls with their jobs. @throws Error when a call has two */
async function accepted(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const prompt of ACCEPTED) {
    const own = await bed.openJobs(prompt);
    if (own.length > 1) throw new Error(`${own.length} jobs of one call`);
    if (own[0]) found.set(prompt, own[0].id);
  }
  return found;
}
