/** Our catalogue's models at fal and Replicate: each is known there, takes what we send for it, and costs what is printed. */
import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Model, Source } from "#shared/calls/model.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { parseDecimal } from "#shared/base/money.ts";
import { EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { adaptTo } from "#workers/calls/source-params.ts";
import type { MediaAdapter, Polled, StartCall, VideoInput } from "#workers/providers/media.ts";

import { mediaCall, never, queued } from "./engine/calls.ts";
import { useFal } from "./fal/jobs.ts";
import { MODELS as FAL_MODELS } from "./fal/models.ts";
import { EDIT, EVERYTHING, MASK } from "./image-calls.ts";
import { useReplicate } from "./replicate/jobs.ts";
import { MODELS as REPLICATE_MODELS } from "./replicate/models.ts";

const fal = useFal();
const replicate = useReplicate();

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);

/** A server of the vendor whose jobs are done when they are first asked about. */
const VENDORS = {
  fal: {
    models: FAL_MODELS,
    start: (jobs: number) => fal(...Array.from({ length: jobs }, () => ({ polls: ["COMPLETED"] as const }))),
  },
  replicate: {
    models: REPLICATE_MODELS,
    start: (jobs: number) => replicate(...Array.from({ length: jobs }, () => ({ polls: ["succeeded"] as const }))),
  },
};
type Vendor = keyof typeof VENDORS;

interface Sold {
  readonly name: string;
  readonly vendor: Vendor;
  readonly model: Model;
  readonly source: Source;
}

function sold(modality: Model["modality"], ...vendors: readonly Vendor[]): Sold[] {
  const models = [...catalogue.models.values()].filter((model) => model.modality === modality);
  return (vendors.length > 0 ? vendors : (Object.keys(VENDORS) as Vendor[])).flatMap((vendor) =>
    models.flatMap((model) => {
      const sources = model.sources.filter(({ provider }) => provider === vendor);
      return sources.map((source) => ({ name: `${model.slug} at ${vendor}`, vendor, model, source }));
    }),
  );
}

function asked<Input>(input: Input, source: Source): StartCall<Input> {
  const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
  return mediaCall(input, { sourceModel: source.model, adapt, fields: source.fields ?? null });
}

async function outcomeOf<Input>(
  adapter: MediaAdapter<Input, unknown> | undefined,
  input: Input,
  source: Source,
): Promise<Polled<unknown>> {
  return queued(adapter).poll(await queued(adapter).start(asked(input, source)), never);
}

const IMAGE = { bytes: MASK.bytes, contentType: "image/png" };
const MESH = { bytes: Buffer.from("glTF"), contentType: "model/gltf-binary" };

test.each<[Vendor, readonly Model["modality"][]]>([
  ["fal", ["image", "video", "music", "object_3d"]],
  ["replicate", ["video", "music", "object_3d"]],
])("each model at %s is known to the local server, for every kind", (vendor, modalities) => {
  const all = (["image", "video", "music", "object_3d"] as const).flatMap((modality) => sold(modality, vendor));
  expect(all.map(({ source }) => source.model).filter((model) => !(model in VENDORS[vendor].models))).toEqual([]);
  expect(new Set(all.map(({ model }) => model.modality))).toEqual(new Set(modalities));
});

test.each(sold("image"))(
  "$name accepts our image request, for every caller's setting",
  async ({ vendor, model, source }) => {
    const { adapters, server } = VENDORS[vendor].start(1);
    const { max_n: n = 1, requires_input_image: isEdit } = model.allowed_params;
    const input = { prompt: "a sea otter", ...EVERYTHING, n, outputFormat: "png" } as const;
    const outcome = isEdit
      ? outcomeOf(adapters.imageEdits, { ...EDIT, ...input }, source)
      : outcomeOf(adapters.images, input, source);
    expect(await outcome).toMatchObject({ state: "done", usage: { images: n } });
    expect(Object.keys(server.requests[0]?.body ?? {}).length).toBeGreaterThan(2);
  },
);

