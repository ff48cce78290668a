/** Pictures with the stock OpenAI SDK, against the running service: the sandbox's, and those of a queue like fal's. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import OpenAI from "openai";
import sharp from "sharp";

import type { Job, MediaResults } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type FalServer, startFalServer } from "#tests/providers/fal/server.ts";
import { rowsOf } from "./test-models-guide.ts";
import { type DroppingAddress, openDroppingAddress } from "#tests/support/dropping-address.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { startRole } from "#tests/support/role-process.ts";
import { type ManagedProcess, startStack, type Stack } from "#tests/support/stack.ts";

const FAL_KEY = "key-of-the-local-fal";
const CREDIT = 1_000_000_000n;
const folder = temporaryDirectory();

/** A gateway in front of a vendor that answers in one exchange: it has lost the vendor. */
const broken = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response("<html>bad gateway</html>", { status: 502 }),
});

let stack: Stack;
let client: OpenAI;
let fal: FalServer;
let dropping: DroppingAddress;

const catalogueOf = (url: string): string => `
providers:
  - { id: dropping, family: fal, base_url: "${dropping.url}" }
  - { id: direct-local, family: openai-compatible, base_url: "http://127.0.0.1:${broken.port}/v1" }
  - { id: fal-local, family: fal, base_url: "${url}", api_key_env: LOCAL_FAL_API_KEY }
presets:
  - { name: few, requests_per_minute: 1, daily_tokens: null }
models:
  - slug: direct
    modality: image
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_image, image_price: "3" }
    allowed_params: { max_n: 4, sizes: [512x512] }
    sources: [{ provider: direct-local, model: painter }]
  - &queued
    slug: queued
    modality: image
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_megapixel, megapixel_price: "1" }
    allowed_params:
      max_n: 4
      sizes: [1024x768, 500x200]
      output_formats: [png, jpeg]
      default_params: { size: 500x200, steps: 4 }
    sources:
      - provider: fal-local
        model: fal-ai/flux/schnell
        fields: { n: num_images, size: image_size, seed: seed, steps: num_inference_steps, output_format: output_format }
  - <<: *queued
    slug: dropped
    sources: [{ provider: dropping, model: fal-ai/flux/schnell }, { provider: fal-local, model: fal-ai/flux/schnell }]
`;

beforeAll(async () => {
  fal = startFalServer({ apiKey: FAL_KEY });
  dropping = await openDroppingAddress();
  const catalogue = join(folder.directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueOf(fal.url));
  stack = await startStack({
    apart: true,
    pools: ["image"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      LOCAL_FAL_API_KEY: FAL_KEY,
      SLUICE_OUTBOUND_ALLOW: new URL(fal.filesUrl).host,
      SLUICE_MEDIA_WAIT_MS: "20000",
    },
  });
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  dropping.close();
  expect(await stack.query("select * from audit_ledger()")).toEqual([]);
  expect(await stack.query("select * from hold")).toEqual([]);
  await stack.stop();
  expect(fal.faults).toEqual([]);
  fal.close();
  await broken.stop(true);
  folder.remove();
});

const MODEL = "sandbox-image";
/** Workers that took over from others. */
const later: ManagedProcess[] = [];

