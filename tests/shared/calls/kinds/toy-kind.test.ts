/** A kind of call that nothing but its record knows of: whatever else must name a kind shows here. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { calls } from "#ingress/routes/calls/calls.ts";
import type { Modality } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { estimateCall } from "#shared/calls/estimate/estimate.ts";
import { checkFallbacks } from "#shared/calls/fallback-chains.ts";
import { CALL_UNITS, type Kind, type MediaKind, NO_INPUTS } from "#shared/calls/kinds/kind.ts";
import { isResumed, kindAt, KINDS } from "#shared/calls/kinds/kinds.ts";
import type { CheckedMedia } from "#shared/calls/kinds/media-check.ts";
import { hasEndpoint, kindOfCall, modelOf } from "#shared/calls/kinds/models.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { listModels } from "#shared/calls/present-model.ts";
import { ONE_RESULT } from "#shared/calls/pricing/media.ts";
import { readCall } from "#shared/calls/read.ts";
import { ApiError } from "#shared/base/errors.ts";
import { checkStepWork, kindOf } from "#shared/workflows/step-work.ts";

import { BASE, build } from "../catalogue/build-catalogue.ts";

interface ToyRequest {
  readonly model: string;
  readonly prompt: string;
}

const CREDIT = 1_000_000_000n;
const PRICE = { unit: "per_request", tokenRates: {}, unitRate: CREDIT } as const;
const BOUND = { holdNano: CREDIT, outputTokensMax: 0, mayExceed: false, tokensMax: 0 };

const TOY: MediaKind<ToyRequest, CheckedMedia<object>> = {
  name: "toys" as Kind["name"],
  endpoint: "/v1/toys" as Kind["endpoint"],
  pool: "audio",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  modality: "toy" as Modality,
  units: CALL_UNITS,
  hasLength: false,
  writes: "output",
  nouns: { one: "a model that makes toys", all: "the toy models" },
  isOfKind: ({ modality }) => (modality as string) === "toy",
  read(body) {
    const { prompt } = body as Partial<ToyRequest>;
    if (typeof prompt === "string") return body as ToyRequest;
    throw new ApiError("missing_required_parameter", "Expected a prompt.", { param: "prompt" });
  },
  check({ prompt }) {
    if (prompt === "broken") throw new ApiError("unsupported_value", "Expected no broken toy.", { param: "prompt" });
    return { params: {}, bound: BOUND, price: PRICE, most: ONE_RESULT, usual: ONE_RESULT };
  },
  inputs: NO_INPUTS,
  route: {
    operationId: "createToy",
    summary: "Make a toy",
    description: "Soft or of wood.",
    tag: "Toys",
    request: { schema: "MusicGenerationRequest" },
    answers: "results",
    answer: { description: "The toy", schema: "MediaResults" },
  },
};

const kinds = KINDS as Record<string, Kind>;
let catalogue: Catalogue;

beforeAll(() => {
  kinds["toys"] = TOY;
  const base = build([BASE]);
  const [some] = [...base.models.values()];
  if (!some) throw new Error("a catalogue without models");
  const toy = (slug: string): Model => ({
    ...some,
    slug,
    modality: "toy" as Modality,
    supports_chat: false,
    supports_embeddings: false,
    price: PRICE,
  });
  const more = ["bear", "train"].map((slug) => [slug, toy(slug)] as const);
  catalogue = { ...base, models: new Map([...base.models, ...more]) };
});
afterAll(() => {
  delete kinds["toys"];
});

const modelNamed = (slug: string): Model => {
  const model = catalogue.models.get(slug);
  if (!model) throw new Error(`no model ${slug}`);
  return model;
};

const refusalOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("a kind with only a record", () => {
  test("has models, which are listed, and which other kinds reject", () => {
    expect(modelOf(TOY, catalogue, "bear")).toBe(modelNamed("bear"));
    expect(hasEndpoint(modelNamed("bear"))).toBe(true);
    expect(listModels(catalogue, { includeTools: false }).data.map(({ id }) => id)).toContain("bear");
    const refused = { code: "model_not_supported", message: expect.stringContaining("Call POST /v1/toys.") };
    for (const kind of Object.values(kinds).filter((one) => one !== TOY)) {
      expect(refusalOf(() => modelOf(kind, catalogue, "bear"))).toMatchObject(refused);
    }
  });

  test("is found by its endpoint and by its models, and defines the outcome of a crash", () => {
    expect(kindAt(TOY.endpoint)).toBe(TOY as Kind);
    expect(kindOfCall(modelNamed("bear"))).toBe(TOY as Kind);
    expect(isResumed("toys")).toBe(true);
  });

  test("is estimated", async () => {
    expect(await estimateCall(modelNamed("bear"), { prompt: "soft" }, 17)).toMatchObject({
      model: "bear",
      estimated_credits: 1,
      max_credits: 1,
    });
    expect(await estimateCall(modelNamed("bear"), {}, 2).catch((error: unknown) => error)).toMatchObject({
      param: "prompt",
    });
  });

  test("has fallbacks of its own kind only", () => {
    checkFallbacks(catalogue, { model: "bear", fallbacks: ["train"] });
    const other = [...catalogue.models.values()].find(({ supports_chat: chats }) => chats)?.slug ?? "";
    expect(refusalOf(() => checkFallbacks(catalogue, { model: "bear", fallbacks: [other] }))).toMatchObject({
      message: expect.stringContaining("the toy models"),
    });
  });

  test("is a step of a workflow", () => {
    const nothingOpen = { params: { places: [] }, input: { places: [] } } as unknown as Parameters<
      typeof checkStepWork
    >[2];
    const faultsOf = (params: object): unknown[] => {
      const step = { id: "a", type: "model", model: "bear", params } as Parameters<typeof checkStepWork>[0];
      return [...checkStepWork(step, "steps[0]", nothingOpen, { catalogue, capability: () => undefined })];
    };
    expect(faultsOf({ prompt: "soft" })).toEqual([]);
    expect(faultsOf({ prompt: "broken" })).toMatchObject([{ param: "steps[0].params.prompt" }]);
  });

  test("is a step's kind even if its model's price made it unavailable: the call is rejected, not the run", () => {
    const unpriced = { ...modelNamed("bear"), price: { ...PRICE, unit: "per_image" as const } };
    expect(hasEndpoint(unpriced)).toBe(false);
    expect(kindOf(unpriced, {})).toBe(TOY as Kind);
  });

  test("has its endpoint over HTTP", () => {
    const route = calls({} as Parameters<typeof calls>[0]).find(({ path }) => path === "/v1/toys");
    expect(route).toMatchObject({ operationId: "createToy", tags: ["Toys"], countsItself: true });
    expect(route?.errors).toContain("storage_limit_exceeded");
  });

  test("is read as a job, with its hold", async () => {
    const context = {
      catalogue: { current: () => catalogue },
      database: { query: () => Promise.resolve([]) },
    } as unknown as Parameters<typeof readCall>[0];
    const caller = { workspaceId: "w", role: "owner" } as Caller;
    const body = { model: "bear", prompt: "soft" };
    const call = await readCall(context, { caller, draw: { id: "call" }, target: { kind: TOY }, body, tries: 1 });
    expect([call.kind.pool, call.leastNano, call.isHeavy()]).toEqual(["audio", CREDIT, false]);
    const loaded = await call.load();
    const checked = { params: {}, most: ONE_RESULT, tokensMax: 0, secondsOf: modelNamed("bear").seconds_of };
    expect([JSON.parse(loaded.text({})), loaded.bringsCheck]).toEqual([{ ...body, checked }, true]);
  });
});
