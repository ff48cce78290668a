/** Videos of the sandbox against the running service: asked for, watched, collected, ended. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { Job } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { decodePictures, distance, type Picture } from "#tests/providers/sandbox/media/video-reading.ts";

import { type Bench, CREDIT, errorOf } from "./bench.ts";
import { benchOfNewWorkspace } from "./shared-bench.ts";

const MODEL = "sandbox-video";
const VIDEOS = "/v1/videos/generations";

let bench: Bench;

beforeAll(async () => {
  bench = await benchOfNewWorkspace();
}, 60_000);

async function begin(body: object): Promise<Job> {
  const response = await bench.call(VIDEOS, { model: MODEL, prompt: "a lighthouse in a storm", ...body });
  const job = (await response.json()) as Job;
  expect([response.status, validate("Job", job)]).toEqual([200, null]);
  expect(response.headers.get("x-request-id")).toBe(job.id);
  return job;
}

const stateOf = async (id: string): Promise<Job> => (await (await bench.call(`${VIDEOS}/${id}`)).json()) as Job;

async function firstFrame(video: Uint8Array): Promise<Picture> {
  const [first] = await decodePictures(video);
  if (first === undefined) throw new Error("expected a frame");
  return first;
}

async function bytesOf(job: Job): Promise<Uint8Array> {
  const response = await fetch(String(job.data?.[0]?.["url"]));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  return new Uint8Array(await response.arrayBuffer());
}

describe("a video", () => {
  test.each([
    [{ duration: 1 }, 1, 854, 480, 2n],
    [{ duration: 2, resolution: "240p", aspect_ratio: "9:16" }, 2, 240, 426, 4n],
    [{ duration: 1, resolution: "1080p", aspect_ratio: "1:1" }, 1, 1_080, 1_080, 4n],
  ])(
    "of %j has exactly that length and size, with audio, and is charged by the second",
    async (body, seconds, width, height, credits) => {
      const begun = await begin(body);
      expect(begun).toMatchObject({ object: "job", modality: "video", model: MODEL });
      expect(["queued", "processing"]).toContain(begun.status);
      const job = await bench.endOf(begun.id);
      expect(job).toMatchObject({ status: "completed", progress: 1, credits_used: Number(credits) });
      const facts = probeVideo(await bytesOf(job));
      expect(facts).toMatchObject({ format: "mp4", width, height, hasAudio: true });
      expect(facts.seconds).toBeCloseTo(seconds, 2);
      expect(job.data?.[0]).toMatchObject({ content_type: "video/mp4", duration_seconds: seconds });
      expect(await bench.usageOf(begun.id)).toMatchObject([
        { status: "succeeded", settled: credits * CREDIT, units: { seconds } },
      ]);
      // The same under its own address, and in the file store.
      expect(await stateOf(begun.id)).toMatchObject({ id: begun.id, status: "completed" });
      const kept = await bench.client.files.content(String(job.data?.[0]?.["file_id"]));
      expect((await kept.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    },
    90_000,
  );

  test("without a length has the default length of its model", async () => {
    const response = await bench.call(`/v1/models/${MODEL}/estimate`, { prompt: "a lighthouse in a storm" });
    expect(await response.json()).toMatchObject({ estimated_credits: 8, max_credits: 8 });
  });

  test("depends on its seed, and starts with its input image, from the file store or inline", async () => {
    const made = await bench.client.images.generate({
      model: "sandbox-image",
      prompt: "a red barn",
      size: "256x256",
      response_format: "b64_json",
    });
    const [image] = made.data ?? [];
    const small = { duration: 1, resolution: "240p", seed: 3 };
    const fileId = (image as { file_id?: string }).file_id;
    const jobs = await Promise.all([
      begin({ ...small, image_file_id: fileId }),
      begin({ ...small, image_url: `data:image/png;base64,${image?.b64_json}` }),
      begin(small),
      begin({ ...small, seed: 4 }),
    ]);
    const videos = await Promise.all(jobs.map(async ({ id }) => bytesOf(await bench.endOf(id))));
    const [stored, inline, own, other] = videos.map((bytes) => Bun.hash(bytes));
    expect(inline).toBe(stored as bigint);
    expect(other).not.toBe(own as bigint);
    const [first, , plain] = await Promise.all(videos.slice(0, 3).map(firstFrame));
    if (!first || !plain) throw new Error("expected three videos");
    expect(distance(first, plain)).toBeGreaterThan(5);
  }, 90_000);

  test("that is slow reports its progress, never decreasing", async () => {
    const { id } = await begin({ model: "sandbox-video-slow", duration: 1, resolution: "240p" });
    const seen: number[] = [];
    await eventually(
      "it ends",
      async () => {
        const { status, progress } = await stateOf(id);
        seen.push(progress);
        return status === "completed";
      },
      60_000,
    );
    expect(seen.toSorted((one, other) => one - other)).toEqual(seen);
    expect(seen.some((progress) => progress > 0 && progress < 1)).toBe(true);
  }, 90_000);

  test.each([
    ["sandbox-video-error", "upstream_error"],
    ["sandbox-video-refuse", "upstream_refused"],
  ])("of %s fails in its job, and costs nothing", async (model, code) => {
    const { id } = await begin({ model });
    expect(await bench.endOf(id)).toMatchObject({ status: "failed", error: { code }, credits_used: 0 });
    expect(await bench.usageOf(id)).toMatchObject([{ status: "failed", settled: 0n }]);
  });
});

describe("the provider of a video", () => {
  const NAMES = ["x-model-used", "x-fallback-from", "x-fallback-depth"];
  const told = ({ headers }: Response): (string | null)[] => NAMES.map((name) => headers.get(name));

  test("is reported after its end, under both paths, and not before; a later cancel changes nothing", async () => {
    const begun = await bench.call(VIDEOS, { model: MODEL, prompt: "x", duration: 1, resolution: "240p" });
    expect(told(begun)).toEqual([null, null, null]);
    const { id } = (await begun.json()) as Job;
    const ended = await bench.endOf(id);
    for (const path of [`${VIDEOS}/${id}`, `/v1/images/jobs/${id}`]) {
      expect(told(await bench.call(path))).toEqual([MODEL, null, null]);
    }
    const cancelled = await bench.call(`${VIDEOS}/${id}/cancel`, {});
    expect(told(cancelled)).toEqual([MODEL, null, null]);
    const { status, credits_used } = (await cancelled.json()) as Job;
    expect([status, credits_used]).toEqual(["completed", ended.credits_used]);
  }, 60_000);

  test("is reported with the replaced model", async () => {
    const { id: workspaceId, key } = await createWorkspace(bench.stack, { creditsNano: 100n * CREDIT });
    const chain = ["fallback-chains", "set", "sandbox-video-error", MODEL, "--workspace", workspaceId];
    expect(await bench.stack.command("admin", ...chain)).toMatchObject({ code: 0, stderr: "" });
    const call = (path: string, body?: object): Promise<Response> =>
      fetch(`${bench.stack.baseUrls[0]}${path}`, {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
    const ask = { model: "sandbox-video-error", prompt: "x", duration: 1, resolution: "240p" };
    const { id } = (await (await call(VIDEOS, ask)).json()) as Job;
    const isMade = async (): Promise<boolean> =>
      ((await (await call(`${VIDEOS}/${id}`)).json()) as Job).status === "completed";
    await eventually("it is made", isMade, 60_000);
    for (const path of [`${VIDEOS}/${id}`, `/v1/images/jobs/${id}`]) {
      expect(told(await call(path))).toEqual([MODEL, "sandbox-video-error", "1"]);
    }
  }, 90_000);

  test.each([`${VIDEOS}/{id}`, "/v1/images/jobs/{job_id}"])("is documented for %s", async (path) => {
    const { paths } = (await (await bench.call("/openapi.json")).json()) as {
      paths: Record<string, { get?: { responses: Record<string, { headers: object }> } }>;
    };
    expect(Object.keys(paths[path]?.get?.responses["200"]?.headers ?? {})).toEqual(expect.arrayContaining(NAMES));
  });
});

describe("a cancel", () => {
  test("ends a running video, and stops its provider", async () => {
    const { id } = await begin({ model: "sandbox-video-hang" });
    await eventually("it is begun", async () => (await stateOf(id)).status === "processing");
    const response = await bench.call(`${VIDEOS}/${id}/cancel`, {});
    expect(response.status).toBe(200);
    expect(await bench.endOf(id)).toMatchObject({ status: "cancelled", credits_used: 0 });
    expect(await bench.usageOf(id)).toMatchObject([{ status: "cancelled", settled: 0n }]);
  });
});

describe("a rejected call", () => {
  test.each([
    ["a length the model has not", { duration: 7 }, "unsupported_value", "duration"],
    ["a resolution the model has not", { resolution: "8k" }, "unsupported_value", "resolution"],
    ["a shape the model has not", { aspect_ratio: "2:7" }, "unsupported_value", "aspect_ratio"],
    ["no prompt", { prompt: undefined }, "missing_required_parameter", "prompt"],
    ["a blank prompt", { prompt: "  " }, "missing_required_parameter", "prompt"],
    ["a picture of a private address", { image_url: "http://169.254.169.254/a.png" }, "unsafe_url", "image_url"],
    ["a picture that is none", { image_url: "data:image/png;base64,aGVsbG8=" }, "unprocessable_input", "image_url"],
    [
      "somebody else's picture",
      { image_file_id: "file-00000000000000000000000000000000" },
      "file_not_found",
      "image_file_id",
    ],
    ["a model that draws", { model: "sandbox-image" }, "model_not_supported", "model"],
  ])("for %s names the parameter, and places no hold", async (_what, body, code, param) => {
    const response = await bench.call(VIDEOS, { model: MODEL, prompt: "x", ...body });
    expect(await errorOf(response)).toMatchObject({ code, param });
    expect(await bench.usageOf(response)).toEqual([]);
  });

  test("for a job of another kind is a 404, under the path of videos", async () => {
    const { response } = await bench.client.images
      .generate({ model: "sandbox-image", prompt: "x", size: "256x256" })
      .withResponse();
    const id = response.headers.get("x-request-id");
    expect(await errorOf(await bench.call(`${VIDEOS}/${id}`))).toMatchObject({ status: 404, code: "job_not_found" });
  });
});