async function post(body: unknown, url = stack.baseUrls[0], what = "generations"): Promise<Response> {
  return fetch(`${url}/v1/images/${what}`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function get(path: string): Promise<Response> {
  return fetch(`${stack.baseUrls[0]}${path}`, { headers: { authorization: `Bearer ${stack.key}` } });
}

const usageOf = (id: string | null) =>
  stack.query("select status, settled, units, source from usage_record where job_id = $1", [id]);

describe("the stock SDK", () => {
  test("gets a link to an image of the requested size, charged once", async () => {
    const { data, response } = await client.images
      .generate({ model: MODEL, prompt: "a red lighthouse at dusk", size: "512x512", user: "someone" })
      .withResponse();
    expect(validate("MediaResults", data)).toBeNull();
    const [picture, ...more] = data.data ?? [];
    expect(more).toEqual([]);
    // Without a key: a link is for a browser too.
    const linked = await fetch(picture?.url ?? "");
    expect([linked.status, linked.headers.get("content-type")]).toEqual([200, "image/png"]);
    const bytes = new Uint8Array(await linked.arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 512, height: 512 });
    expect(data).toMatchObject({ credits_used: 2 });
    expect(response.headers.get("x-credits-used")).toBe("2");
    expect(response.headers.get("x-model-used")).toBe(MODEL);
    const id = response.headers.get("x-request-id");
    expect(await usageOf(id)).toEqual([
      { status: "succeeded", settled: 2n * CREDIT, units: { images: 1 }, source: "sandbox/sandbox-image" },
    ]);
    const fileId = (picture as { file_id?: string } | undefined)?.file_id ?? "";
    const stored = await client.files.content(fileId);
    expect(new Uint8Array(await stored.arrayBuffer())).toEqual(bytes);
    const job = (await (await get(`/v1/images/jobs/${id}`)).json()) as Job;
    expect(validate("Job", job)).toBeNull();
    expect(job).toMatchObject({
      modality: "image",
      status: "completed",
      credits_used: 2,
      data: [{ file_id: fileId, content_type: "image/png" }],
    });
    const again = await fetch(String(job.data?.[0]?.["url"]));
    expect(new Uint8Array(await again.arrayBuffer())).toEqual(bytes);
  });

  test("gets the complete bytes, which are equal for the same seed", async () => {
    const ask = { model: MODEL, prompt: "two boats", response_format: "b64_json", size: "1024x1024", seed: 7 } as const;
    const [first, second] = await Promise.all([client.images.generate(ask), client.images.generate(ask)]);
    const bytes = Buffer.from(first.data?.[0]?.b64_json ?? "", "base64");
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 1024, height: 1024 });
    expect(first.data?.[0]?.url).toBeUndefined();
    expect(second.data?.[0]?.b64_json === first.data?.[0]?.b64_json).toBe(true);
    const fileId = (first.data?.[0] as { file_id?: string } | undefined)?.file_id ?? "";
    expect(bytes.equals(Buffer.from(await (await client.files.content(fileId)).arrayBuffer()))).toBe(true);
    expect(first).toMatchObject({ credits_used: 2 });
  });

  test("gets the requested number of different images in the requested format, each charged", async () => {
    const answer = await client.images.generate({
      model: MODEL,
      prompt: "a tree",
      n: 3,
      size: "256x256",
      output_format: "webp",
      output_compression: 60,
      response_format: "b64_json",
    });
    const pictures = (answer.data ?? []).map(({ b64_json: text = "" }) => text);
    expect(new Set(pictures).size).toBe(3);
    for (const text of pictures) {
      expect(await sharp(Buffer.from(text, "base64")).metadata()).toMatchObject({ format: "webp", width: 256 });
    }
    expect(answer).toMatchObject({ credits_used: 6 });
  });
});

describe("a model of the guide to the test models", () => {
  test.each(rowsOf("Images"))("$model behaves as its row states", async ({ model, outcomes, billed, sdk }) => {
    const call = client.images.generate({ model, prompt: "x", size: "256x256" }).withResponse();
    const { response, error } = await call.then(
      ({ response: answered }) => ({ response: answered, error: undefined }),
      (fault: unknown) => ({ response: undefined, error: fault as InstanceType<typeof OpenAI.APIError> }),
    );
    const id = (response?.headers ?? error?.headers)?.get("x-request-id") ?? null;
    expect(outcomes.plain).toEqual([error ? `${error.status} ${error.code}` : "200"]);
    expect(billed.plain).toBe(error ? "nothing" : "by the image");
    expect(await usageOf(id)).toMatchObject([{ settled: error ? 0n : 2n * CREDIT }]);
    const isResent = error?.headers?.get("x-should-retry") !== "false";
    const told = error && `\`${error.constructor.name}\`, ${isResent ? "resent" : "not resent"}`;
    expect(sdk.plain).toBe(told ?? "answers");
  });
});