test.each(sold("video"))("$name accepts every declared value", async ({ vendor, model, source }) => {
  const { durations = [], resolutions = [], aspect_ratios: ratios = [], ...rest } = model.allowed_params;
  const declared: Partial<VideoInput>[] = [
    ...durations.map((duration) => ({ duration })),
    ...resolutions.map((resolution) => ({ resolution })),
    ...ratios.map((aspectRatio) => ({ aspectRatio })),
  ];
  const all = [{}, { seed: 7, negativePrompt: "blur", personGeneration: "allow_adult" }, ...declared];
  const { adapters, server } = VENDORS[vendor].start(all.length);
  for (const more of all) {
    const input = { prompt: "waves", ...(rest.accepts_input_image ? { image: IMAGE } : {}), ...more };
    expect((await outcomeOf(adapters.video, input, source)).state).toBe("done");
  }
  // What is declared reaches the model: no two values make the same body.
  const sent = server.requests.filter(({ method }) => method === "POST").slice(2);
  expect(new Set(sent.map(({ body }) => JSON.stringify(body))).size).toBe(declared.length);
});

test.each(sold("music"))("$name accepts our request for music", async ({ vendor, model, source }) => {
  const { default_duration: usual, max_duration_seconds: most } = model.allowed_params;
  const { adapters } = VENDORS[vendor].start(2);
  for (const duration of [usual, most]) {
    const input = {
      prompt: "lofi",
      lyrics: "la la",
      seed: 7,
      format: "mp3",
      ...(duration ? { duration } : {}),
    } as const;
    expect((await outcomeOf(adapters.music, input, source)).state).toBe("done");
  }
});

test.each(sold("object_3d"))("$name accepts our request for a mesh", async ({ vendor, model, source }) => {
  const { accepts_input_image: fromImage, requires_input_3d: fromMesh } = model.allowed_params;
  const media = { ...(fromImage ? { image: IMAGE } : {}), ...(fromMesh ? { mesh: MESH } : {}) };
  const { adapters } = VENDORS[vendor].start(1);
  expect((await outcomeOf(adapters.mesh, { prompt: "a fox", seed: 7, ...media }, source)).state).toBe("done");
});

describe("at Replicate", () => {
  test("seedance-1.5-pro is generated without audio, which its price is for", async () => {
    const [seedance] = sold("video", "replicate").filter(({ model }) => model.slug === "seedance-1.5-pro");
    const { adapters, server } = replicate();
    if (seedance) await queued(adapters.video).start(asked({ prompt: "waves" }, seedance.source));
    expect(server.requests[0]?.body).toMatchObject({ input: { generate_audio: false } });
  });

  test("a model priced by computing time has a bound, and Replicate stops it there", async () => {
    const timed = sold("object_3d", "replicate").filter(({ model }) => model.seconds_of === "compute");
    expect(timed.map(({ model }) => model)).toMatchObject([
      { slug: "firtoz-trellis", compute_seconds_max: 300, compute_seconds_usual: 30 },
    ]);
    for (const { model, source } of timed) {
      const { adapters, server } = VENDORS.replicate.start(1);
      const outcome = await outcomeOf(adapters.mesh, { image: IMAGE }, source);
      expect(outcome).toMatchObject({ state: "done", usage: { computeSeconds: 12.5 } });
      expect(server.requests[0]?.headers["cancel-after"]).toBe(`${model.compute_seconds_max}s`);
    }
  });
});

/** US dollars as fal's and Replicate's own pages print them. */
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
  ["seedance-1.5-pro", "480p", "0.013"],
  ["seedance-1.5-pro", undefined, "0.026"],
  ["seedance-1.5-pro", "1080p", "0.06"],
  ["stable-audio-2.5", undefined, "0.20"],
  ["minimax-music-1.5", undefined, "0.03"],
  ["firtoz-trellis", undefined, "0.001400"],
])("%s in %p costs the listed price, a hundred credits to the dollar", (slug, resolution, dollars) => {
  const model = catalogue.models.get(slug);
  const variant = model?.price_variants?.find(({ when }) => when["resolution"] === resolution);
  expect((variant?.price ?? model?.price)?.unitRate).toBe(parseDecimal(dollars, 11));
});
