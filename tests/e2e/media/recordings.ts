/** Transcribed recordings: who may send them, where they lie meanwhile, what is left of them, what they cost. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { commandLine } from "#deploy/embedded/probe.mjs";
import type { Storage } from "#shared/storage/client.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { pngOf } from "#tests/support/png.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { beginUpload, part } from "#tests/support/raw-form.ts";
import { UPLOADS_PER_WORKSPACE_MAX } from "#shared/files/uploads.ts";

import { CREDIT, errorOf } from "./bench.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";
import { type LocalBench, localBench, playProvider } from "./local-bench.ts";

const SOUND = wav();
const PATH = "/v1/audio/transcriptions";

let bench: LocalBench;
let storage: Storage;
/** Answers when it is let, and has heard nothing of any length. */
let answers: PromiseWithResolvers<void>;
let asked: PromiseWithResolvers<void>;
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await request.arrayBuffer();
    asked.resolve();
    await answers.promise;
    return Response.json({ text: "hm", duration: 0, language: "english", segments: [], words: [] });
  },
});

playProvider({
  url: provider.url,
  provider: { id: "local-stt" },
  models: [
    {
      slug: "local-stt",
      modality: "stt",
      owned_by: "local",
      created: 1_700_000_000,
      pricing: { unit: "per_minute", minute_price: "60" },
      allowed_params: {
        response_formats: ["json", "verbose_json"],
        supported_inputs: ["audio"],
        requires_input_audio: true,
      },
      sources: [{ provider: "local-stt", model: "whisper" }],
    },
  ],
});

beforeAll(async () => {
  bench = await localBench();
  const own = bench.stack.env;
  storage = storageOf(own);
}, 60_000);

afterAll(async () => {
  storage.close();
  await provider.stop(true);
});

function send(model: string, key = bench.stack.key, type = "audio/wav"): Promise<Response> {
  const body = new FormData();
  body.append("model", model);
  body.append("response_format", "verbose_json");
  body.append("file", new File([new Uint8Array(SOUND)], "talk.wav", { type }));
  return fetch(bench.stack.baseUrls[0] + PATH, { method: "POST", headers: { authorization: `Bearer ${key}` }, body });
}