describe("a rejected call", () => {
  test.each([
    ["a size the model has not", { model: MODEL, prompt: "x", size: "333x333" }, "unsupported_value", "size"],
    ["too many pictures", { model: MODEL, prompt: "x", n: 5 }, "unsupported_value", "n"],
    ["no picture", { model: MODEL, prompt: "x", n: 0 }, "unsupported_value", "n"],
    ["no prompt", { model: MODEL }, "missing_required_parameter", "prompt"],
    ["too many steps", { model: MODEL, prompt: "x", steps: 101 }, "unsupported_value", "steps"],
    ["half a step", { model: MODEL, prompt: "x", steps: 1.5 }, "invalid_request", "steps"],
    ["an unknown model", { model: "nobody", prompt: "x" }, "model_not_found", "model"],
    ["a chat model", { model: "sandbox-chat", prompt: "x" }, "model_not_supported", "model"],
  ])("for %s is a 400 that names the parameter, and places no hold", async (_what, body, code, param) => {
    const response = await post(body);
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([400, expect.objectContaining({ code, param })]);
    expect(await usageOf(response.headers.get("x-request-id"))).toEqual([]);
  });

  test("by the provider costs nothing and has the cause", async () => {
    for (const [model, status, code] of [
      ["sandbox-image-refuse", 502, "upstream_refused"],
      ["sandbox-image-error", 502, "upstream_error"],
    ] as const) {
      const response = await post({ model, prompt: "x" });
      const { error } = (await response.json()) as { error: { code: string; job_id?: string } };
      expect([response.status, error.code, error.job_id]).toEqual([status, code, undefined]);
      const id = response.headers.get("x-request-id");
      expect(await usageOf(id)).toMatchObject([{ status: "failed", settled: 0n }]);
      const job = (await (await get(`/v1/images/jobs/${id}`)).json()) as Job;
      expect(job).toMatchObject({ status: "failed", error: { code }, credits_used: 0 });
    }
  });
});

describe("a provider that queues", () => {
  test("is polled until it is done, its image is copied, and priced by megapixels and steps", async () => {
    const before = fal.charged;
    const response = await post({ model: "queued", prompt: "a hill", size: "500x200", steps: 8 });
    const body = (await response.json()) as MediaResults;
    expect([response.status, body.data.length]).toEqual([200, 1]);
    expect(fal.charged - before).toBe(1);
    const picture = await fetch(body.data[0]?.url ?? "");
    expect(await sharp(new Uint8Array(await picture.arrayBuffer())).metadata()).toMatchObject({
      width: 500,
      height: 200,
    });
    // 0.1 megapixels, twice the usual steps, at 1 credit a megapixel.
    expect(body.credits_used).toBe(0.2);
    expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([
      { status: "succeeded", settled: CREDIT / 5n, units: { images: 1, pixels: 100_000, steps: 8 } },
    ]);
  });
});

