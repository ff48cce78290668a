import { describe, expect, test } from "bun:test";

import type { ImageEditInput, ImageInput, MediaCall, Polled } from "#workers/providers/media.ts";

import { ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, queued, stored } from "../engine/calls.ts";
import { useFal } from "./jobs.ts";
import { modelReply, platformReply, type Script } from "./server.ts";
import { EDIT, EVERYTHING } from "../image-calls.ts";

const serve = useFal();

const MODEL = "fal-ai/flux/dev";
const FIELDS = {
  n: "num_images",
  size: "image_size",
  seed: "seed",
  steps: "num_inference_steps",
  output_format: "output_format",
};

function start(...scripts: readonly Script[]) {
  const { server, adapters, another } = serve(...scripts);
  const [images, edits] = [queued(adapters.images), queued(adapters.imageEdits)];
  return {
    server,
    images,
    another,
    make: (input: Partial<ImageInput> = {}, call: Partial<MediaCall<ImageInput>> = {}) =>
      images.start(
        mediaCall({ prompt: "a sea otter", n: 1, ...input }, { sourceModel: MODEL, fields: FIELDS, ...call }),
      ),
    edit: (input: Partial<ImageEditInput>, call: Partial<MediaCall<ImageEditInput>>) =>
      edits.start(mediaCall({ ...EDIT, ...input }, call)),
  };
}

/** Returns the outcome of a job with these answers, once it is said to be completed. */
async function outcomeOf(script: Script, input: Partial<ImageInput> = {}): Promise<Polled<unknown>> {
  const { images, make } = start({ polls: ["COMPLETED"], ...script });
  return images.poll(await make(input), never);
}

