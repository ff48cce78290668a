/** Our catalogue's video models of Google's: what is sent for them, and what they cost. */
import { describe, expect, test } from "bun:test";

import type { VideoGenerationRequest } from "#schemas/generated/types.ts";
import { checkVideo } from "#shared/calls/kinds/video.ts";
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Model, Source } from "#shared/calls/model.ts";
import { EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { adaptTo } from "#workers/calls/source-params.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";

import { never, queued, useServers } from "../engine/calls.ts";
import { startGeminiVideoServer } from "../gemini/video-server.ts";
import { startGoogleCloudServer } from "./server.ts";
import { IMAGE, videoCall } from "../video-calls.ts";

const own = useServers();

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);
const OURS = [...catalogue.models.values()].filter(
  ({ modality, sources }) => modality === "video" && sources.some(({ provider }) => isGoogle(provider)),
);

function isGoogle(provider: string): boolean {
  return provider === "google" || provider === "google-cloud";
}

function model(slug: string): Model {
  const found = catalogue.models.get(slug);
  if (found) return found;
  throw new Error(`expected the model ${slug}`);
}

function started(source: Source) {
  if (source.provider === "google") {
    const server = own(startGeminiVideoServer({ apiKey: "k" }));
    return {
      video: queued(createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "k" } }).video),
      requests: server.requests,
    };
  }
  const server = startGoogleCloudServer();
  own(server.veo);
  own(server.identity);
  const endpoint = { baseUrl: server.url, headers: {} };
  return {
    video: queued(createGoogleCloud(endpoint, server.credentials, () => server.clock.now).video),
    requests: server.veo.requests,
  };
}

type CallOf = Readonly<Partial<Record<keyof VideoGenerationRequest, unknown>>>;

/** The body that goes out for a request to the model's only source, which took it. */
async function sentFor({ slug, sources, ...rest }: Model, asked: CallOf): Promise<unknown> {
  const [source] = sources;
  if (!source) throw new Error(`expected a source of ${slug}`);
  const request = { model: slug, prompt: "a sea otter", ...asked } as VideoGenerationRequest;
  const { params } = checkVideo(request, { slug, sources, ...rest });
  const { video, requests } = started(source);
  const job = await video.start(
    videoCall(
      { ...params, ...(asked["image_url"] === undefined ? {} : { image: IMAGE }) },
      {
        sourceModel: source.model,
        adapt: (body) => adaptTo(source, body),
        ...(source.fields ? { fields: source.fields } : {}),
      },
    ),
  );
  const sent = requests[0]?.body;
  expect(await video.poll(job, never), slug).toMatchObject({ state: "pending" });
  return sent;
}

describe("Google's video models", () => {
  test("are these", () => {
    expect(OURS.map(({ slug }) => slug).toSorted()).toEqual([
      "gemini-omni-1.1-flash",
      "gemini-omni-1.2-flash",
      "veo-3.1",
      "veo-3.1-fast",
      "veo-3.1-lite",
    ]);
  });

  test.each(OURS.map((one) => [one.slug, one] as const))(
    "%s sends every allowed parameter in a body that the vendor accepts",
    async (_slug, one) => {
      const { durations = [], resolutions = [], aspect_ratios: ratios = [], person_generation } = one.allowed_params;
      expect(durations.length * resolutions.length * ratios.length).toBeGreaterThan(0);
      for (const [index, duration] of durations.entries()) {
        const resolution = resolutions[index % resolutions.length] ?? "";
        const aspect_ratio = ratios[index % ratios.length] ?? "";
        const persons = person_generation === undefined ? {} : { person_generation: person_generation[0] };
        const image_url = "https://x.example/a.jpg";
        const veoOnly = one.slug.startsWith("veo") ? { seed: 7, negative_prompt: "blur" } : {};
        const asked = { duration, resolution, aspect_ratio, image_url, ...veoOnly, ...persons };
        const sent = JSON.stringify(await sentFor(one, asked));
        expect(sent).toMatch(new RegExp(`"duration(?:Seconds":${duration}[,}]|":"${duration}s")`));
        for (const value of [resolution, aspect_ratio]) expect(sent).toContain(`:"${value}"`);
      }
    },
  );

  test("state the dimensions of their price also for default requests", async () => {
    expect(await sentFor(model("veo-3.1"), {})).toEqual({
      instances: [{ prompt: "a sea otter" }],
      parameters: { sampleCount: 1, durationSeconds: 8, resolution: "720p", aspectRatio: "16:9", generateAudio: true },
    });
    expect(await sentFor(model("gemini-omni-1.2-flash"), {})).toMatchObject({
      response_format: { duration: "10s", resolution: "720p", aspect_ratio: "16:9" },
    });
  });

  test("accept a seed only from Omni 1.2 on", async () => {
    expect(await sentFor(model("gemini-omni-1.2-flash"), { seed: 7 })).toMatchObject({
      generation_config: { seed: 7 },
    });
    const refused = sentFor(model("gemini-omni-1.1-flash"), { seed: 7 });
    expect(await refused.catch((error: unknown) => error)).toMatchObject({ code: "unsupported_value", param: "seed" });
  });

  /** Credits of one second at 720p, 1080p and 4k. */
  test.each<[string, readonly number[]]>([
    ["gemini-omni-1.2-flash", [7, 10.5, 21]],
    // 17.5 USD a million tokens of video.
    ["gemini-omni-1.1-flash", [0.001_75 * 5_792, 0.001_75 * 8_688, 0.001_75 * 17_376]],
    ["veo-3.1", [40, 40, 60]],
    ["veo-3.1-fast", [10, 12, 30]],
    ["veo-3.1-lite", [5, 8]],
  ])("%s costs its listed price, at each resolution", (slug, credits) => {
    for (const [index, resolution] of ["720p", "1080p", "4k"].entries()) {
      const expected = credits[index];
      const check = () => checkVideo({ model: slug, prompt: "a sea otter", resolution, duration: 8 }, model(slug));
      if (expected === undefined) expect(check).toThrow("resolution");
      else expect(check().bound.holdNano).toBe(BigInt(Math.round(8 * expected * 1_000_000_000)));
    }
  });
});
