/**
 * Fault: a worker is told to stop, once or twice, while a sandbox job runs in a child process of its own, while a picture
 * is being copied, and while the object store does not answer. Expected: it exits with 0 inside its grace and leaves no child
 * behind; each job is handed over at once, collected by the next worker, submitted and paid once.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { isAlive } from "#deploy/embedded/probe.mjs";
import type { ManagedProcess } from "#tests/support/stack.ts";

import { audit } from "./audit.ts";
import { type Answer, requestId } from "./client.ts";
import { CREDIT, expectStorageExact, type MediaBed, type Placed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

const POOLS = ["image", "audio"];
/** The last five seconds of it are for handing over. */
const GRACE_MS = 7_000;

let bed: MediaBed;

beforeAll(async () => {
  bed = await startMediaBed({
    workers: 0,
    env: { SLUICE_MEDIA_WAIT_MS: "60000", SLUICE_GRACE_MS: String(GRACE_MS) },
  });
}, 60_000);

afterAll(() => bed?.stop());

test.each<[string, (worker: ManagedProcess) => Promise<void>]>([
  ["once", (worker) => Promise.resolve(worker.kill("SIGTERM"))],
  ["twice", tellTwice],
])(
  "a worker that receives SIGTERM %s hands its jobs over and exits with 0",
  async (times, tell) => {
    const { client, gallery } = bed;
    const worker = await bed.addWorker(POOLS);
    const [copied, unkept] = [`copied ${times}`, `unkept ${times}`];
    gallery.hold(copied);
    const copying = await place(copied, ["first", copied]);
    await eventually("its second picture is copied", () => gallery.asked(copied) > 0);
    const faults = bed.storeFaults();
    bed.storeFails("PUT", "files/", "pass", "mute");
    const keeping = await place(unkept, ["first", "second"]);
    await eventually("its second picture is in the store", () => bed.storeFaults() > faults);
    const body = { model: "sandbox-music", prompt: `a slow waltz, ${times}`, duration: 30 };
    const { head } = client.begin(bed.target("/v1/music/generations"), body);
    const children = await eventually("it is made in a child", () => childrenOf(worker.pid), 20_000);

    await tell(worker);
    const next = bed.addWorker(POOLS);
    expect((await worker.exited()).code).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    gallery.release(copied);
    await bed.expireUploads();
    await next;

    for (const [prompt, { id, answer }] of Object.entries({ [copied]: copying, [unkept]: keeping })) {
      const { status, body: made } = await answer;
      const { data } = JSON.parse(made) as { data: { url: string }[] };
      expect([prompt, status, data.length]).toEqual([prompt, 200, 2]);
      for (const { url } of data) expect((await fetch(url)).status).toBe(200);
      expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: 2n * CREDIT }]);
      expect(bed.submissions(prompt)).toBe(1);
    }
    const music: Answer = await (await head).ended;
    expect(music.status).toBe(200);
    expect(await bed.usageOf(requestId(music))).toEqual([{ status: "succeeded", settled: 3n * CREDIT }]);
    await (await next).stop();
  },
  90_000,
);

test("the books are exact afterwards", async () => {
  await expectStorageExact(bed);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
});

function place(prompt: string, names: readonly string[]): Promise<Placed> {
  return bed.place(prompt, { polls: ["COMPLETED"], result: bed.gallery.result(...names) }, { n: names.length });
}

/** The second signal follows when the first was heard: two at once would count as one. */
async function tellTwice(worker: ManagedProcess): Promise<void> {
  worker.kill("SIGTERM");
  await eventually("the first signal is heard", () => worker.logs().some((line) => line.includes('"msg":"stopping"')));
  worker.kill("SIGTERM");
}

/** Undefined while there are none. */
function childrenOf(pid: number): number[] | undefined {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return undefined;
  const found = readdirSync(tasks).flatMap((task) =>
    readFileSync(`${tasks}/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return found.length > 0 ? found : undefined;
}
