/** The routes of embeddings and estimates at the edge: what is counted, held, dispatched, answered and documented. */
import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createApp } from "#ingress/app.ts";
import { calls } from "#ingress/routes/calls/calls.ts";
import { estimate } from "#ingress/routes/calls/estimate.ts";
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Model } from "#shared/calls/model.ts";
import { hasEndpoint } from "#shared/calls/kinds/models.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { validate } from "#shared/json/contracts.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import { envelopeOf, type FakeContext, fakeContext, type FakeOptions, KEY } from "../fake-context.ts";

const CATALOGUE = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);
const fakes: FakeContext[] = [];

afterEach(() => {
  for (const fake of fakes.splice(0)) fake.close();
});

function start(options: FakeOptions = {}) {
  const fake = fakeContext({ catalogue: CATALOGUE, ...options });
  fakes.push(fake);
  const app = createApp(fake.context);
  const send = (path: string, body: unknown): Promise<Response> =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  return { ...fake, send };
}

const BODY = { model: "sandbox-embed", input: ["abc", "a"], user: "someone" };

describe("POST /v1/embeddings", () => {
  test("is held for its bound and dispatched unchanged", async () => {
    const { send, counted, sent, relayed } = start();
    expect((await send("/v1/embeddings", BODY)).status).toBe(200);
    // 3 + 2 and 1 + 2 tokens at 2 credits a million.
    expect(counted.map(({ hold }) => hold)).toEqual([
      expect.objectContaining({ model: "sandbox-embed", amountNano: 16_000n, mayExceed: false, tokensMax: 8 }),
    ]);
    const message = { ...sent[0]?.head, request: JSON.parse(sent[0]?.text ?? "") as unknown };
    expect(validate("JobMessage", message)).toBeNull();
    expect(message).toMatchObject({
      kind: "embeddings",
      model: "sandbox-embed",
      hold_nano: "16000",
      may_exceed: false,
      output_tokens_max: 0,
      request: BODY,
    });
    expect(relayed[0]?.pool).toBe("chat");
  });

  test("is counted once in the window, without a hold, when it is rejected", async () => {
    const { send, counted, sent } = start();
    const bodies = ["{", { ...BODY, input: [] }, { ...BODY, model: "sandbox-chat" }, { ...BODY, dimensions: 5_000 }];
    for (const body of bodies) expect((await send("/v1/embeddings", body)).status).toBe(400);
    expect(counted.map(({ hold }) => hold)).toEqual([null, null, null, null]);
    expect(sent).toEqual([]);
  });
});

/** The least that a call for such a model brings. */
function bodyFor({ modality, supports_chat: isChat, allowed_params: needs }: Model): object {
  if (isChat) {
    const shown = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    return { messages: [{ role: "user", content: needs.requires_input_image ? [shown] : "hello" }] };
  }
  if (modality === "stt") return { audio_base64: wavOf(1).toString("base64") };
  if (modality === "audio" || modality === "embedding") return { input: "hello", instructions: "calm" };
  const picture =
    modality === "image" || modality === "upscale"
      ? { image_base64: "AAAA" }
      : { image_url: "https://example.com/a.png" };
  return {
    prompt: "hello",
    ...(needs.requires_input_image ? picture : {}),
    ...(needs.requires_input_video ? { video_url: "https://example.com/a.mp4" } : {}),
    ...(needs.strength?.required ? { strength: 0.5 } : {}),
    ...(needs.requires_input_3d ? { mesh_url: "https://example.com/a.glb" } : {}),
  };
}

describe("POST /v1/models/{slug}/estimate", () => {
  test("answers immediately: counted like any call, neither held nor dispatched", async () => {
    const { send, counted, sent } = start();
    const response = await send("/v1/models/sandbox-embed/estimate", BODY);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: "sandbox-embed", max_credits: 0.000016 });
    expect(counted.map(({ hold }) => hold)).toEqual([null]);
    expect(sent).toEqual([]);
  });

  test("accepts an escaped slug, and rejects an invalid one", async () => {
    const { send } = start();
    expect((await send("/v1/models/sandbox%2Dembed/estimate", { input: "a" })).status).toBe(200);
    for (const slug of ["nobody", "__proto__", "%00"]) {
      const response = await send(`/v1/models/${slug}/estimate`, { input: "a" });
      expect([response.status, (await envelopeOf(response)).code]).toEqual([400, "model_not_found"]);
    }
  });

  test("counts a rejected estimate once as well", async () => {
    const { send, counted } = start();
    expect((await send("/v1/models/sandbox-embed/estimate", { input: "" })).status).toBe(400);
    expect(counted).toHaveLength(1);
  });

  test("works for every offered model", async () => {
    const { send } = start({ bodyBytesMax: 1_000_000 });
    for (const [slug, model] of [...CATALOGUE.models].filter(([, one]) => hasEndpoint(one))) {
      const body = bodyFor(model);
      const response = await send(`/v1/models/${slug}/estimate`, body);
      const result: unknown = await response.json();
      expect([slug, response.status, validate("Estimate", result)]).toEqual([slug, 200, null]);
      const { estimated_credits: typical, max_credits: most } = result as Record<string, number>;
      expect(typical).toBeGreaterThan(0);
      expect(most).toBeGreaterThanOrEqual(typical ?? Infinity);
    }
  });
});

/** Codes in `new ApiError("…")` and in `refusal("…")` of these files. */
function thrownIn(...files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const source = readFileSync(join(PROJECT_ROOT, file), "utf8");
    return [...source.matchAll(/(?:new ApiError|refusal)\(\s*"([a-z_]+)"/g)].map(([, code]) => code ?? "");
  });
}

test("the codes of checks and bodies are documented", () => {
  const { context } = start();
  const common = ["shared/json/parse.ts", "ingress/core/body.ts", "shared/calls/kinds/models.ts"];
  const checks = thrownIn(...common, "shared/calls/kinds/embeddings.ts");
  expect(checks.length).toBeGreaterThan(10);
  expect(calls(context).find(({ path }) => path === "/v1/embeddings")?.errors).toEqual(
    expect.arrayContaining(checks) as never,
  );
  const chat = thrownIn(
    "shared/calls/estimate/estimate.ts",
    "shared/calls/kinds/chat/constraints.ts",
    "shared/net/guard.ts",
  );
  expect(estimate(context).errors).toEqual(expect.arrayContaining([...checks, ...chat]) as never);
});
