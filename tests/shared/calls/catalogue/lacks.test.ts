import { afterAll, expect, test } from "bun:test";

import type { Modality } from "#schemas/generated/types.ts";
import type { Provider } from "#shared/calls/model.ts";
import { DECISIVE_MEMBERS, type Decisive } from "#shared/calls/kinds/media-check.ts";
import { withLacks } from "#shared/calls/catalogue/build.ts";
import { mediaCall, overriding } from "#tests/providers/engine/calls.ts";
import { createProviders } from "#workers/providers/index.ts";
import type { MediaKind } from "#workers/providers/media.ts";

const media = (text: string, contentType: string) => ({ bytes: new TextEncoder().encode(text), contentType });
const MEDIA = {
  image: media("the bytes of the image", "image/png"),
  mask: media("a mask all of its own", "image/png"),
  video: media("frames of some video", "video/mp4"),
  mesh: media("vertices of the mesh", "model/gltf-binary"),
};
/** Texts by which an input is recognised on the wire: as it is, or in base64. */
const MARKS: Readonly<Record<string, readonly string[]>> = {
  seed: ["424242"],
  negative_prompt: ["no-umbrellas"],
  lyrics: ["la la la"],
  instructions: ["a deep voice"],
  ...Object.fromEntries(
    Object.entries(MEDIA).map(([name, { bytes }]) => [
      name,
      [Buffer.from(bytes).toString(), Buffer.from(bytes).toString("base64")],
    ]),
  ),
};
const INPUT = {
  prompt: "a lake",
  text: "a lake",
  n: 1,
  format: "mp3",
  speed: 1,
  voice: "someone",
  seed: 424242,
  negativePrompt: "no-umbrellas",
  lyrics: "la la la",
  instructions: "a deep voice",
};
/** Media that calls of a kind bring. */
const MEDIA_OF: Readonly<Partial<Record<MediaKind, readonly (keyof typeof MEDIA)[]>>> = {
  imageEdits: ["image"],
};

const KINDS: readonly [MediaKind, Modality, keyof typeof DECISIVE_MEMBERS][] = [
  ["images", "image", "images"],
  ["imageEdits", "image", "image_edits"],
  ["imageEdits", "upscale", "image_edits"],
  ["video", "video", "video"],
  ["music", "music", "music"],
  ["speech", "audio", "speech"],
  ["mesh", "object_3d", "mesh"],
];

/** Inputs of a kind that change what is made. */
function decisiveOf(kind: keyof typeof DECISIVE_MEMBERS): string[] {
  const { refused = {}, dropped = {} }: Decisive = DECISIVE_MEMBERS[kind];
  return [...new Set([...Object.values(refused), ...Object.values(dropped)])];
}

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
async function reaching(
  family: Provider["family"],
  kind: MediaKind,
  input: string,
  overrides = {},
): Promise<string | undefined> {
  const offer = providers.media({ id: "here", family, base_url: recorder.url.href, api_key_env: "KEY" }, kind);
  if (!offer) return undefined;
  const sourceModel = family === "replicate" ? "a/b" : "m";
  const brought = new Set<string>([...(MEDIA_OF[kind] ?? []), ...(input in MEDIA ? [input] : [])]);
  const inputs = { ...INPUT, ...Object.fromEntries(Object.entries(MEDIA).filter(([name]) => brought.has(name))) };
  // A source of fal's always names the field of an image.
  const fields = family === "fal" && kind === "imageEdits" ? { fields: { image: "image_url" } } : {};
  const call = mediaCall(inputs as never, { sourceModel, ...fields, ...overriding(overrides) });
  sent.length = 0;
  await ("start" in offer ? offer.start(call) : offer.run(call)).catch(() => undefined);
  return sent.join("\n");
}

function isSent(body: string | undefined, input: string): boolean {
  return MARKS[input]?.some((mark) => body?.includes(mark)) === true;
}

test("a Gemini source that uses Veo's operations gets both sets of gaps", async () => {
  const overrides = { api: "predictLongRunning" };
  for (const input of decisiveOf("video"))
    expect(isSent(await reaching("gemini", "video", input, overrides), input)).toBe(true);
  expect(withLacks({ provider: "here", model: "m", overrides }, "gemini", "video").lacks).toBeUndefined();
});

test.each(FAMILIES)(
  "parameters that the catalogue lists as unsupported for %s are not sent by its adapters",
  async (family) => {
    for (const [kind, modality, name] of KINDS) {
      // The fields of these follow from the task that the source names.
      if (name === "mesh" && (family === "meshy" || family === "tripo")) continue;
      const { lacks = [] } = withLacks({ provider: "here", model: "m" }, family, modality);
      for (const input of decisiveOf(name)) {
        const body = await reaching(family, kind, input);
        if (body === undefined) continue;
        // With a medium that it has no field for the call is refused before anything is sent.
        if (!(input in MEDIA) || isSent(body, input))
          expect([kind, body]).toEqual([kind, expect.stringContaining("a lake")]);
        expect([kind, input, lacks.includes(input)]).toEqual([kind, input, !isSent(body, input)]);
      }
    }
  },
);