describe("a job", () => {
  test("is submitted under its model's whole name, with the fields its source names and an end to its files", async () => {
    const { server, make } = start();
    await make({ ...EVERYTHING, outputFormat: "png", n: 2 });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: `/${MODEL}`,
        headers: {
          authorization: "Key ours",
          "x-fal-object-lifecycle-preference": '{"expiration_duration_seconds":86400}',
        },
      },
    ]);
    expect(server.requests[0]?.body).toEqual({
      prompt: "a sea otter",
      num_images: 2,
      image_size: { width: 1_536, height: 1_024 },
      seed: 7,
      num_inference_steps: 12,
      output_format: "png",
    });
  });

  test("of several pictures is not submitted as one where its source has no field for how many", async () => {
    const { server, make } = start();
    expect((await failureOf(make({ n: 2 }, { fields: { seed: "seed" } }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("is changed by its source last", async () => {
    const { server, make } = start();
    await make({}, { adapt: (body) => (body["enable_safety_checker"] = true) });
    expect(server.requests[0]?.body).toEqual({ prompt: "a sea otter", num_images: 1, enable_safety_checker: true });
  });

  test("waits, runs, and ends with addresses of its pictures, found by a process that has only what was stored", async () => {
    const { server, another, make } = start();
    const job = stored(await make({ n: 2, size: "1024x1024" }));
    const other = queued(another().images);
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    const id = String(job["request_id"]);
    expect(await other.poll(job, never)).toEqual({
      state: "done",
      output: [0, 1].map((at) => ({
        url: `${server.filesUrl}/files/${id}-${at}-1024x1024.png`,
        contentType: "image/png",
      })),
      usage: { images: 2, computeSeconds: 0.75 },
    });
    const base = `/fal-ai/flux/requests/${id}`;
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST /${MODEL}`,
      `GET ${base}/status`,
      `GET ${base}/status`,
      `GET ${base}/status`,
      `GET ${base}`,
    ]);
    expect(server.charged).toBe(1);
  });

  test.each([
    ["lie on another host", { status_url: "https://evil.example/fal-ai/flux/requests/ID/status" }],
    ["lie on another port", { response_url: "http://127.0.0.1:1/fal-ai/flux/requests/ID" }],
    ["are none", { status_url: 7, response_url: "::", cancel_url: null }],
    ["are missing", { status_url: undefined, response_url: undefined, cancel_url: undefined }],
    ["name another job", { status_url: "SELF/fal-ai/flux/requests/other/status" }],
  ])("whose addresses %s is asked about at the documented ones", async (_what, receipt) => {
    const { server, images, make } = start();
    const here = Object.entries(receipt).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace("SELF", server.url) : value,
    ]);
    server.next({ polls: ["COMPLETED"], receipt: Object.fromEntries(here) as Record<string, unknown> });
    const job = await make();
    expect((await images.poll(job, never)).state).toBe("done");
    expect(JSON.stringify(job)).not.toMatch(/evil|other|:1\//);
  });

  test("keeps the addresses of its own host, whatever they look like", async () => {
    const { server, images, make } = start();
    const id = "3f0c-1";
    server.next({ receipt: { request_id: id, status_url: `${server.url}/queue/${id}?logs=0` } });
    const job = await make();
    expect(job).toMatchObject({ request_id: id, status_path: `/queue/${id}?logs=0` });
    expect((await images.poll(job, never)).state).toBe("unknown");
  });

  test("is to ring only where it was given a bell", async () => {
    const { server, make } = start();
    await make();
    await make({}, { callbackUrl: "https://ours.example/bell?job=a b&at=1" });
    expect(server.jobs.map(({ facts }) => facts.callbackUrl)).toEqual([null, "https://ours.example/bell?job=a b&at=1"]);
  });

  test("is asked to stop by PUT, and told nothing of what comes of it", async () => {
    const { server, images, make } = start({}, { cancel: { status: 400, body: { status: "ALREADY_COMPLETED" } } });
    const [one, two] = [await make(), await make()];
    await images.cancel?.(one, never);
    await images.cancel?.(two, never);
    expect(server.requests.slice(2).map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PUT /fal-ai/flux/requests/${String(one["request_id"])}/cancel`,
      `PUT /fal-ai/flux/requests/${String(two["request_id"])}/cancel`,
    ]);
  });
});

describe("an edit", () => {
  test("carries its picture and mask where its source wants them, less what an edit never forwards", async () => {
    const { server, edit } = start();
    await edit(EVERYTHING, {
      sourceModel: "acme/painter/edit",
      fields: {
        n: "num_images",
        image: "image_urls[]",
        mask: "mask_url",
        strength: "strength",
        image_size: "resolution",
        seed: "options.seed",
        quality: "options.quality",
        style: "style",
        background: "background",
        person_generation: "people",
        steps: "num_inference_steps",
        prompt_extend: "expand",
      },
    });
    expect(server.requests[0]?.body).toEqual({
      prompt: EDIT.prompt,
      num_images: 1,
      image_urls: [`data:image/jpeg;base64,${Buffer.from(EDIT.image.bytes).toString("base64")}`],
      mask_url: `data:image/png;base64,${EDIT.mask.bytes.toString("base64")}`,
      strength: 0.6,
      resolution: "2K",
      options: { seed: 7 },
    });
  });

  test("needs a source that says where pictures go", async () => {
    const { server, edit } = start();
    expect((await failureOf(edit({}, { sourceModel: MODEL, fields: FIELDS }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });
});

describe("a submit", () => {
  test.each<[string, Reply, string]>([
    ["a key that is not taken", { status: 401, body: { detail: "Cannot access application" } }, "misconfigured"],
    [
      "an empty account",
      { status: 403, body: { detail: "User is locked. Reason: Exhausted balance." } },
      "misconfigured",
    ],
    ["no such model", { status: 404, body: { detail: "Application not found" } }, "misconfigured"],
    ["too many at once", { status: 429, body: { detail: "concurrent requests limit" } }, "busy"],
    ["no room", platformReply("runner_scheduling_failure", 503), "busy"],
    ["a bad request", platformReply("bad_request", 400), "rejected"],
    ["a refused prompt", modelReply("content_policy_violation"), "refused"],
    ["a fault", { status: 500, body: { error: { message: "oops", code: 500 } } }, "failed"],
    ["no id", { status: 200, body: {} }, "unknown"],
    ["an id that is a path", { status: 200, body: { request_id: "../../x" } }, "unknown"],
  ])("answered with %s is told by its class", async (_what, submit, kind) => {
    const { make } = start({ start: submit });
    const error = await failureOf(make());
    expect(error.kind).toBe(kind as typeof error.kind);
    expect(error.isUnsent).toBeFalse();
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
  });

  test("says when to come back where fal does", async () => {
    const { make } = start({ start: { status: 429, body: {}, headers: { "retry-after": "3" } } });
    expect(await failureOf(make())).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });
});

describe("a poll that brings no verdict", () => {
  test("but a verdict's shape in the place of a status leaves the job open", async () => {
    expect(await outcomeOf({ polls: [modelReply("content_policy_violation")] })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply]>([
    ["no JSON", ok("<html>")],
    ["another model's result", ok({ video: { url: "https://x.example/v.mp4" } })],
    ["an address that is none", ok({ images: [{ url: "data:image/png;base64,AAAA" }] })],
    ["one picture without an address", ok({ images: [{ url: "https://x.example/1.png" }, {}] })],
    ["a fault without a type", { status: 500, body: { detail: "Internal Server Error" } }],
    ["a fault of the gateway", platformReply("internal_error", 500)],
    ["a gateway's page", { status: 502, body: "<html>" }],
    ["not found", { status: 404, body: { detail: "Not Found" } }],
    ["gone", { status: 410, body: { detail: "expired" } }],
    ["a key that is no longer taken", { status: 401, body: { error: { message: "no", code: "unauthorized" } } }],
    ["too many polls", { status: 429, body: { error: { message: "slow down", code: "rate_limited" } } }],
    ["a wrong method", { status: 405, body: { detail: "Method Not Allowed" } }],
    ["a cut", "cut"],
    ["a reset", "reset"],
  ])("%s in place of its result leaves the job open", async (_what, result) => {
    expect(await outcomeOf({ result }, { n: 2 })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply]>([
    ["400", { status: 400, body: { detail: "Request is still in progress" } }],
    ["202", { status: 202, body: { status: "IN_PROGRESS" } }],
  ])("a result that is not there yet (%s) is waited for", async (_what, result) => {
    expect(await outcomeOf({ result })).toEqual({ state: "pending" });
  });
});

describe("a completed job that failed", () => {
  test.each<[string, Reply, Readonly<Record<string, unknown>>]>([
    ["a refusal", modelReply("content_policy_violation"), { kind: "refused" }],
    [
      "a refusal among others",
      { status: 422, body: { detail: [{ type: "value_error" }, { type: "content_policy_violation" }] } },
      { kind: "refused" },
    ],
    [
      "a value",
      modelReply("less_than_equal", "num_inference_steps"),
      { kind: "rejected", code: "unsupported_value", param: "steps" },
    ],
    [
      "a prompt",
      modelReply("string_too_long", "prompt"),
      { kind: "rejected", code: "invalid_request", param: "prompt" },
    ],
    ["a size", modelReply("value_error", "image_size"), { kind: "rejected", param: "size" }],
    ["a field of nobody's", modelReply("missing", "guidance_scale"), { kind: "misconfigured" }],
    ["the whole body", modelReply("value_error"), { kind: "rejected", code: "invalid_request", param: null }],
    [
      "a picture",
      modelReply("image_load_error", "image_url"),
      { kind: "rejected", code: "unprocessable_input", param: "image_base64" },
    ],
    ["a picture's size", modelReply("image_too_large"), { kind: "rejected", code: "unprocessable_input" }],
    ["no picture made", modelReply("no_media_generated"), { kind: "failed" }],
    ["the model's fault", modelReply("internal_server_error", null, 500), { kind: "failed" }],
    ["a service behind it", modelReply("downstream_service_error", null, 400), { kind: "failed" }],
    ["the model's own time limit", modelReply("generation_timeout", null, 504), { kind: "timeout" }],
    ["the platform's time limit", platformReply("request_timeout", 504), { kind: "timeout" }],
    ["a start that took too long", platformReply("startup_timeout", 504), { kind: "timeout" }],
    ["no runner", platformReply("runner_scheduling_failure", 503), { kind: "busy" }],
    ["a runner that died", platformReply("runner_disconnected", 503), { kind: "failed" }],
    ["a cancel", platformReply("client_cancelled", 499), { kind: "failed" }],
    [
      "the type in a header alone",
      { status: 500, body: "", headers: { "x-fal-error-type": "runner_server_error" } },
      { kind: "failed" },
    ],
    ["words alone", { status: 422, body: { detail: "Could not read the prompt" } }, { kind: "rejected" }],
    [
      "the gateway's shape",
      { status: 400, body: { error: { message: "no", code: "bad_input" } } },
      { kind: "rejected" },
    ],
    ["no pictures in its list", ok({ images: [] }), { kind: "failed" }],
    ["a result that is an error", ok({ detail: [{ type: "content_policy_violation" }] }), { kind: "refused" }],
  ])("over %s is told by its class", async (_what, result, expected) => {
    const outcome = await outcomeOf({ result });
    expect(outcome).toMatchObject({ state: "failed", error: expected });
    if (outcome.state === "failed") expect(outcome.error.message).not.toContain(VENDOR_MARK);
  });

  test("and says so in its status is believed when the result is silent", async () => {
    const status = ok({ status: "COMPLETED", error: "timed out", error_type: "request_timeout" });
    const outcome = await outcomeOf({ polls: [status], result: { status: 500, body: "" } });
    expect(outcome).toMatchObject({ state: "failed", error: { kind: "timeout" } });
  });

  test("by its status, but has its pictures, is done", async () => {
    const status = ok({ status: "COMPLETED", error: "a webhook failed" });
    expect((await outcomeOf({ polls: [status] })).state).toBe("done");
  });
});

describe("pictures", () => {
  const two = (more: object): Reply =>
    ok({ images: [{ url: "https://x.example/1" }, { url: "https://x.example/2" }], ...more });

  test("that the safety checker blackened are not delivered", async () => {
    const outcome = await outcomeOf({ result: two({ has_nsfw_concepts: [true, false] }) }, { n: 2 });
    expect(outcome).toEqual({ state: "done", output: [{ url: "https://x.example/2" }], usage: { images: 1 } });
  });

  test("that it blackened all of are refused", async () => {
    const outcome = await outcomeOf({ result: two({ has_nsfw_concepts: [true, true] }) }, { n: 2 });
    expect(outcome).toMatchObject({ state: "failed", error: { kind: "refused" } });
  });

  test("beyond those asked for are not paid for", async () => {
    expect(await outcomeOf({ result: two({}) }, { n: 1 })).toMatchObject({ usage: { images: 1 } });
  });

  test("may come as one, with a type that is none and a time that is none", async () => {
    const result = ok({ image: { url: "https://x.example/1", content_type: "text/html" }, timings: { inference: -1 } });
    expect(await outcomeOf({ result })).toEqual({
      state: "done",
      output: [{ url: "https://x.example/1" }],
      usage: { images: 1 },
    });
  });
});
