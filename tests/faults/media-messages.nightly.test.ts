/**
 * Fault: every message of image jobs is delivered twice and more, in any order, also under older numbers and in
 * another pool; among them are messages that nobody should have written, and a job that no worker can run. Expected: one
 * submission and one settlement each; what cannot be read is a dead letter, what means nothing is void, and the pool goes on.
 */
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, headers, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { HEADERS, type Pool, streamName, workSubject } from "#shared/queue/subjects.ts";

import { audit } from "./audit.ts";
import { type Answer, errorCode, requestId } from "./client.ts";
import { CREDIT, expectStorageExact, type JobFacts, type MediaBed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";
import { seeded, testSeed } from "../support/seed.ts";

const PROMPTS = Array.from({ length: 8 }, (_, at) => `picture ${at}`);
const UNREADABLE = 5;

let bed: MediaBed;
let nats: NatsConnection;
let workspace: string;
let answers: readonly Promise<Answer>[];
let jobs: readonly JobFacts[];
let broken: { readonly answer: Promise<Answer>; readonly id: string };

beforeAll(async () => {
  bed = await startMediaBed({
    janitor: false,
    workers: 2,
    pools: ["image", "video"],
    env: { SLUICE_MEDIA_WAIT_MS: "60000" },
  });
  const { client, fal, gallery, stack } = bed;
  nats = await connect({ servers: stack.natsUrl });
  await Promise.all(stack.workers.map((worker) => worker.stop()));
  fal.next(...PROMPTS.map(() => ({ result: gallery.result("one") })));
  const call = async (prompt: string): Promise<Answer> =>
    (await client.begin(bed.target(), { model: "queued", prompt }).head).ended;
  answers = PROMPTS.map(call);
  const lame = call("broken");
  jobs = await eventually("all are accepted", async () => {
    const found = (await Promise.all(PROMPTS.map((prompt) => bed.openJobs(prompt)))).flat();
    return found.length === PROMPTS.length && found;
  });
  const id = await eventually("and the broken one", async () => (await bed.openJobs("broken"))[0]?.id);
  broken = { answer: lame, id };
  [workspace = ""] = (await stack.query<{ id: string }>("select workspace_id as id from job limit 1")).map(
    (row) => row.id,
  );

  // Whoever claims it cannot read it, and it has been claimed often before.
  await stack.query(`update job set work = work || '{"price": {"unit_rate": "no number"}}', claims = 4 where id = $1`, [
    id,
  ]);
  // Half of the others have been dispatched anew: their first messages are void.
  const again = jobs.filter((_, at) => at % 2 === 0).map((job) => job.id);
  await stack.query("update job set dispatch = 2 where id = any($1::uuid[])", [`{${again.join(",")}}`]);
  await takeAllOut();
  const messages = [...jobs, ...jobs].flatMap((job) => {
    const numbers = again.includes(job.id) ? [1, 2] : [1];
    return numbers.flatMap((dispatch) => [copy(job.id, { dispatch }), copy(job.id, { dispatch, pool: "video" })]);
  });
  const foreign = newId();
  messages.push(copy(id, {}), copy(newId(), {}), copy(jobs[0]?.id ?? "", { of: foreign, to: foreign }));
  messages.push(copy(jobs[1]?.id ?? "", { attempt: 2 }));
  messages.push(...unreadable(jobs[2]?.id ?? "", foreign));
  for (const { subject, body } of shuffled(messages)) await put(subject, body);
  await Promise.all(stack.workers.map((worker) => worker.restart()));
}, 120_000);

afterAll(async () => {
  await nats?.close();
  await bed?.stop();
});

test("every job is submitted once and charged once, regardless of the number and order of its messages", async () => {
  for (const answer of await Promise.all(answers)) {
    expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "1"]);
    expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "succeeded", settled: CREDIT }]);
  }
  for (const prompt of PROMPTS) expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
  await expectStorageExact(bed);
});

