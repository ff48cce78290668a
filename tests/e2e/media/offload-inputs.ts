/** Media in the body of a call: beside it in the object store while it waits, and gone with it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import sharp from "sharp";

import type { Storage } from "#shared/storage/client.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { eventually } from "#tests/faults/wait.ts";
import { pngOf } from "#tests/support/png.ts";
import { storageOf } from "#tests/shared/files/bench.ts";

import { benchOfNewWorkspace, type WorkspaceBench } from "./shared-bench.ts";

const EDITS = "/v1/images/edits";

let bench: WorkspaceBench;
let storage: Storage;

beforeAll(async () => {
  bench = await benchOfNewWorkspace();
  const own = bench.stack.env;
  storage = storageOf(own);
}, 60_000);

afterAll(() => storage?.close());

/** Names of what lies aside for jobs of this story. */
async function storedMedia(): Promise<string[]> {
  const jobs = await bench.stack.query<{ id: string }>("select id from job where workspace_id = $1", [
    bench.workspace.id,
  ]);
  const { objects } = await listObjects(storage, "claims/", undefined, 1_000);
  const aside = objects.map(({ key }) => key.split("/").slice(1));
  return aside.flatMap(([job, ...name]) => (jobs.some(({ id }) => id === job) ? [name.join()] : []));
}

/** Makes a picture larger than a call may carry inline, with an alpha channel, which a mask needs. */
function noise(): Promise<Buffer> {
  return sharp(randomBytes(256 * 256 * 4), { raw: { width: 256, height: 256, channels: 4 } })
    .png()
    .toBuffer();
}

/** Colours, without what lies behind them. */
const pixels = (picture: Buffer): Promise<Buffer> => sharp(picture).removeAlpha().raw().toBuffer();

const call = (body: object): Promise<Response> =>
  bench.call(EDITS, { model: "sandbox-image", prompt: "a red boat", response_format: "b64_json", ...body });

/** Returns the resulting picture in base64. */
async function pictureOf(response: Response): Promise<string> {
  const { data } = (await response.json()) as { data: { b64_json: string }[] };
  return data[0]?.b64_json ?? "";
}

test("large images of an edit are neither in its row nor in its message, and are deleted when it has ended", async () => {
  const [image, mask] = [await noise(), await noise()];
  const [worker] = bench.stack.workers;
  worker?.kill("SIGSTOP");
  let answer: Promise<Response>;
  try {
    answer = call({ image_base64: image.toString("base64"), mask_base64: mask.toString("base64") });
    const [job] = await eventually("it is admitted", async () => {
      const rows = await bench.stack.query<{ request: string; work: { stored_inputs: Record<string, unknown> } }>(
        "select request, work from job where ended_at is null and workspace_id = $1",
        [bench.workspace.id],
      );
      return rows.length > 0 && rows;
    });
    expect(job?.request.length).toBeLessThan(1_000);
    expect(job?.work.stored_inputs).toMatchObject({
      image: { content_type: "image/png" },
      mask: { content_type: "image/png" },
    });
    expect((await storedMedia()).toSorted()).toEqual(["image", "mask"]);
  } finally {
    worker?.kill("SIGCONT");
  }
  expect((await answer).status).toBe(200);
  await eventually("nothing of it is left", async () => (await storedMedia()).length === 0);
});

test("the edited image is the sent one, for every way of sending it", async () => {
  const image = await noise();
  const form = new FormData();
  form.set("file", new File([image], "a.png", { type: "image/png" }));
  form.set("purpose", "user_data");
  const headers = { authorization: `Bearer ${bench.stack.key}` };
  const stored = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
  const { id } = (await stored.json()) as { id: string };
  // Nothing of it is to be changed.
  const background = { r: 0, g: 0, b: 0, alpha: 1 };
  const mask = await sharp({ create: { width: 256, height: 256, channels: 4, background } })
    .png()
    .toBuffer();
  for (const source of [{ image_base64: image.toString("base64") }, { image_file_id: id }]) {
    const response = await call({ ...source, mask_base64: mask.toString("base64") });
    expect(response.status).toBe(200);
    expect(await pixels(Buffer.from(await pictureOf(response), "base64"))).toEqual(await pixels(image));
  }
});

test("a video starts with the offloaded image", async () => {
  const image_url = `data:image/png;base64,${(await noise()).toString("base64")}`;
  const body = { model: "sandbox-video", prompt: "waves", duration: 1, resolution: "240p", image_url };
  const response = await bench.call("/v1/videos/generations", body);
  expect(response.status).toBe(200);
  const { id } = (await response.json()) as { id: string };
  const [job] = await bench.stack.query<{ work: { stored_inputs: unknown } }>("select work from job where id = $1", [
    id,
  ]);
  expect(job?.work.stored_inputs).toMatchObject({ image: { content_type: "image/png" } });
  expect(await bench.endOf(id)).toMatchObject({ status: "completed" });
  await eventually("nothing of it is left", async () => (await storedMedia()).length === 0);
});

test("a small image stays in its message", async () => {
  const image_base64 = pngOf(64, 64).toString("base64");
  const response = await call({ image_base64 });
  expect(response.status).toBe(200);
  const [job] = await bench.stack.query<{ work: { stored_inputs?: unknown } }>(
    "select work from job where workspace_id = $1 order by created_at desc",
    [bench.workspace.id],
  );
  expect(job?.work.stored_inputs).toBeUndefined();
});

test("internal references of a work message cannot come from a body", async () => {
  const given = { image: { reference: "1#00#files/somebody-else", content_type: "image/png" } };
  const response = await call({ image_base64: "kept", given });
  expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
    422,
    "image_base64",
  ]);
});