function postAs(key: string, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(bench.stack.baseUrls[0] + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function storedClaims(): Promise<string[]> {
  return (await listObjects(storage, "claims/", undefined, 1_000)).objects.map(({ key }) => key);
}

/** Children of this process that look at recordings; undefined while there are none. */
function probesOf(pid: number): string[] | undefined {
  const tasks = `/proc/${pid}/task`;
  const found = readdirSync(tasks).flatMap((task) =>
    readFileSync(join(tasks, task, "children"), "utf8")
      .split(" ")
      .filter((child) => child !== "" && commandLine(Number(child)).includes("shared/media/probe")),
  );
  return found.length > 0 ? found : undefined;
}

function spooled(): string[] {
  const folders = readdirSync(bench.scratch).filter((name) => name.startsWith("sluice-spool-"));
  return folders.flatMap((name) => readdirSync(join(bench.scratch, name)));
}

describe("a recording", () => {
  test("is not on disk during the provider's work, and charged by our own length if the provider reports none", async () => {
    answers = Promise.withResolvers();
    asked = Promise.withResolvers();
    const call = send("local-stt");
    await asked.promise;
    expect(spooled()).toEqual([]);
    answers.resolve();
    const response = await call;
    expect(await response.json()).toMatchObject({ text: "hm", duration: 1 });
    expect(await bench.usageOf(response)).toMatchObject([
      { status: "succeeded", settled: CREDIT, units: { seconds: 1 }, is_estimated: false },
    ]);
  });

  test("is judged by its bytes, regardless of its source and name", async () => {
    const plain = await (await send("sandbox-stt")).json();
    expect(plain).toMatchObject({ duration: 1 });
    for (const type of ["audio/mpeg", "image/png", "text/plain", "nonsense"]) {
      expect(await (await send("sandbox-stt", undefined, type)).json()).toEqual(plain);
      const audio_base64 = Buffer.from(SOUND).toString("base64");
      const body = { model: "sandbox-stt", response_format: "verbose_json", audio_base64, mime_type: type };
      const response = await bench.call(PATH, body);
      expect([response.status, await response.json()]).toEqual([200, plain]);
    }
  });

  test("is inspected in its own process", async () => {
    const { pid } = bench.stack.processes[0] ?? { pid: 0 };
    const [response, children] = await Promise.all([send("sandbox-stt"), eventually("a child", () => probesOf(pid))]);
    expect([response.status, children.length]).toEqual([200, 1]);
  });

  test("is not inspected for a caller without credits, nor for an unknown model", async () => {
    const { id, key } = await createWorkspace(bench.stack, { creditsNano: 0n });
    const audio_base64 = Buffer.from("no sound at all").toString("base64");
    const refused = await postAs(key, PATH, { model: "local-stt", audio_base64 });
    expect(await errorOf(refused)).toMatchObject({ status: 402, code: "insufficient_credits" });
    const unknown = await postAs(key, PATH, { model: "no-such-model", audio_base64 });
    expect(await errorOf(unknown)).toMatchObject({ status: 400, code: "model_not_found" });
    const [window] = await bench.stack.query<{ calls: bigint }>(
      "select calls from rate_window where workspace_id = $1",
      [id],
    );
    expect(window?.calls).toBe(2n);
  });

  test("in the file store is not read for a billing key, not even its length", async () => {
    const { id, key } = await createWorkspace(bench.stack, { creditsNano: CREDIT });
    await bench.stack.query("update member set role = 'billing' where workspace_id = $1", [id]);
    const file_id = "file-0123456789abcdef0123456789abcdef";
    for (const path of [PATH, "/v1/models/sandbox-stt/estimate"]) {
      expect(await errorOf(await postAs(key, path, { model: "sandbox-stt", file_id }))).toMatchObject({
        status: 403,
        code: "permission_denied",
        param: "file_id",
      });
    }
  });
});

describe("slow uploads of recordings", () => {
  test("are limited to a workspace's share of the disk, and release it when their callers disconnect", async () => {
    const { key } = await createWorkspace(bench.stack, { creditsNano: CREDIT });
    const begin = part('name="file"; filename="talk.wav"', SOUND).subarray(0, 1_000);
    const dripping = Array.from({ length: UPLOADS_PER_WORKSPACE_MAX }, () =>
      beginUpload(bench.stack.baseUrls[0] ?? "", key, {}, PATH),
    );
    for (const upload of dripping) await upload.send(begin);
    await eventually("all lie on the disk", async () => spooled().length === dripping.length);
    const [refused, other] = await Promise.all([send("sandbox-stt", key), send("sandbox-stt")]);
    expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(other.status).toBe(200);
    for (const { socket } of dripping) socket.destroy();
    await eventually("all are off the disk", async () => spooled().length === 0);
    expect((await send("sandbox-stt", key)).status).toBe(200);
  }, 30_000);
});

describe("a call rejected for missing credits", () => {
  test("leaves neither its recording nor its large request", async () => {
    const before = await storedClaims();
    const { key } = await createWorkspace(bench.stack, { creditsNano: 1n });
    expect(await errorOf(await send("sandbox-stt", key))).toMatchObject({ status: 402, code: "insufficient_credits" });
    const image_base64 = Buffer.concat([pngOf(64, 64), Buffer.alloc(1_048_576)]).toString("base64");
    const edit = { model: "sandbox-image", prompt: "a hat", image_base64 };
    const refused = await errorOf(await postAs(key, "/v1/images/edits", edit));
    expect(refused).toMatchObject({ status: 402, code: "insufficient_credits" });
    // What calls before have left may go meanwhile.
    await eventually("nothing of them is stored", async () =>
      (await storedClaims()).every((key) => before.includes(key)),
    );
  });
});
