/** Calls to test models that make media or read it, with the stock SDK, and what they were billed. */
import { expect } from "bun:test";

import type OpenAI from "openai";

import type { Job } from "#schemas/generated/types.ts";

import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { CREDIT } from "./media/bench.ts";
import { type Caller, type Told, told } from "./test-models-calls.ts";

/** The guide's sections about media. */
export const SECTIONS = ["Images", "Speech", "Transcriptions", "Videos", "Music", "3D"] as const;
export type Section = (typeof SECTIONS)[number];

export const SPOKEN = "Where is the station? It is behind the tower.";
export const MUSIC_SECONDS = 3;

/** Members of a call's body beside its model, where it is JSON. */
export const BODIES = {
  Images: { prompt: "a hill", size: "256x256" },
  Speech: { input: SPOKEN, voice: "alloy" },
  Videos: { prompt: "a lighthouse", duration: 1, resolution: "240p" },
  Music: { prompt: "a slow waltz", duration: MUSIC_SECONDS },
  "3D": { prompt: "a red cube" },
} as const;

interface Sent {
  readonly data: unknown;
  readonly response: Response;
}

type Send = (client: OpenAI, model: string, more: object) => Promise<Sent>;

const SENDS: Readonly<Record<Section, Send>> = {
  Images: (client, model, more) => client.images.generate({ model, ...BODIES.Images, ...more }).withResponse(),
  Speech: (client, model, more) => client.audio.speech.create({ model, ...BODIES.Speech, ...more }).withResponse(),
  Transcriptions: (client, model, more) =>
    client.audio.transcriptions.create({ model, ...(more as { readonly file: File }) }).withResponse(),
  Videos: (client, model, more) => post(client, "/videos/generations", { model, ...BODIES.Videos, ...more }),
  Music: (client, model, more) => post(client, "/music/generations", { model, ...BODIES.Music, ...more }),
  "3D": (client, model, more) => post(client, "/3d/generations", { model, ...BODIES["3D"], ...more }),
};

function post(client: OpenAI, path: string, body: object): Promise<Sent> {
  return client.post(path, { body }).withResponse();
}

export interface MediaTold extends Told {
  /** The answer's JSON; of sound undefined. */
  readonly data: MediaAnswer | undefined;
}

interface MediaAnswer {
  readonly credits_used?: number;
  readonly text?: string;
  readonly status?: string;
  readonly data?: readonly { readonly file_id?: string; readonly content_type?: string }[];
}

export async function callMedia(
  { client, recorder }: Caller,
  section: Section,
  model: string,
  more: object = {},
): Promise<MediaTold> {
  let answered: unknown;
  const call = await told(recorder, async (seen) => {
    const { data, response } = await SENDS[section](client, model, more);
    seen.id = response.headers.get("x-request-id") ?? "";
    answered = data;
    if (section === "Speech") await response.arrayBuffer().catch(() => (seen.isBroken = true));
  });
  return { ...call, data: section === "Speech" ? undefined : (answered as MediaAnswer | undefined) };
}

/** End of a call's job, in the guide's words. */
export function endOf(job: Job): string {
  return job.error ? `${job.status} ${job.error.code}` : job.status;
}

/** Prices of one unit in nano-credits, from the catalogue that clients see. */
export async function pricesOf(client: OpenAI): Promise<ReadonlyMap<string, bigint>> {
  const { data } = await client.models.list();
  return new Map(
    data.flatMap((model) => {
      const { pricing } = (model as unknown as { readonly _svc: { readonly pricing: Pricing } })._svc;
      const price = pricing[`${pricing.unit.replace("per_", "")}_price`];
      return typeof price === "number" ? [[model.id, BigInt(Math.round(price * Number(CREDIT)))] as const] : [];
    }),
  );
}

type Pricing = Readonly<Record<string, unknown>> & { readonly unit: string };

export interface MediaUsage {
  readonly status: string;
  readonly settled: bigint;
  readonly held: bigint;
  readonly units: Readonly<Record<string, number>>;
  readonly source: string | null;
}

/** The one usage record of a call, as soon as it is there. */
export async function mediaUsage({ query }: Pick<Stack, "query">, id: string): Promise<MediaUsage> {
  const [usage, ...others] = await eventually(`the usage record of ${id}`, async () => {
    const sql = "select status, settled, held, units, source from usage_record where job_id = $1";
    const rows = await query<MediaUsage>(sql, [id]);
    return rows.length > 0 && rows;
  });
  expect(others).toEqual([]);
  if (!usage) throw new Error("no usage record");
  return usage;
}

/** Holds what was settled against the guide's word for it, at the price of one unit. */
export function expectSettled(billed: string, { settled, held, status, units }: MediaUsage, price: bigint): void {
  if (billed === "nothing") {
    expect([status === "succeeded", settled]).toEqual([false, 0n]);
    return;
  }
  const cost = COSTS[billed]?.(units, price);
  if (cost === undefined) throw new Error(`the guide bills "${billed}", which means nothing`);
  expect(cost).toBeGreaterThan(0n);
  expect([status, settled]).toEqual(["succeeded", cost > held ? held : cost]);
}

type Cost = (units: MediaUsage["units"], price: bigint) => bigint;

const COSTS: Readonly<Record<string, Cost>> = {
  "by the image": ({ images = 0 }, price) => price * BigInt(images),
  "by the character": ({ characters = 0 }, price) => price * BigInt(characters),
  "by the minute": ({ seconds = 0 }, price) => rounded(price * milliseconds(seconds), 60_000n),
  "by the second": ({ seconds = 0, compute_seconds = seconds }, price) =>
    rounded(price * milliseconds(compute_seconds), 1_000n),
};

/** Rounded up, but for the noise of a float. */
function milliseconds(seconds: number): bigint {
  return BigInt(Math.ceil(seconds * 1_000 - 0.001));
}

function rounded(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}
