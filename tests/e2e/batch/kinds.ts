/** The batch door for every kind of call: published over NATS, made, kept, paid for, told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import type { BatchAnswer, MediaOutcome } from "#schemas/generated/types.ts";
import shapes from "#schemas/generated/request-shapes.json" with { type: "json" };
import type { NullShape, NullShapes } from "#shared/json/absent-nulls.ts";
import { newId } from "#shared/base/ids.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import type { Storage } from "#shared/storage/client.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { ask, type Bed, createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { INLINE_INPUT_BYTES_MAX } from "#shared/calls/offload-inputs.ts";

import { sharedBed } from "./shared-bed.ts";

const CREDIT = 1_000_000_000n;
/** Base64 of a picture larger than a call may carry inline: noise does not compress. */
let largePicture: string;

let bed: Bed;
let workspace: Workspace;
let publisher: Publisher;
let storage: Storage;

beforeAll(async () => {
  const noise = { create: { width: 160, height: 160, channels: 3, background: "grey", noise: { type: "gaussian", mean: 128, sigma: 60 } } } as const; // prettier-ignore
  const picture = await sharp(noise).png().toBuffer();
  expect(picture.length).toBeGreaterThan(INLINE_INPUT_BYTES_MAX);
  largePicture = picture.toString("base64");
  bed = await sharedBed();
  workspace = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  const own = bed.stack.env;
  storage = storageOf(own);
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 120_000);
afterAll(async () => {
  storage?.close();
  await publisher?.close();
});

const bodies = (): Readonly<Record<keyof typeof KINDS, object>> => ({
  chat: ask("sandbox-chat"),
  embeddings: { model: "sandbox-embed", input: "a boat" },
  images: { model: "sandbox-image", prompt: "a boat", size: "512x512" },
  image_edits: { model: "sandbox-image", prompt: "in red", image_base64: largePicture },
  speech: { model: "sandbox-tts", input: "Good morning." },
  transcription: { model: "sandbox-stt", audio_base64: wavOf(2).toString("base64"), mime_type: "audio/wav" },
  music: { model: "sandbox-music", prompt: "a march", duration: 3 },
  video: { model: "sandbox-video", prompt: "a boat", duration: 2 },
  mesh: { model: "sandbox-3d", prompt: "a cube" },
});
/** Bodies for kinds that take no large picture. */
const BODIES = bodies();

const kinds = Object.values(KINDS);

async function fileOf(id: string): Promise<Response> {
  return fetch(`${bed.stack.baseUrls[0]}/v1/files/${id}/content`, {
    headers: { authorization: `Bearer ${workspace.key}` },
  });
}

async function jobOf(id: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${bed.stack.baseUrls[0]}/v1/images/jobs/${id}`, {
    headers: { authorization: `Bearer ${workspace.key}` },
  });
  return (await response.json()) as Record<string, unknown>;
}

/** Publishes a body, with null for each optional member that it does not have. */
function send(kind: (typeof kinds)[number], body: object, key: string = newId()): Promise<BatchAnswer> {
  const { optional = [] } = (shapes as NullShapes)[kind.route.request.schema] as NullShape;
  const nulls = Object.fromEntries(optional.map((name) => [name, null]));
  const message = { endpoint: kind.endpoint, capability: null, body: { ...nulls, ...body } };
  return publisher.submit(message, { key, pool: kind.pool });
}

describe("a batch message", () => {
  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    "of %s is run, charged and answered",
    async (name, kind) => {
      const key = newId();
      expect(await send(kind, bodies()[name], key)).toMatchObject({ status: "queued" });
      const ended = await publisher.ended(key, 60_000);
      expect(ended).toMatchObject({ key, status: "completed" });
      const job = await jobOf(ended.job_id);
      expect(job).toMatchObject({ status: "completed", credits_used: ended.credits_used });
      expect(ended.credits_used).toBeGreaterThan(0);
      if (!kind.keepsFiles) return;
      const [made] = (ended.result as unknown as MediaOutcome).data;
      const file = await fileOf(made?.file_id ?? "none");
      expect([file.status, file.headers.get("content-type")]).toEqual([200, made?.content_type ?? "none"]);
      expect((await file.arrayBuffer()).byteLength).toBe(made?.bytes ?? -1);
      expect(job["data"]).toMatchObject([{ file_id: made?.file_id }]);
    },
    90_000,
  );

  test("leaves nothing of its input in the object store", async () => {
    // Their records name what was put aside.
    const [{ aside } = { aside: 0n }] = await bed.stack.query<{ aside: bigint }>(
      "select count(*) as aside from job where work ? 'stored_inputs' and workspace_id = $1",
      [workspace.id],
    );
    expect(aside).toBe(2n);
    await eventually(
      "all is gone",
      async () => (await listObjects(storage, "claims/", undefined, 1_000)).objects.length === 0,
    );
  });

  test.each([
    ["images", "response_format", { ...BODIES.images, response_format: "b64_json" }],
    ["images", "stream", { ...BODIES.images, stream: true }],
    ["speech", "stream_format", { ...BODIES.speech, stream_format: "sse" }],
    ["transcription", "response_format", { ...BODIES.transcription, response_format: "srt" }],
    ["transcription", "file", { model: "sandbox-stt" }],
    ["image_edits", "image_file_id", { model: "sandbox-image", prompt: "x", image_file_id: "file_none" }],
    ["video", "model", { model: "sandbox-image", prompt: "x" }],
  ] as const)("of %s that cannot be a job is rejected, naming %s", async (name, param, body) => {
    const refused = await send(KINDS[name], body);
    expect(refused).toMatchObject({ status: "refused", error: { param } });
    expect(refused.credits_used ?? 0).toBe(0);
  });

  test("on the subject of another pool is rejected", async () => {
    const answer = await publisher.submit({ endpoint: "/v1/images/generations", body: BODIES.images });
    expect(answer).toMatchObject({ status: "refused", error: { code: "invalid_request", param: "endpoint" } });
  });
});

describe("a reused key", () => {
  test("matches the same body, regardless of the order of members", async () => {
    const key = newId();
    const first = await publisher.submit({ body: { ...ask("flat"), user: "a" } }, { key });
    const { user, ...rest } = { ...ask("flat"), user: "a" };
    const again = await publisher.submit({ body: { user, ...rest } }, { key });
    expect(again.job_id).toBe(first.job_id);
    expect(again.status).not.toBe("refused");
    await publisher.ended(key);
  });

  test("with another body is rejected, and the first job continues", async () => {
    const key = newId();
    const { job_id } = await publisher.submit({ body: ask("flat") }, { key });
    await publisher.ended(key);
    const other = await publisher.submit({ body: { ...ask("flat"), user: "b" } }, { key });
    expect(other).toMatchObject({ status: "refused", job_id, error: { code: "idempotency_key_reused" } });
    expect(await jobOf(job_id)).toMatchObject({ status: "completed", credits_used: 1 });
  });

  test("with another endpoint is rejected", async () => {
    const key = newId();
    await publisher.submit({ body: ask("flat") }, { key });
    await publisher.ended(key);
    const other = await publisher.submit({ endpoint: "/v1/embeddings", body: BODIES.embeddings }, { key });
    expect(other).toMatchObject({ status: "refused", error: { code: "idempotency_key_reused" } });
  });
});
