/** `max_credits` of calls whose tools the service runs: all turns and runs together never cost more. */
import { beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import type { ChatCompletion, SluiceSummary } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Tenant } from "#tests/support/tenant.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { MODEL, newTenant, post, REGEX, spentOf, USE_REGEX } from "./bench.ts";

let tenant: Tenant;
/** Credits of the whole loop and of its first turn, without a maximum. */
let whole: number;
let first: number;
const chatBody = { model: MODEL, messages: [{ role: "user", content: USE_REGEX }], tools: [REGEX] };
beforeAll(async () => {
  tenant = await newTenant();
  const answer = await post(tenant, "/v1/chat/completions", chatBody);
  const { sluice } = (await answer.json()) as ChatCompletion & { readonly sluice: SluiceSummary };
  whole = sluice.credits_used;
  first = sluice.turns[0]?.credits_used ?? 0;
}, 240_000);

const rounded = (credits: number): number => Number(credits.toFixed(9));

/** Asks with a maximum, and returns the summary of the loop; undefined for a refused call. Checks that the ledger agrees and fits. */
async function limited(path: string, body: object, max_credits: number, asHeader = false) {
  const before = await spentOf(tenant);
  const { baseUrls, key } = tenant;
  const answer = await fetch(`${baseUrls[0]}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...(asHeader ? { "x-max-credits": String(max_credits) } : {}),
    },
    body: JSON.stringify({ ...body, ...(asHeader ? {} : { max_credits }) }),
  });
  const read = (await answer.json()) as Record<string, unknown>;
  const spent = (await spentOf(tenant)).nano - before.nano;
  expect(spent).toBeLessThanOrEqual(Math.round(max_credits * 1e9));
  if (answer.status !== 200) {
    expect([answer.status, read["error"], spent]).toEqual([
      402,
      expect.objectContaining({ code: "max_credits_exceeded" }),
      0,
    ]);
    return undefined;
  }
  const summary = read["sluice"] as SluiceSummary;
  expect(Math.round(summary.credits_used * 1e9)).toBe(spent);
  return { summary, read };
}

test("a loop that fits is answered, and a first turn that does not fit is refused", async () => {
  const fits = await limited("/v1/chat/completions", chatBody, rounded(whole + 1));
  expect(fits?.summary).toMatchObject({ ended_by: "answer", credits_used: whole });
  expect(await limited("/v1/chat/completions", chatBody, 0.000001)).toBeUndefined();
  expect(await limited("/v1/responses", { model: MODEL, input: USE_REGEX, tools: [REGEX] }, 0.000001)).toBeUndefined();
}, 60_000);

test.each([0.1, 0.5, 0.9, 1, 1.1, 2, 5, 20])(
  "with %p of its cost a loop never costs more",
  async (share) => {
    const max = rounded(whole * share);
    await limited("/v1/chat/completions", chatBody, max);
    await limited("/v1/chat/completions", chatBody, max, true);
    await limited("/v1/responses", { model: MODEL, input: USE_REGEX, tools: [REGEX] }, max);
  },
  60_000,
);

test("a loop whose next turn does not fit ends like at its other limits, with what it has made", async () => {
  // A run of the regex follows, and then its input alone is above what is left.
  const ended: string[] = [];
  for (const more of [0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03]) {
    const max = rounded(first + more);
    const chat = await limited("/v1/chat/completions", chatBody, max);
    const response = await limited("/v1/responses", { model: MODEL, input: USE_REGEX, tools: [REGEX] }, max);
    if (chat) ended.push(chat.summary.ended_by);
    if (chat?.summary.ended_by === "max_credits") {
      expect((chat.read as unknown as ChatCompletion).choices[0]?.finish_reason).toBe("length");
    }
    if (response?.summary.ended_by === "max_credits") {
      const { status, incomplete_details: details } = parse("ModelResponse", response.read);
      expect([status, details]).toEqual(["incomplete", { reason: "max_credits" }]);
    }
  }
  expect(ended).toContain("max_credits");
}, 120_000);

test("a stream with a maximum costs no more, and reports its end", async () => {
  const before = await spentOf(tenant);
  const max_credits = rounded(whole + 1);
  const body = { model: MODEL, input: USE_REGEX, tools: [REGEX], stream: true, max_credits };
  const { response } = readStream(await (await post(tenant, "/v1/responses", body)).text());
  expect(response.sluice?.ended_by).toBe("answer");
  expect((await spentOf(tenant)).nano - before.nano).toBeLessThanOrEqual(Math.round(max_credits * 1e9));
}, 60_000);

test("a run of a tool over MCP is limited by the header", async () => {
  const send = async (credits: string) => {
    const answer = await fetch(`${tenant.baseUrls[0]}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tenant.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-max-credits": credits,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "run_tool",
          arguments: { tool: "code.regex", input: { text: { base64: "YWJj" } }, params: { pattern: "b" } },
        },
      }),
    });
    return answer.text();
  };
  const refused = await send("0.000000001");
  expect(refused).toContain("max_credits_exceeded");
  expect(await send("1")).not.toContain("max_credits_exceeded");
}, 60_000);

