import { describe, expect, test } from "bun:test";

import { jsonReply, ok } from "../engine/behaviour.ts";
import { mediaCall, never, queued } from "../engine/calls.ts";
import { EDIT, EVERYTHING, MASK } from "../image-calls.ts";
import { pngOf } from "#tests/support/png.ts";
import { badInput, badRequest, badValue, describeQueuedJob, fault } from "../queued-job.ts";
import { asks, falJobs, gives, useFal } from "./jobs.ts";
import { detail, modelReply, platformReply } from "./server.ts";

const MODEL = "fal-ai/flux/dev";
const fields = {
  n: "num_images",
  size: "image_size",
  seed: "seed",
  steps: "num_inference_steps",
  output_format: "output_format",
};
const ONE = { url: "https://x.example/1" };
const TWO = { url: "https://x.example/2" };
const n2 = { input: { n: 2 } };
const model = (...reply: Parameters<typeof modelReply>) => ({ result: modelReply(...reply) });
const platform = (type: string, status: number) => ({ result: platformReply(type, status) });
const GATEWAY = { error: { message: "no", code: "bad_input" } };
const REFUSED = { detail: [{ type: "value_error" }, { type: "content_policy_violation" }] };

describeQueuedJob("fal images", {
  ...falJobs(({ images }) => images, { prompt: "a sea otter", n: 1 }, { sourceModel: MODEL, fields }),
  sends: [
    [
      "under their model's whole name, with the fields that its source names",
      { input: { ...EVERYTHING, outputFormat: "png", n: 2 } },
      {
        prompt: "a sea otter",
        num_images: 2,
        image_size: { width: 1_536, height: 1_024 },
        seed: 7,
        num_inference_steps: 12,
        output_format: "png",
      },
    ],
  ],
  unsent: [["as several of a source without a field for how many", { ...n2, fields: { seed: "seed" } }]],
  life: {
    asked: { input: { n: 2, size: "1024x1024" } },
    told: ({ request_id: id }, { server }) => [
      { state: "pending" },
      { state: "pending" },
      {
        state: "done",
        output: [0, 1].map((at) => ({
          url: `${server.filesUrl}/files/${String(id)}-${at}-1024x1024.png`,
          contentType: "image/png",
        })),
        usage: { images: 2, computeSeconds: 0.75 },
      },
    ],
    requests: asks("/fal-ai/flux", 3),
    file: pngOf(1_024, 1_024),
  },
  starts: [
    ["a key that is not taken", detail(401, "Cannot access application"), fault("misconfigured")],
    ["an empty account", detail(403, "User is locked. Reason: Exhausted balance."), fault("misconfigured")],
    ["no such model", detail(404, "Application not found"), fault("misconfigured")],
    ["too many at once", detail(429, "concurrent requests limit"), fault("busy")],
    ["no room", platformReply("runner_scheduling_failure", 503), fault("busy")],
    ["a bad request", platformReply("bad_request", 400), fault("rejected")],
    ["a refused prompt", modelReply("content_policy_violation"), fault("refused")],
    ["a fault", jsonReply(500, { error: { message: "oops", code: 500 } }), fault("failed")],
  ],
  done: [
    [
      "those that the safety checker let pass",
      gives({ images: [ONE, TWO], has_nsfw_concepts: [true, false] }),
      [TWO],
      { images: 1 },
      n2,
    ],
    ["more than were asked for", gives({ images: [ONE, TWO] }), [ONE], { images: 1 }],
    [
      "one, with a type that is none and a time that is none",
      gives({ image: { ...ONE, content_type: "text/html" }, timings: { inference: -1 } }),
      [ONE],
      { images: 1 },
    ],
    [
      "they are, whatever the status says of a fault",
      { polls: [ok({ status: "COMPLETED", error: "a webhook failed" })], ...gives({ images: [ONE] }) },
      [ONE],
      { images: 1 },
    ],
  ],
  pending: [
    ["a result that is not there yet (400)", { result: detail(400, "Request is still in progress") }],
    ["a result that is not there yet (202)", { result: jsonReply(202, { status: "IN_PROGRESS" }) }],
  ],
  failed: [
    ["pictures that are blackened, all of them", gives({ images: [ONE], has_nsfw_concepts: [true] }), fault("refused")],
    ["a refusal", model("content_policy_violation"), fault("refused")],
    ["a refusal among others", { result: jsonReply(422, REFUSED) }, fault("refused")],
    ["a refusal in a 200", gives(REFUSED), fault("refused")],
    ["a value", model("less_than_equal", "num_inference_steps"), badValue("steps")],
    ["a prompt", model("string_too_long", "prompt"), badRequest("prompt")],
    ["a size", model("value_error", "image_size"), { kind: "rejected", param: "size" }],
    ["a field of nobody's", model("missing", "guidance_scale"), fault("misconfigured")],
    ["the whole body", model("value_error"), badRequest(null)],
    ["a picture", model("image_load_error", "image_url"), badInput("image_base64")],
    ["a picture's size", model("image_too_large"), { kind: "rejected", code: "unprocessable_input" }],
    ["no picture made", model("no_media_generated"), fault("failed")],
    ["the model's fault", model("internal_server_error", null, 500), fault("failed")],
    ["a service behind it", model("downstream_service_error", null, 400), fault("failed")],
    ["the model's own time limit", model("generation_timeout", null, 504), fault("timeout")],
    ["the platform's time limit", platform("request_timeout", 504), fault("timeout")],
    ["a start that took too long", platform("startup_timeout", 504), fault("timeout")],
    ["no runner", platform("runner_scheduling_failure", 503), fault("busy")],
    ["a runner that died", platform("runner_disconnected", 503), fault("failed")],
    ["a cancel", platform("client_cancelled", 499), fault("failed")],
    [
      "the type in a header alone",
      { result: jsonReply(500, "", { "x-fal-error-type": "runner_server_error" }) },
      fault("failed"),
    ],
    ["words alone", { result: detail(422, "Could not read the prompt") }, fault("rejected")],
    ["the gateway's shape", { result: jsonReply(400, GATEWAY) }, fault("rejected")],
    ["no pictures in its list", gives({ images: [] }), fault("failed")],
    [
      "a fault that its status alone tells",
      {
        polls: [ok({ status: "COMPLETED", error: "timed out", error_type: "request_timeout" })],
        result: jsonReply(500, ""),
      },
      fault("timeout"),
    ],
  ],
  unclear: [
    ["a verdict in the place of a status", { polls: [modelReply("content_policy_violation")] }],
    ["a result that is no JSON", gives("<html>")],
    ["another model's result", gives({ video: { url: "https://x.example/v.mp4" } })],
    ["an address that is none", gives({ images: [{ url: "data:image/png;base64,AAAA" }] })],
    ["one picture without an address", gives({ images: [{ url: "https://x.example/1.png" }, {}] }), n2],
    ["a fault without a type", { result: detail(500, "Internal Server Error") }],
    ["a fault of the gateway", platform("internal_error", 500)],
    ["a gateway's page", { result: jsonReply(502, "<html>") }],
    ...[404, 405, 410].map((status) => [`a result of ${status}`, { result: detail(status, "no") }] as const),
    ...[401, 429].map((status) => [`a gateway's ${status}`, { result: jsonReply(status, GATEWAY) }] as const),
    ["a result that is cut", { result: "cut" }],
    ["a result that is reset", { result: "reset" }],
  ],
});

