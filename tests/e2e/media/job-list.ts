/** Jobs on request and their list: a media call that returns its job at once, and GET /v1/jobs. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { Job, JobList } from "#schemas/generated/types.ts";

import { type Bench, errorOf } from "./bench.ts";
import { benchOfNewWorkspace } from "./shared-bench.ts";

const PICTURE = { model: "sandbox-image", prompt: "a lighthouse", size: "256x256" };

let bench: Bench;
beforeAll(async () => {
  bench = await benchOfNewWorkspace();
}, 60_000);

const startAsync = (path: string, body: object, prefer = "respond-async"): Promise<Response> =>
  fetch(`${bench.stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json", prefer },
    body: JSON.stringify(body),
  });

const listOf = async (query = "", from = bench): Promise<JobList> =>
  (await (await from.call(`/v1/jobs${query}`)).json()) as JobList;

const idsOf = ({ data }: JobList): string[] => data.map(({ id }) => id);

describe("Prefer: respond-async", () => {
  test.each([
    ["/v1/images/generations", PICTURE, "image/png"],
    ["/v1/music/generations", { model: "sandbox-music", prompt: "rain", duration: 3 }, "audio/mpeg"],
  ])("%s returns 202 with the job, whose result and charge are those of the call", async (path, body, type) => {
    const response = await startAsync(path, body, "wait=5, Respond-Async");
    expect([response.status, response.headers.has("x-credits-used")]).toEqual([202, false]);
    const job = (await response.json()) as Job;
    expect([job.object, job.id]).toEqual(["job", response.headers.get("x-request-id") ?? ""]);
    const ended = await bench.endOf(job.id);
    expect(ended).toMatchObject({ status: "completed", data: [{ content_type: type }] });
    const [usage] = await bench.usageOf(job.id);
    expect(Number(usage?.settled) / 1e9).toBe(ended.credits_used ?? 0);
  });

  test("an invalid call is refused as without the preference", async () => {
    const response = await startAsync("/v1/images/generations", { ...PICTURE, size: "1x1" });
    expect(await errorOf(response)).toMatchObject({ status: 400, param: "size" });
  });

  test("other preferences and streams get the usual response", async () => {
    expect((await startAsync("/v1/images/generations", PICTURE, "respond-asynchronously")).status).toBe(200);
    const stream = await startAsync("/v1/images/generations", { ...PICTURE, stream: true });
    expect([stream.status, stream.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/),
    ]);
    expect(await stream.text()).toContain("[DONE]");
  });
});

describe("GET /v1/jobs", () => {
  test("lists jobs newest first, in pages, without results", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = (await (await startAsync("/v1/images/generations", PICTURE)).json()) as Job;
      ids.unshift(id);
      await bench.endOf(id);
    }
    const first = await listOf("?limit=2");
    expect([idsOf(first), first.has_more, first.last_id]).toEqual([ids.slice(0, 2), true, ids[1] ?? ""]);
    const second = await listOf(`?limit=1&after=${first.last_id}`);
    expect(idsOf(second)).toEqual(ids.slice(2));
    expect(second.data[0]).toMatchObject({ status: "completed", model: "sandbox-image", credits_used: 2 });
    expect(second.data[0]).not.toHaveProperty("data");
  });

  test("contains an open and then cancelled video under its status", async () => {
    const body = { model: "sandbox-video-hang", prompt: "fog", duration: 1 };
    const { id } = (await (await bench.call("/v1/videos/generations", body)).json()) as Job;
    const open = [...idsOf(await listOf("?status=queued")), ...idsOf(await listOf("?status=processing"))];
    expect(open).toContain(id);
    await bench.call(`/v1/images/jobs/${id}/cancel`, {});
    await bench.endOf(id);
    expect(idsOf(await listOf("?status=cancelled"))).toEqual([id]);
    expect(idsOf(await listOf("?status=completed"))).not.toContain(id);
  });

  test("does not contain streamed calls and jobs of other workspaces", async () => {
    const before = idsOf(await listOf("?limit=100"));
    await (await bench.call("/v1/images/generations", { ...PICTURE, stream: true })).text();
    expect(idsOf(await listOf("?limit=100"))).toEqual(before);
    expect((await listOf("", await benchOfNewWorkspace())).data).toEqual([]);
  });

  test.each([
    ["status", "?status=broken"],
    ["after", "?after=file-1"],
    ["limit", "?limit=1000"],
  ])("refuses an unknown %s", async (param, query) => {
    expect(await errorOf(await bench.call(`/v1/jobs${query}`))).toMatchObject({ status: 400, param });
  });
});