describe("an edit", () => {
  const picture = sharp({ create: { width: 96, height: 64, channels: 3, background: "#204080" } });
  /** Transparent, and so to be repainted, in its left half. */
  const half = Buffer.from(
    Uint8Array.from({ length: 96 * 64 * 4 }, (_, at) => (at % 4 === 3 && (at >> 2) % 96 < 48 ? 0 : 255)),
  );
  const mask = sharp(half, { raw: { width: 96, height: 64, channels: 4 } });
  const base64 = async (of: typeof picture): Promise<string> => (await of.clone().png().toBuffer()).toString("base64");
  const columns = async (text: string, x: number): Promise<Buffer> =>
    sharp(Buffer.from(text, "base64"))
      .extract({ left: x, top: 0, width: 40, height: 64 })
      .removeAlpha()
      .raw()
      .toBuffer();

  test("repaints only the open area of the mask", async () => {
    const given = await base64(picture);
    const body = { model: MODEL, prompt: "a yellow sun", response_format: "b64_json", strength: 1, seed: 3 };
    const response = await post({ ...body, image_base64: given, mask_base64: await base64(mask) }, undefined, "edits");
    const answer = (await response.json()) as MediaResults;
    expect([response.status, answer.credits_used]).toEqual([200, 2]);
    const made = answer.data[0]?.b64_json ?? "";
    expect(await sharp(Buffer.from(made, "base64")).metadata()).toMatchObject({ format: "png", width: 96, height: 64 });
    expect((await columns(made, 56)).equals(await columns(given, 56))).toBe(true);
    expect((await columns(made, 0)).equals(await columns(given, 0))).toBe(false);
    const id = response.headers.get("x-request-id");
    expect(await usageOf(id)).toMatchObject([{ status: "succeeded", settled: 2n * CREDIT, units: { images: 1 } }]);
  });

  test("ignores members that only generations have", async () => {
    const others = { seed: { a: 1 }, output_format: 7, output_compression: "much", negative_prompt: ["rain"] };
    const image_base64 = await base64(picture);
    const response = await post({ model: MODEL, prompt: "x", image_base64, ...others }, undefined, "edits");
    const answer = (await response.json()) as MediaResults;
    expect([response.status, answer.data[0]?.content_type]).toEqual([200, "image/png"]);
  });

  test("of an image outside the queue message succeeds", async () => {
    const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
    const large = sharp({ create: { width: 900, height: 600, channels: 3, background: "#000", noise } });
    const image_base64 = await base64(large);
    expect(image_base64.length).toBeGreaterThan(512 * 1024);
    const response = await post({ model: MODEL, prompt: "x", image_base64, size: "256x256" }, undefined, "edits");
    const answer = (await response.json()) as MediaResults;
    const made = await fetch(answer.data[0]?.url ?? "");
    expect(await sharp(new Uint8Array(await made.arrayBuffer())).metadata()).toMatchObject({ width: 256, height: 256 });
  });

  test.each([
    ["of no picture", { image_base64: undefined }, 400, "missing_required_parameter", "image_base64"],
    ["of what is no base64", { image_base64: "no base64!" }, 422, "unprocessable_input", "image_base64"],
    ["of what is no picture", { image_base64: "AAAA" }, 422, "unprocessable_input", "image_base64"],
    ["of a picture that is another", { image_mime_type: "image/jpeg" }, 422, "unprocessable_input", "image_base64"],
    ["of a type nobody takes", { image_mime_type: "image/svg+xml" }, 400, "unsupported_value", "image_mime_type"],
    ["with a mask that is none", { mask_base64: "AAAA" }, 422, "unprocessable_input", "mask_base64"],
    ["by a model that changes none", { model: "queued" }, 400, "edit_not_supported", "model"],
    ["by a chat model", { model: "sandbox-chat" }, 400, "model_not_supported", "model"],
  ])("%s is rejected by name and places no hold", async (_what, more, status, code, param) => {
    const image_base64 = await base64(picture);
    const response = await post({ model: MODEL, prompt: "x", image_base64, ...more }, undefined, "edits");
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([status, expect.objectContaining({ code, param })]);
    expect(await usageOf(response.headers.get("x-request-id"))).toEqual([]);
  });

  test("of a truncated image costs nothing", async () => {
    const whole = await picture.clone().png().toBuffer();
    const image_base64 = whole.subarray(0, 60).toString("base64");
    const response = await post({ model: MODEL, prompt: "x", image_base64 }, undefined, "edits");
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([422, expect.objectContaining({ code: "unprocessable_input" })]);
    expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([{ status: "failed", settled: 0n }]);
  });
});

