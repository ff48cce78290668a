/** Isolation of callers: a slow provider or server of one never makes another wait. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import sharp from "sharp";

import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { pngOf } from "#tests/support/png.ts";
import { soundOf } from "#tests/providers/sounds.ts";

import { type Bench, CREDIT } from "./bench.ts";
import { localBench, playProvider } from "./local-bench.ts";

/** Half of it is enough to tell what it is. */
const SOUND = Buffer.concat([soundOf("mp3"), Buffer.alloc(4_000, 7)]);
const HALF = SOUND.length >> 1;

let bench: Bench;
let asked = 0;
/** In base64; several times the budget of the service under test. */
let large: string;
let held = Promise.withResolvers<void>();
/** Speaks the first half at once and the rest when it is let; hands `/stuck` out when it is let, other pictures at once. */
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/audio/speech") return new Response(spoken(), { headers: { "content-type": "audio/mpeg" } });
    if (pathname === "/images/generations") {
      const { prompt } = (await request.json()) as { prompt: string };
      if (prompt === "large") return Response.json({ created: 1, data: [{ b64_json: large }] });
      return Response.json({ created: 1, data: [{ url: `${origin}/${prompt}` }] });
    }
    asked += 1;
    if (pathname === "/stuck") await held.promise;
    return new Response(new Uint8Array(pngOf(64, 48)), { headers: { "content-type": "image/png" } });
  },
});

function spoken(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new Uint8Array(SOUND.subarray(0, HALF)));
      await held.promise;
      controller.enqueue(new Uint8Array(SOUND.subarray(HALF)));
      controller.close();
    },
  });
}

const common = { owned_by: "local", created: 1_700_000_000 };
playProvider({
  url: provider.url,
  provider: { id: "local", breaker: "off" },
  models: [
    {
      ...common,
      slug: "local-image",
      modality: "image",
      pricing: { unit: "per_image", image_price: "1" },
      sources: [{ provider: "local", model: "m", overrides: { response_format: "url" } }],
    },
    {
      ...common,
      slug: "local-tts",
      modality: "audio",
      pricing: { unit: "per_request", request_price: "1" },
      allowed_params: { response_formats: ["mp3"] },
      sources: [{ provider: "local", model: "m" }],
    },
  ],
});

beforeAll(async () => {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const create = { width: 1_200, height: 900, channels: 3, background: "#000", noise } as const;
  large = (await sharp({ create }).png().toBuffer()).toString("base64");
  bench = await localBench();
}, 60_000);

afterAll(async () => {
  held.resolve();
  await provider.stop(true);
});

function postAs(key: string, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(bench.stack.baseUrls[0] + path, { method: "POST", headers, body: JSON.stringify(body) });
}

function draw(key: string, prompt: string): Promise<Response> {
  return postAs(key, "/v1/images/generations", { model: "local-image", prompt });
}

test("a fifth caller receives the first audio while four others pause, and all receive the remainder", async () => {
  const voices = [];
  for (let voice = 1; voice <= 5; voice++) {
    const body = { model: "local-tts", input: "Hello.", voice: "alloy" };
    const reader = (await postAs(bench.stack.key, "/v1/audio/speech", body)).body?.getReader();
    const first = await reader?.read();
    expect([voice, (first?.value?.length ?? 0) > 0]).toEqual([voice, true]);
    voices.push({ reader, pieces: [first?.value ?? new Uint8Array()] });
  }
  held.resolve();
  for (const { reader, pieces } of voices) {
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) pieces.push(next.value);
    expect(Buffer.concat(pieces).equals(SOUND)).toBe(true);
  }
});

test("an image is stored while all downloads of another workspace are blocked", async () => {
  held = Promise.withResolvers();
  const stuck = Array.from({ length: 6 }, () => draw(bench.stack.key, "stuck"));
  await eventually("all downloads hang", () => asked === 6, 5_000);
  const { key: other } = await createWorkspace(bench.stack, { creditsNano: 100n * CREDIT });
  const picture = await draw(other, "free");
  expect([picture.status, await picture.json()]).toMatchObject([200, { data: [{ file_id: expect.any(String) }] }]);
  held.resolve();
  for (const response of await Promise.all(stuck))
    expect([response.status, await response.json()]).toMatchObject([200, {}]);
});

test("results above the memory budget are stored one after the other, and no memory stays reserved", async () => {
  const { key: other } = await createWorkspace(bench.stack, { creditsNano: 100n * CREDIT });
  const keys = [bench.stack.key, other, bench.stack.key, other, bench.stack.key];
  for (const response of await Promise.all(keys.map((key) => draw(key, "large")))) {
    expect([response.status, await response.json()]).toMatchObject([200, { data: [{ file_id: expect.any(String) }] }]);
  }
  await eventually("nothing is held any more", async () => {
    const page = await (await fetch(`${bench.stack.processes[0]?.adminUrl}/metrics`)).text();
    return /^sluice_result_bytes\{[^}]*pool="image"[^}]*\} 0$/m.test(page);
  });
});
