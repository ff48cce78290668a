import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/catalogue/build.ts";
import type { Model, Source } from "#shared/catalogue/catalogue.ts";
import { loadOurLayers } from "#shared/catalogue/load.ts";
import { mergeLayers } from "#shared/catalogue/merge.ts";
import { parseDecimal } from "#shared/money.ts";
import { EVERYTHING_ON } from "#tests/shared/catalogue/build-catalogue.ts";
import { adaptTo } from "#workers/pools/source-params.ts";
import type { MediaCall, Polled, VideoInput } from "#workers/providers/media.ts";

import { never, queued } from "../fal/jobs.ts";
import { callOf, EDIT } from "../image-calls.ts";
import { useReplicate } from "./jobs.ts";
import { MODELS } from "./models.ts";

const serve = useReplicate();

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
          .filter(({ provider }) => provider === "replicate")
          .map((source) => ({ name: `${model.slug} as ${source.model.slice(0, 40)}`, model, source }))
      : [],
  );
}

function asked<Input>(input: Input, source: Source): MediaCall<Input> {
  const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
  return callOf(input, { sourceModel: source.model, adapt, ...(source.fields ? { fields: source.fields } : {}) });
}

const PICTURE = { bytes: EDIT.mask.bytes, contentType: "image/png" };
const END = { polls: ["succeeded"] } as const;

test("each of our models at Replicate is one that the local server knows", () => {
  const all = sold("image", "video", "music", "object_3d");
  expect(all.map(({ source }) => source.model).filter((model) => !(model in MODELS))).toEqual([]);
  expect(new Set(all.map(({ model }) => model.modality))).toEqual(new Set(["video", "music", "object_3d"]));
});

describe("our video models", () => {
  test.each(sold("video"))("$name takes every value that we declare", async ({ model, source }) => {
    const { durations = [], resolutions = [], aspect_ratios: ratios = [], ...rest } = model.allowed_params;
    const all: Partial<VideoInput>[] = [
      { seed: 7, negativePrompt: "blur", personGeneration: "allow_adult" },
      ...durations.map((duration) => ({ duration })),
      ...resolutions.map((resolution) => ({ resolution })),
      ...ratios.map((aspectRatio) => ({ aspectRatio })),
    ];
    const { offers, server } = serve(...all.map(() => END));
    const video = queued(offers.video);
    const outcomes: Polled<unknown>[] = [];
    for (const more of all) {
      const input = { prompt: "waves", ...(rest.accepts_input_image ? { image: PICTURE } : {}), ...more };
      outcomes.push(await video.poll(await video.start(asked(input, source)), never));
    }
    expect(outcomes.filter(({ state }) => state !== "done")).toEqual([]);
    // What is declared reaches the model: no two values make the same body.
    const declared = server.requests.filter(({ path }) => path.startsWith("/models")).slice(1);
    expect(new Set(declared.map(({ body }) => JSON.stringify(body))).size).toBe(all.length - 1);
  });

  test("seedance-1.5-pro is made without sound, which its price is for", async () => {
    const [seedance] = sold("video").filter(({ model }) => model.slug === "seedance-1.5-pro");
    const { offers, server } = serve();
    if (seedance) await queued(offers.video).start(asked({ prompt: "waves" }, seedance.source));
    expect(server.requests[0]?.body).toMatchObject({ input: { generate_audio: false } });
  });
});

describe("our music models", () => {
  test.each(sold("music"))("$name takes what we send", async ({ model, source }) => {
    const { offers } = serve(END);
    const music = queued(offers.music);
    const { default_duration: duration } = model.allowed_params;
    const input = {
      prompt: "lofi",
      lyrics: "la la",
      seed: 7,
      format: "mp3",
      ...(duration ? { duration } : {}),
    } as const;
    expect((await music.poll(await music.start(asked(input, source)), never)).state).toBe("done");
  });
});

describe("our 3D models", () => {
  test.each(sold("object_3d"))("$name takes what we send", async ({ model, source }) => {
    const { offers } = serve(END);
    const mesh = queued(offers.mesh);
    const picture = model.allowed_params.accepts_input_image ? { image: PICTURE } : {};
    const outcome = await mesh.poll(await mesh.start(asked({ prompt: "a fox", seed: 7, ...picture }, source)), never);
    expect(outcome).toMatchObject({ state: "done", usage: { computeSeconds: 12.5 } });
  });

  test("those that are paid by the second of computing have a bound, and Replicate ends them there", async () => {
    const timed = sold("object_3d").filter(({ model }) => model.seconds_of === "compute");
    expect(timed.map(({ model }) => model)).toMatchObject([
      { slug: "firtoz-trellis", compute_seconds_max: 300, compute_seconds_usual: 30 },
    ]);
    for (const { model, source } of timed) {
      const { offers, server } = serve();
      await queued(offers.mesh).start(asked({ image: PICTURE }, source));
      expect(server.requests.map(({ headers }) => headers["cancel-after"])).toEqual([`${model.compute_seconds_max}s`]);
    }
  });
});

/** US dollars as Replicate's own pages print them. */
test.each([
  ["seedance-1.5-pro", "480p", "0.013"],
  ["seedance-1.5-pro", undefined, "0.026"],
  ["seedance-1.5-pro", "1080p", "0.06"],
  ["kling-2.5-turbo-pro", undefined, "0.07"],
  ["stable-audio-2.5", undefined, "0.20"],
  ["minimax-music-1.5", undefined, "0.03"],
  ["firtoz-trellis", undefined, "0.001400"],
])("%s in %p costs what is printed, a hundred credits to the dollar", (slug, resolution, dollars) => {
  const model = catalogue.models.get(slug);
  const variant = model?.price_variants?.find(({ when }) => when["resolution"] === resolution);
  expect((variant?.price ?? model?.price)?.unitRate).toBe(parseDecimal(dollars, 11));
});