describe("limits and failures of a call", () => {
  const postAs = (key: string, body: object): Promise<Response> =>
    fetch(`${stack.baseUrls[0]}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test("a call above the balance is rejected, and a call of exactly the balance succeeds", async () => {
    const ask = { model: MODEL, prompt: "x", n: 2, size: "256x256" };
    const poor = await createWorkspace(stack, { creditsNano: 4n * CREDIT - 1n });
    const refused = await postAs(poor.key, ask);
    const { error } = (await refused.json()) as { error: object };
    expect([refused.status, error]).toEqual([402, expect.objectContaining({ code: "insufficient_credits" })]);
    const able = await createWorkspace(stack, { creditsNano: 4n * CREDIT });
    expect((await postAs(able.key, ask)).status).toBe(200);
  });

  test("a call above the rate window is counted and rejected, and leaves no job", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 100n * CREDIT, preset: "few" });
    const ask = { model: MODEL, prompt: "x", size: "256x256" };
    expect((await postAs(key, ask)).status).toBe(200);
    const refused = await postAs(key, ask);
    const { error } = (await refused.json()) as { error: object };
    expect([refused.status, error]).toEqual([403, expect.objectContaining({ code: "rate_limit_exceeded" })]);
    expect(await stack.query("select 1 from job where workspace_id = $1", [id])).toHaveLength(1);
  });

  test("a failing model is replaced by its fallback, at the price of the fallback", async () => {
    const workspace = await createWorkspace(stack, { creditsNano: 100n * CREDIT });
    const words = ["fallback-chains", "set", "sandbox-image-error", "queued", "--workspace", workspace.id];
    const set = await stack.command("admin", ...words);
    expect([set.code, set.stderr]).toEqual([0, ""]);
    const response = await postAs(workspace.key, { model: "sandbox-image-error", prompt: "x" });
    const body = (await response.json()) as MediaResults;
    expect([response.status, body.credits_used]).toEqual([200, 0.1]);
    const told = (of: Response) =>
      ["x-model-used", "x-fallback-from", "x-fallback-depth"].map((name) => of.headers.get(name));
    expect(told(response)).toEqual(["queued", "sandbox-image-error", "1"]);
    // Whoever collects it later hears the same.
    const job = await fetch(`${stack.baseUrls[0]}/v1/images/jobs/${response.headers.get("x-request-id")}`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    });
    expect([job.status, ...told(job)]).toEqual([200, "queued", "sandbox-image-error", "1"]);
    expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([
      { status: "succeeded", settled: CREDIT / 10n, source: "fal-local/fal-ai/flux/schnell" },
    ]);
  });

  test("a chain whose models all fail is reported with the error of the call and with the failed job", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 100n * CREDIT });
    const chain = ["fallback-chains", "set", "sandbox-image-error", "direct", "--workspace", id];
    expect((await stack.command("admin", ...chain)).stderr).toBe("");
    const failed = await postAs(key, { model: "sandbox-image-error", prompt: "x", size: "512x512" });
    expect(failed.status).toBe(502);
    const job = await fetch(`${stack.baseUrls[0]}/v1/images/jobs/${failed.headers.get("x-request-id")}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { status, error } = (await job.json()) as Record<string, object>;
    expect([status, error]).toEqual(["failed", expect.objectContaining({ code: "upstream_error" })]);
    expect(error).not.toHaveProperty("fallback");
    const names = ["x-model-used", "x-fallback-from", "x-fallback-depth"];
    for (const { headers } of [failed, job])
      expect(names.map((name) => headers.get(name))).toEqual([null, "sandbox-image-error", "1"]);
    // A job that asked no fallback reports none.
    const alone = await postAs(key, { model: "direct", prompt: "x", size: "512x512" });
    expect([alone.status, ...names.map((name) => alone.headers.get(name))]).toEqual([502, null, null, null]);
  });

  test("a failing synchronous source is replaced by a fallback, or fails immediately and releases its hold", async () => {
    const workspace = await createWorkspace(stack, { creditsNano: 100n * CREDIT });
    const ask = { model: "direct", prompt: "x", size: "512x512" };
    const failed = await postAs(workspace.key, ask);
    const { error } = (await failed.json()) as { error: object };
    expect([failed.status, error]).toEqual([502, expect.objectContaining({ code: "upstream_error" })]);
    expect(await usageOf(failed.headers.get("x-request-id"))).toMatchObject([{ status: "failed", settled: 0n }]);
    expect(await stack.query("select 1 from hold where workspace_id = $1", [workspace.id])).toEqual([]);
    const other = await createWorkspace(stack, { creditsNano: 100n * CREDIT });
    const words = ["fallback-chains", "set", "direct", MODEL, "--workspace", other.id];
    expect((await stack.command("admin", ...words)).stderr).toBe("");
    const served = await postAs(other.key, ask);
    expect([served.status, served.headers.get("x-model-used")]).toEqual([200, MODEL]);
  });

  test("a queue whose address drops packets received no job: the next source generates it, and no hold remains", async () => {
    const response = await post({ model: "dropped", prompt: "a lake" });
    expect(response.status).toBe(200);
    await response.json();
    const [usage] = await usageOf(response.headers.get("x-request-id"));
    expect(usage).toMatchObject({ status: "succeeded", source: "fal-local/fal-ai/flux/schnell" });
  });

  test("an image that cannot be fetched from its provider costs nothing", async () => {
    const image = { url: "http://169.254.169.254/latest/meta-data", content_type: "image/png" };
    fal.next({ result: { status: 200, body: { images: [image], has_nsfw_concepts: [false] } } });
    const response = await post({ model: "queued", prompt: "x" });
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([502, expect.objectContaining({ code: "upstream_error" })]);
    expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([{ status: "failed", settled: 0n }]);
  });
});