describeQueuedJob("a fal edit", {
  ...falJobs(({ imageEdits }) => imageEdits, EDIT, {
    sourceModel: "acme/painter/edit",
    fields: { n: "num_images", image: "image_urls[]" },
  }),
  sends: [
    [
      "with its picture and mask where its source wants them, less what an edit never forwards",
      {
        input: { ...EVERYTHING, mask: MASK },
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
      },
      {
        prompt: EDIT.prompt,
        num_images: 1,
        image_urls: [`data:image/jpeg;base64,${Buffer.from(EDIT.image.bytes).toString("base64")}`],
        mask_url: `data:image/png;base64,${MASK.bytes.toString("base64")}`,
        strength: 0.6,
        resolution: "2K",
        options: { seed: 7 },
      },
    ],
  ],
  unsent: [
    ["of a source that does not say where pictures go", { sourceModel: MODEL, fields }],
    [
      "with a mask of a source that has none",
      { input: { mask: MASK } },
      { kind: "rejected", code: "unsupported_value", param: "mask_base64", isUnsent: true },
    ],
  ],
  life: {
    told: ({ request_id: id }, { server }) => [
      { state: "pending" },
      { state: "pending" },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/files/${String(id)}-0-1024x768.png`, contentType: "image/png" }],
        usage: { images: 1, computeSeconds: 0.75 },
      },
    ],
    requests: asks("/acme/painter", 3),
    file: pngOf(1_024, 768),
  },
});

describe("a fal job", () => {
  const serve = useFal();
  const start = () => {
    const { server, adapters } = serve();
    const images = queued(adapters.images);
    return {
      server,
      images,
      make: () => images.start(mediaCall({ prompt: "x", n: 1 }, { sourceModel: MODEL, fields })),
    };
  };

  test.each([
    ["lie on another host", { status_url: "https://evil.example/fal-ai/flux/requests/ID/status" }],
    ["lie on another port", { response_url: "http://127.0.0.1:1/fal-ai/flux/requests/ID" }],
    ["are none", { status_url: 7, response_url: "::", cancel_url: null }],
    ["are missing", { status_url: undefined, response_url: undefined, cancel_url: undefined }],
    ["name another job", { status_url: "SELF/fal-ai/flux/requests/other/status" }],
  ])("whose addresses %s is polled at the documented ones", async (_what, receipt) => {
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

  test("keeps the addresses of its own host in any form, and stays open if they do not exist", async () => {
    const { server, images, make } = start();
    const id = "3f0c-1";
    server.next({ receipt: { request_id: id, status_url: `${server.url}/queue/${id}?logs=0` } });
    const job = await make();
    expect(job).toMatchObject({ request_id: id, status_path: `/queue/${id}?logs=0` });
    expect((await images.poll(job, never)).state).toBe("unknown");
  });
});