test("messages repeated after the end change nothing", async () => {
  const facts = (): Promise<unknown> => Promise.all(jobs.map(({ id }) => bed.jobOf(id)));
  const before = await facts();
  for (const { id } of jobs) for (const dispatch of [1, 2]) await put(...partsOf(copy(id, { dispatch })));
  await eventually("they are done with", async () => (await waiting()) === 0, 30_000);
  expect(await facts()).toEqual(before);
}, 60_000);

test("a job that no worker can run ends as a dead letter, free, and its caller receives the failure", async () => {
  const answer = await broken.answer;
  expect([answer.status, errorCode(answer)]).toEqual([500, "internal_error"]);
  expect(await bed.usageOf(broken.id)).toEqual([{ status: "failed", settled: 0n }]);
  expect(bed.submissions("broken")).toBe(0);
  const letters = await bed.stack.query("select reason from dead_letter where job_id = $1", [broken.id]);
  expect(letters).toEqual([{ reason: "failed in our own hands" }]);
});

test("an unreadable message is a dead letter, an empty one is dropped, and the pool continues", async () => {
  const letters = await bed.stack.query("select reason from dead_letter where job_id is null");
  expect(letters).toEqual(Array.from({ length: UNREADABLE }, () => ({ reason: "unreadable" })));
  for (const worker of bed.stack.workers) expect(worker.alive()).toBe(true);
  bed.fal.next({ result: bed.gallery.result("after") });
  const answer = await (await bed.client.open(bed.target(), { model: "queued", prompt: "after" })).ended;
  expect(answer.status).toBe(200);
  await audit(bed, { deadLetters: UNREADABLE + 1, withinMs: 30_000 });
  expect(bed.fal.faults).toEqual([]);
});

interface Message {
  readonly subject: string;
  readonly body: string;
}

interface CopyOptions {
  readonly dispatch?: number;
  readonly attempt?: number;
  readonly pool?: Pool;
  /** The workspace that it speaks for, and that of its subject. */
  readonly of?: string;
  readonly to?: string;
}

/** The durable message of a job. */
function copy(id: string, options: CopyOptions): Message {
  const { dispatch = 1, attempt = 1, pool = "image", of = workspace, to = of } = options;
  const body = { durable: true, job_id: id, attempt, dispatch, workspace_id: of };
  return { subject: workSubject(pool, "live", to), body: JSON.stringify(body) };
}

/** Messages that nobody should have written. */
function unreadable(id: string, foreign: string): Message[] {
  const { subject } = copy(id, {});
  const bodies = [
    "this is no JSON",
    "null",
    JSON.stringify({ durable: true }),
    JSON.stringify({ durable: true, job_id: id, attempt: "first", dispatch: 1, workspace_id: workspace }),
  ];
  // Whole, but it speaks for another workspace than its subject.
  return [...bodies.map((body) => ({ subject, body })), copy(id, { to: foreign })];
}

const partsOf = ({ subject, body }: Message): [string, string] => [subject, body];

/** Under an id of its own, so that the server takes it for another message. */
async function put(subject: string, body: string): Promise<void> {
  const head = headers();
  head.set(HEADERS.messageId, newId());
  await jetstream(nats).publish(subject, body, { headers: head });
}

async function waiting(): Promise<number> {
  const manager = await jetstreamManager(nats);
  const infos = await Promise.all((["image", "video"] as const).map((pool) => manager.streams.info(streamName(pool))));
  return infos.reduce((sum, { state }) => sum + state.messages, 0);
}

async function takeAllOut(): Promise<void> {
  const manager = await jetstreamManager(nats);
  const sent = PROMPTS.length + 1;
  await eventually("all are on the queue", async () => (await waiting()) === sent);
  await manager.streams.purge(streamName("image"));
}

function shuffled<T>(all: readonly T[]): T[] {
  const next = seeded(testSeed("media-messages"));
  return all
    .map((one) => ({ one, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