type Polls = ("IN_PROGRESS" | "COMPLETED")[];

describe("a worker that ends", () => {
  const polls = (): number => fal.requests.filter(({ path }) => path.endsWith("/status")).length;
  /** Begins a call of a queued model, and waits until a worker has asked about its job. */
  async function queued(answers: Polls, body: object): Promise<() => Promise<Response>> {
    const seen = polls();
    fal.next({ polls: answers });
    const waiting = post({ model: "queued", ...body });
    await eventually("the job is asked about", () => polls() > seen);
    return () => waiting;
  }

  test("after SIGTERM hands its jobs over immediately, at the price and size of their admission", async () => {
    const narrowed = join(folder.directory, "narrowed.yaml");
    const offered = catalogueOf(fal.url).replace("sizes: [1024x768, 500x200]", "sizes: [500x200]");
    writeFileSync(narrowed, offered.replace('megapixel_price: "1"', 'megapixel_price: "3"'));
    const before = fal.charged;
    const [first, second]: [Polls, Polls] = [["IN_PROGRESS"], ["IN_PROGRESS"]];
    const hill = await queued(first, { prompt: "a hill" });
    const sea = await queued(second, { prompt: "a sea", size: "1024x768" });
    const heir = await startRole(["worker", "image"], { ...stack.env, SLUICE_CATALOGUE: narrowed });
    later.push(heir);
    await Promise.all(stack.workers.map((worker) => worker.stop()));
    for (const answers of [first, second]) answers.push("COMPLETED");
    for (const [answered, credits, settled] of [
      [hill, "0.1", CREDIT / 10n],
      [sea, "0.786432", 786_432_000n],
    ] as const) {
      const response = await answered();
      expect([response.status, response.headers.get("x-credits-used")]).toEqual([200, credits]);
      expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([{ status: "succeeded", settled }]);
    }
    expect(fal.charged - before).toBe(2);
  }, 40_000);

  test("after SIGKILL loses no job: the next worker finishes each, submitted once and charged once", async () => {
    const before = fal.charged;
    const settledBefore = (await stack.query("select * from usage_record")).length;
    const answers: Polls = ["IN_PROGRESS"];
    const hill = await queued(answers, { prompt: "a hill" });
    const slow = post({ model: "sandbox-image-slow", prompt: "x", seed: 7 });
    await eventually("both are at their providers", async () => {
      const begun = "select 1 from job where state = 'running' and provider_job ? 'job'";
      return (await stack.query(begun)).length === 2;
    });
    for (const worker of later) worker.kill("SIGKILL");
    later.push(await stack.addRole("worker", "image"));
    answers.push("COMPLETED");
    for (const [answered, settled] of [
      [slow, 2n * CREDIT],
      [hill(), CREDIT / 10n],
    ] as const) {
      // The caller may have stopped waiting by the time that the silence is noticed.
      const id = (await answered).headers.get("x-request-id");
      const job = await eventually(
        "the job ends",
        async () => {
          const found = (await (await get(`/v1/images/jobs/${id}`)).json()) as Job;
          return found.status === "completed" && found;
        },
        60_000,
      );
      expect(job).toMatchObject({ credits_used: Number(settled) / 1e9, data: [{ content_type: "image/png" }] });
      expect(await usageOf(id)).toMatchObject([{ status: "succeeded", settled }]);
    }
    expect(fal.charged - before).toBe(1);
    expect((await stack.query("select * from usage_record")).length).toBe(settledBefore + 2);
  }, 90_000);
});