describe("a call of any kind", () => {
  const wav = wavOf(1);
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const LEAST = 0.000000001;

  async function refused(path: string, body: object | FormData, headers: Record<string, string> = {}) {
    const isForm = body instanceof FormData;
    const { baseUrls, key } = tenant;
    const answer = await fetch(`${baseUrls[0]}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(isForm ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: isForm ? body : JSON.stringify(body),
    });
    const { error } = (await answer.json()) as { readonly error?: object };
    expect([path, answer.status, error]).toEqual([
      path,
      402,
      expect.objectContaining({ code: "max_credits_exceeded", param: "max_credits" }),
    ]);
  }

  test.each<[string, object]>([
    ["/v1/embeddings", { model: "sandbox-embed", input: "a boat" }],
    ["/v1/images/generations", { model: "sandbox-image", prompt: "a boat" }],
    ["/v1/audio/speech", { model: "sandbox-tts", input: "Good morning." }],
    ["/v1/music/generations", { model: "sandbox-music", prompt: "a march", duration: 3 }],
    ["/v1/videos/generations", { model: "sandbox-video", prompt: "a boat", duration: 2 }],
    ["/v1/3d/generations", { model: "sandbox-3d", prompt: "a cube" }],
    [
      "/v1/capabilities/image.resize/run",
      { input: { image: { file_id: "file-sample-photo" } }, params: { width: 32 } },
    ],
  ])("is refused by %s, by member and header", async (path, body) => {
    await refused(path, { ...body, max_credits: LEAST });
    await refused(path, body, { "x-max-credits": String(LEAST) });
  });

  test("with media is refused as JSON and as a form", async () => {
    const audio = { model: "sandbox-stt", audio_base64: wav.toString("base64"), mime_type: "audio/wav" };
    const edit = { model: "sandbox-image", prompt: "in red", image_base64: (await picture).toString("base64") };
    await refused("/v1/audio/transcriptions", { ...audio, max_credits: LEAST });
    await refused("/v1/images/edits", { ...edit, max_credits: LEAST });
    const audioForm = (more: Record<string, string>): FormData => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ model: "sandbox-stt", ...more })) form.append(name, value);
      form.append("file", new File([new Uint8Array(wav)], "a.wav", { type: "audio/wav" }));
      return form;
    };
    await refused("/v1/audio/transcriptions", audioForm({ max_credits: String(LEAST) }));
    await refused("/v1/audio/transcriptions", audioForm({}), { "x-max-credits": String(LEAST) });
    const editForm = new FormData();
    for (const [name, value] of Object.entries({
      model: "sandbox-image",
      prompt: "in red",
      max_credits: "0.000000001",
    }))
      editForm.append(name, value);
    editForm.append("image", new File([new Uint8Array(await picture)], "a.png", { type: "image/png" }));
    await refused("/v1/images/edits", editForm);
  });

  test("that fits is served, and costs no more", async () => {
    const before = await spentOf(tenant);
    const image = { model: "sandbox-image", prompt: "a boat", size: "512x512", max_credits: 100 };
    expect((await post(tenant, "/v1/images/generations", image)).status).toBe(200);
    const embedding = { model: "sandbox-embed", input: "a boat", max_credits: 1 };
    expect((await post(tenant, "/v1/embeddings", embedding)).status).toBe(200);
    const run = { input: { image: { file_id: "file-sample-photo" } }, params: { width: 32 }, max_credits: 100 };
    expect((await post(tenant, "/v1/capabilities/image.resize/run", run)).status).toBe(200);
    const spent = (await spentOf(tenant)).nano - before.nano;
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual(201 * 1e9);
  });
});
