import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/catalogue/build.ts";
import type { Model, Source } from "#shared/catalogue/catalogue.ts";
import { loadOurLayers } from "#shared/catalogue/load.ts";
import { mergeLayers } from "#shared/catalogue/merge.ts";
import { parseDecimal } from "#shared/money.ts";
import { EVERYTHING_ON } from "#tests/shared/catalogue/build-catalogue.ts";
import { adaptTo } from "#workers/pools/source-params.ts";
import type { MediaCall, Polled, VideoInput } from "#workers/providers/media.ts";

import { callOf, EDIT, EVERYTHING } from "../image-calls.ts";
import { never, queued, useFal } from "./jobs.ts";
import { MODELS } from "./models.ts";

const serve = useFal();

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);

interface Sold {
  readonly name: string;
  readonly model: Model;
  readonly source: Source;
}

function sold(...modalities: readonly Model["modality"][]): Sold[] {
  return [...catalogue.models.values()].flatMap((model) =>
    modalities.includes(model.modality)
      ? model.sources
          .filter(({ provider }) => provider === "fal")
          .map((source) => ({ name: `${model.slug} as ${source.model}`, model, source }))
      : [],
  );
}

function asked<Input>(input: Input, source: Source): MediaCall<Input> {
  const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
  return callOf(input, { sourceModel: source.model, adapt, ...(source.fields ? { fields: source.fields } : {}) });
}

const PICTURE = { bytes: EDIT.mask.bytes, contentType: "image/png" };
const MESH = { bytes: Buffer.from("glTF"), contentType: "model/gltf-binary" };

test("each of our models at fal is one that the local server knows, of every kind", () => {
  const all = sold("image", "video", "music", "object_3d");
  expect(all.map(({ source }) => source.model).filter((model) => !(model in MODELS))).toEqual([]);
  expect(new Set(all.map(({ model }) => model.modality)).size).toBe(4);
});

describe("our picture models", () => {
  test.each(sold("image"))("$name takes what we send, whatever a caller asks", async ({ model, source }) => {
    const { offers, server } = serve({ statuses: ["COMPLETED"] });
    const input = {
      prompt: "a sea otter",
      ...EVERYTHING,
      n: model.allowed_params.max_n ?? 1,
      outputFormat: "png",
    } as const;
    const [images, edits] = [queued(offers.images), queued(offers.imageEdits)];
    const job = model.allowed_params.requires_input_image
      ? await edits.start(asked({ ...EDIT, ...input }, source))
      : await images.start(asked(input, source));
    expect(await images.poll(job, never)).toMatchObject({ state: "done", usage: { images: input.n } });
    expect(Object.keys(server.requests[0]?.body ?? {}).length).toBeGreaterThan(2);
  });
});

describe("our video models", () => {
  test.each(sold("video"))("$name takes every value that we declare", async ({ model, source }) => {
    const { durations = [], resolutions = [], aspect_ratios: ratios = [], ...rest } = model.allowed_params;
    const all: Partial<VideoInput>[] = [
      {},
      { seed: 7, negativePrompt: "blur", personGeneration: "allow_adult" },
      ...durations.map((duration) => ({ duration })),
      ...resolutions.map((resolution) => ({ resolution })),
      ...ratios.map((aspectRatio) => ({ aspectRatio })),
    ];
    const { offers, server } = serve(...all.map(() => ({ statuses: ["COMPLETED"] as const })));
    const video = queued(offers.video);
    const outcomes: Polled<unknown>[] = [];
    for (const more of all) {
      const input = { prompt: "waves", ...(rest.accepts_input_image ? { image: PICTURE } : {}), ...more };
      outcomes.push(await video.poll(await video.start(asked(input, source)), never));
    }
    expect(outcomes.filter(({ state }) => state !== "done")).toEqual([]);
    // What is declared reaches the model: no two values make the same body.
    const declared = server.requests.filter(({ method }) => method === "POST").slice(2);
    expect(new Set(declared.map(({ body }) => JSON.stringify(body))).size).toBe(all.length - 2);
  });
});

describe("our music models", () => {
  test.each(sold("music"))("$name takes what we send", async ({ model, source }) => {
    const { offers } = serve({ statuses: ["COMPLETED"] }, { statuses: ["COMPLETED"] });
    const music = queued(offers.music);
    const { default_duration: usual, max_duration_seconds: most } = model.allowed_params;
    for (const duration of [usual, most]) {
      const input = {
        prompt: "lofi",
        lyrics: "la la",
        seed: 7,
        format: "mp3",
        ...(duration ? { duration } : {}),
      } as const;
      expect((await music.poll(await music.start(asked(input, source)), never)).state).toBe("done");
    }
  });
});

describe("our 3D models", () => {
  test.each(sold("object_3d"))("$name takes what we send", async ({ model, source }) => {
    const { offers } = serve({ statuses: ["COMPLETED"] });
    const mesh = queued(offers.mesh);
    const { accepts_input_image: fromPicture, requires_input_3d: fromMesh } = model.allowed_params;
    const input = {
      prompt: "a fox",
      seed: 7,
      ...(fromPicture ? { image: PICTURE } : {}),
      ...(fromMesh ? { mesh: MESH } : {}),
    };
    expect((await mesh.poll(await mesh.start(asked(input, source)), never)).state).toBe("done");
  });
});

/** US dollars as fal's own pages print them. */
test.each([
  ["kling-2.5-turbo-pro", undefined, "0.07"],
  ["kling-2.5-turbo-standard-i2v", undefined, "0.042"],
  ["wan-2.5", undefined, "0.15"],
  ["wan-2.5", "720p", "0.10"],
  ["wan-2.5", "480p", "0.05"],
  ["wan-2.2-turbo-i2v", "580p", "0.075"],
  ["hailuo-02-pro", undefined, "0.48"],
  ["ace-step", undefined, "0.0002"],
  ["trellis", undefined, "0.02"],
  ["hyper3d-rodin", undefined, "0.4"],
  ["meshy-5-remesh", undefined, "0.2"],
])("%s in %p costs what is printed, a hundred credits to the dollar", (slug, resolution, dollars) => {
  const model = catalogue.models.get(slug);
  const variant = model?.price_variants?.find(({ when }) => when["resolution"] === resolution);
  expect((variant?.price ?? model?.price)?.unitRate).toBe(parseDecimal(dollars, 11));
});