describe("a workspace whose storage is full", () => {
  test("gets no images, stores none and is not charged", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 100n * CREDIT });
    // The second picture is too much.
    const used = 10n * 1_024n ** 3n - 60_000n;
    await stack.query("insert into file_storage (workspace_id, used) values ($1, $2)", [id, used]);
    const ask = { model: MODEL, prompt: "x", n: 4, size: "512x512", seed: 1 };
    const response = await fetch(`${stack.baseUrls[0]}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(ask),
    });
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([403, expect.objectContaining({ code: "storage_limit_exceeded" })]);
    expect(await usageOf(response.headers.get("x-request-id"))).toMatchObject([{ status: "failed", settled: 0n }]);
    expect(await stack.query("select id from file where workspace_id = $1 and state <> 'deleted'", [id])).toEqual([]);
    expect(await stack.query("select used from file_storage where workspace_id = $1", [id])).toEqual([{ used }]);
  }, 40_000);
});

describe("a caller that does not wait", () => {
  test("receives job_timeout with the job's id, and collects the result, which is charged once", async () => {
    const impatient = await startRole(["ingress"], { ...stack.env, SLUICE_MEDIA_WAIT_MS: "200" });
    const ask = { model: "sandbox-image-slow", prompt: "a slow snail", size: "256x256" };
    const response = await post(ask, impatient.baseUrl);
    await impatient.stop();
    const { error } = (await response.json()) as { error: { code: string; type: string; job_id?: string } };
    const id = response.headers.get("x-request-id") ?? "";
    expect([response.status, error]).toEqual([504, expect.objectContaining({ code: "job_timeout", job_id: id })]);
    expect(response.headers.get("x-should-retry")).toBe("false");
    const job = await eventually(
      "the job ends",
      async () => {
        const found = (await (await get(`/v1/images/jobs/${id}`)).json()) as Job;
        return found.status === "completed" && found;
      },
      30_000,
    );
    const picture = await fetch(String(job.data?.[0]?.["url"]));
    expect(await sharp(new Uint8Array(await picture.arrayBuffer())).metadata()).toMatchObject({ width: 256 });
    expect(await usageOf(id)).toMatchObject([{ status: "succeeded", settled: 2n * CREDIT }]);
  }, 40_000);

  test("receives a cancel from elsewhere without a retry hint", async () => {
    const before = new Set((await stack.query<{ id: string }>("select id from job")).map(({ id }) => id));
    const call = post({ model: "sandbox-image-slow", prompt: "not wanted any more", size: "256x256" });
    const id = await eventually("the job is there", async () => {
      const rows = await stack.query<{ id: string; state: string }>(
        "select id, state from job where state = 'running'",
      );
      return rows.find((row) => !before.has(row.id))?.id;
    });
    const headers = { authorization: `Bearer ${stack.key}` };
    await fetch(`${stack.baseUrls[0]}/v1/images/jobs/${id}/cancel`, { method: "POST", headers });
    const response = await call;
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([503, "false"]);
    expect(await usageOf(id)).toMatchObject([{ status: "cancelled", settled: 0n }]);
  });

  test("may disconnect: the job continues", async () => {
    const leaving = new AbortController();
    const before = (await stack.query("select id from job")).length;
    const call = client.images
      .generate({ model: "sandbox-image-slow", prompt: "x", size: "256x256" }, { signal: leaving.signal })
      .catch((error: unknown) => error);
    await eventually("the job is there", async () => (await stack.query("select id from job")).length > before);
    leaving.abort();
    expect(await call).toBeInstanceOf(OpenAI.APIUserAbortError);
    const [row] = await stack.query("select id from job order by created_at desc limit 1");
    await eventually("it is settled", async () => (await usageOf(String(row?.["id"]))).length === 1, 30_000);
    expect(await usageOf(String(row?.["id"]))).toMatchObject([{ status: "succeeded", settled: 2n * CREDIT }]);
  }, 40_000);
});
