/**
 * Fault: whoever a media job depends on takes what it is sent and never answers: the provider when a job is
 * submitted or asked about, the object store when a picture or a large request is to be kept. All of it happens at once.
 * Expected: callers hear where to look for their job, holds stay while it can be told what became of it, nothing is submitted or paid twice.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import sharp from "sharp";

import { audit } from "./audit.ts";
import { type Answer, errorCode } from "./client.ts";
import { CREDIT, expectStorageExact, type MediaBed, type Placed, running, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

let bed: MediaBed;
let unanswered: Placed;
let untold: Placed;
let unkept: Placed;
let large: Promise<Answer>;
/** Lets the silent provider answer for its job. */
let tell: () => void;

beforeAll(async () => {
  bed = await startMediaBed({ env: { SLUICE_MEDIA_WAIT_MS: "60000", SLUICE_MEDIA_TOTAL_MS: "6000" } });
  const { client, gallery, s3 } = bed;
  let swallowed = 0;
  s3.decide((line) => {
    if (line.includes("/claims/")) return "silence";
    // The first attempt to keep a picture alone.
    return line.startsWith("PUT") && line.includes("/files/") && swallowed++ === 0 ? "silence" : "pass";
  });
  unkept = await bed.place("unkept", { polls: ["COMPLETED"], result: gallery.result("k") });
  await eventually("the store has swallowed it", () => swallowed > 0);
  unanswered = await bed.place("unanswered", { start: "hang" });
  const told = running();
  tell = () => told.end();
  untold = await bed.place("untold", {
    result: gallery.result("u"),
    get polls() {
      // Silence at first, nonsense when it is asked what became of the job in the end.
      const isOver = told.polls?.[0] === "COMPLETED";
      return isOver ? (["COMPLETED"] as const) : (["hang", { status: 500, body: "oops" }] as const);
    },
  });
  const body = { model: "sandbox-image", prompt: "large", image_base64: await noise() };
  large = client.open(bed.target("/v1/images/edits"), body).then((live) => live.ended);
}, 60_000);

afterAll(() => bed?.stop());

test("a call too large for its row, while the store is silent, is a 503 that leaves nothing", async () => {
  const answer = await large;
  expect([answer.status, errorCode(answer)]).toEqual([503, "service_unavailable"]);
  expect(await bed.stack.query("select 1 from job where kind = 'image_edits'")).toEqual([]);
  const { body } = answer;
  expect(JSON.parse(body)).not.toHaveProperty("error.job_id");
});

test("a job without a report keeps its hold, and its caller receives its state", async () => {
  const { id, answer } = untold;
  const { status, headers, body } = await answer;
  expect([status, headers.get("x-should-retry")]).toEqual([504, "false"]);
  expect(JSON.parse(body)).toMatchObject({ error: { code: "job_timeout", job_id: id } });
  expect(await (await bed.shown(id)).json()).toMatchObject({ status: "processing" });
  expect(await bed.usageOf(id)).toEqual([]);
  expect(await bed.listedUnknown()).toEqual([id]);
});

test("an unanswered submission without a callback address ends its job, and costs nothing", async () => {
  const { status, headers, body } = await unanswered.answer;
  expect([status, headers.get("x-should-retry")]).toEqual([504, "false"]);
  expect(JSON.parse(body)).toMatchObject({ error: { code: "upstream_timeout" } });
  expect(await bed.usageOf(unanswered.id)).toEqual([{ status: "lost", settled: 0n }]);
});

test("a late result of its provider is delivered and charged once", async () => {
  tell();
  await bed.askAgain();
  await bed.jobWhen(untold.id, ({ state }) => state === "completed");
  expect(await bed.usageOf(untold.id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
  expect(await (await bed.shown(untold.id)).json()).toMatchObject({ status: "completed", credits_used: 1 });
});

test("an image that the store lost is stored at the next attempt, and charged once", async () => {
  const answer = await unkept.answer;
  expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "1"]);
  expect(await bed.usageOf(unkept.id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
});

test("the books are exact afterwards", async () => {
  for (const prompt of ["unanswered", "untold", "unkept"])
    expect([prompt, bed.submissions(prompt)]).toEqual([prompt, 1]);
  await expectStorageExact(bed);
  await audit(bed);
  expect(bed.fal.faults).toEqual([]);
});

/** A picture whose request goes beside the queue. */
async function noise(): Promise<string> {
  const create = {
    width: 400,
    height: 300,
    channels: 3,
    background: "#000",
    noise: { type: "gaussian", mean: 128, sigma: 60 },
  } as const;
  return (await sharp({ create }).png().toBuffer()).toString("base64");
}
