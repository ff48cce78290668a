import { afterAll, expect, test } from "bun:test";

import type { Modality } from "#schemas/generated/types.ts";
import type { Provider } from "#shared/calls/model.ts";
import { withLacks } from "#shared/calls/catalogue/build.ts";
import { mediaCall, overriding } from "#tests/providers/engine/calls.ts";
import { createProviders } from "#workers/providers/index.ts";
import type { MediaKind } from "#workers/providers/media.ts";

/** Inputs that are refused where no source of a model has a field for them, and what tells them on the wire. */
const MARKS = { seed: "424242", negative_prompt: "no-umbrellas" } as const;
const INPUT = {
  prompt: "a lake",
  n: 1,
  format: "mp3",
  seed: Number(MARKS.seed),
  negativePrompt: MARKS.negative_prompt,
};

const KINDS: readonly [MediaKind, Modality, readonly (keyof typeof MARKS)[]][] = [
  ["images", "image", ["seed", "negative_prompt"]],
  ["video", "video", ["seed", "negative_prompt"]],
  ["music", "music", ["seed"]],
];

/** All that make something over the network. Google Cloud speaks Gemini's dialect, behind a token. */
const FAMILIES: readonly Provider["family"][] = [
  "anthropic",
  "deepgram",
  "elevenlabs",
  "fal",
  "gemini",
  "meshy",
  "openai-compatible",
  "replicate",
  "tripo",
];

const sent: string[] = [];
const recorder = Bun.serve({
  port: 0,
  async fetch(request) {
    sent.push(await request.text());
    return new Response("{}", { status: 400 });
  },
});
const providers = createProviders(() => "key");
afterAll(async () => {
  await providers.close();
  await recorder.stop(true);
});

/** Returns what reaches a provider of the family that names no fields of its own; undefined where it has no such kind. */
async function reaching(family: Provider["family"], kind: MediaKind, overrides = {}): Promise<string | undefined> {
  const offer = providers.media({ id: "here", family, base_url: recorder.url.href, api_key_env: "KEY" }, kind);
  if (!offer) return undefined;
  const sourceModel = family === "replicate" ? "a/b" : "m";
  const call = mediaCall(INPUT as never, { sourceModel, ...overriding(overrides) });
  sent.length = 0;
  await ("start" in offer ? offer.start(call) : offer.run(call)).catch(() => undefined);
  expect(sent.join("\n")).toContain(INPUT.prompt);
  return sent.join("\n");
}

test("a source of Gemini's that is asked by Veo's operations is told both", async () => {
  const overrides = { api: "predictLongRunning" };
  const body = await reaching("gemini", "video", overrides);
  expect(body).toContain(MARKS.seed);
  expect(body).toContain(MARKS.negative_prompt);
  expect(withLacks({ provider: "here", model: "m", overrides }, "gemini", "video").lacks).toBeUndefined();
});

test.each(FAMILIES)(
  "what the catalogue says that %s is never told is what its adapters do not send",
  async (family) => {
    for (const [kind, modality, inputs] of KINDS) {
      const body = await reaching(family, kind);
      if (body === undefined) continue;
      const { lacks = [] } = withLacks({ provider: "here", model: "m" }, family, modality);
      const unsent = inputs.filter((input) => !body.includes(MARKS[input]));
      expect({ kind, lacks }).toEqual({ kind, lacks: unsent });
    }
  },
);
