/** One media job in a worker's hands: adapters of the test's own, everything around them as plain as it can be. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { MediaSource } from "#shared/media/media-probes.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type Settlement, settlementOf } from "#shared/ledger/charge.ts";
import { createLogger, type Logger } from "#shared/base/logger.ts";
import { serializePrice } from "#shared/calls/pricing/price.ts";
import { build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import type { WorkerContext } from "#workers/context.ts";
import type { JobControl } from "#workers/job.ts";
import { Answer } from "#workers/calls/answer.ts";
import { SPEECH_JOB } from "#workers/calls/media/kinds.ts";
import { ResultBudget } from "#workers/calls/media/result-budget.ts";
import { createMediaHandler } from "#workers/calls/media/run.ts";
import type { Artifact, MediaAdapter, ProviderJob, SpeechInput } from "#workers/providers/media.ts";

export const SOUND: Artifact = { bytes: new Uint8Array(wavOf(1)), contentType: "audio/wav" };
const STORAGE_BYTES_MAX = 1_000_000_000;
export const RESULT_BYTES_MAX = 10_000_000;

const BOTH = "[{ provider: one, model: m }, { provider: two, model: m }]";

const catalogueOf = ({ slug = "speaks", formats = "[wav]", price = "1", sources = BOTH } = {}): Catalogue =>
  build([
    `
providers:
  - { id: one, family: fal, base_url: "http://127.0.0.1:1", listed_within_seconds: 1 }
  - { id: two, family: fal, base_url: "http://127.0.0.1:2" }
models:
  - slug: ${slug}
    modality: audio
    owned_by: one
    created: 1700000000
    pricing: { unit: per_character, character_price: "${price}" }
    allowed_params: { response_formats: ${formats} }
    sources: ${sources}
`,
  ]);

const catalogue = catalogueOf();

/** Catalogues that may have come since a call was admitted. */
export const NARROWED: Readonly<Record<string, Catalogue>> = {
  "takes less": catalogueOf({ formats: "[mp3]" }),
  "costs more": catalogueOf({ price: "7" }),
  "has lost that source": catalogueOf({ sources: "[{ provider: two, model: m }]" }),
  "has left": catalogueOf({ slug: "other" }),
};

export type Adapter = MediaAdapter<SpeechInput, Artifact>;

export interface Ran {
  /** Error that `serve` threw: the job goes on without this worker. */
  readonly thrown: unknown;
  /** Settlements that the hold is closed with. */
  readonly closed: readonly Settlement[];
  /** Notes in the row, in their order; `begins`: those before a start was sent. */
  readonly kept: readonly unknown[];
  readonly begins: readonly unknown[];
  /** Sources that the breaker heard of, as `one/m ok`. */
  readonly recorded: readonly string[];
  /** The answer, or why there is none. */
  readonly told: string;
  /** Bytes of the pool's budget that are still held. */
  readonly held: number;
  /** Bytes that the waiting caller heard. */
  readonly heard: number;
}

interface Around {
  /** Record of the job as its previous worker left it. */
  readonly found?: object;
  readonly isLate?: boolean;
  readonly wasCancelled?: boolean;
  /** Members beside an open start whose answer is lost. */
  readonly lost?: object;
  /** Listed jobs that are not free, by name. */
  readonly owned?: Readonly<Record<string, "taken" | "open">>;
  /** Bytes the workspace stores already. */
  readonly stored?: number;
  /** Stands in for the file store, which keeps the results. */
  readonly store?: () => Promise<string>;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly totalMs?: number;
  /** Longest time for a source that another could stand in for. */
  readonly plainMs?: number;
  /** Kind that the ingress calls it; what is made is speech all the same. */
  readonly kind?: JobMessage["kind"];
  readonly log?: Logger;
  /** Catalogue of now; the call was admitted under the usual one. */
  readonly catalogue?: Catalogue;
}

/** @param adapters of the model's first source and of its second */
export async function run(adapters: readonly [Adapter, Adapter?], around: Around = {}): Promise<Ran> {
  const kept: unknown[] = [];
  const begins: unknown[] = [];
  const closed: Ran["closed"][number][] = [];
  const recorded: string[] = [];
  let heard = 0;
  let told = "";
  const { metrics, providers } = surroundings(adapters);
  const results = new ResultBudget({ bytesMax: RESULT_BYTES_MAX, waitMs: 50 });
  const context = {
    config: {
      mediaTotalMs: around.totalMs ?? 60_000,
      calls: { plainMs: around.plainMs ?? 60_000 },
      storageBytesMax: STORAGE_BYTES_MAX,
      publicUrl: undefined,
    },
    log: around.log ?? createLogger({ level: "silent", role: "test" }),
    catalogue: { current: () => around.catalogue ?? catalogue },
    breaker: {
      admit: () => Promise.resolve("closed"),
      record: (source: string, how: string) => recorded.push(`${source} ${how}`),
      down: () => undefined,
      forget: () => undefined,
      retryInMs: () => 0,
    },
    database: { query: () => Promise.resolve([{ used: BigInt(around.stored ?? 0) }]) },
    providerCallbacks: { onProviderCallback: () => () => undefined },
    results,
    uploadPlaces: new ResultBudget({ bytesMax: 2, waitMs: 1_000 }),
    probes: {
      audio: async (source: MediaSource) =>
        probeAudio("path" in source ? await Bun.file(source.path).bytes() : source.bytes),
      video: ({ bytes }: { readonly bytes: Uint8Array }) => Promise.try(() => probeVideo(bytes)),
    },
    uploads: { run: around.store ?? (() => Promise.resolve("file-1")) },
    metrics,
    providers,
  } as unknown as WorkerContext;
  const control = {
    signal: around.signal ?? new AbortController().signal,
    answer: new Answer(
      { isClosed: () => true, publish: () => undefined, waitForDrain: () => undefined },
      undefined,
      "speaks",
    ),
    caller: { begin: () => undefined, write: (bytes: Uint8Array) => (heard += bytes.length) },
    providerJob: {
      found: around.found ?? null,
      isLate: around.isLate ?? false,
      wasCancelled: around.wasCancelled ?? false,
      keep: (job: unknown) => {
        kept.push(job);
        return Promise.resolve();
      },
      begin: (record: unknown) => {
        begins.push(record);
        return Promise.resolve();
      },
      adopt: ({ name }: { readonly name: string }, record: unknown) => {
        const whose = around.owned?.[name] ?? "adopted";
        if (whose === "adopted") kept.push(record);
        return Promise.resolve(whose);
      },
      strangers: (_provider: string, names: readonly string[]) =>
        Promise.resolve(names.filter((name) => around.owned?.[name] !== "taken")),
      lose: () => Promise.resolve({ ...around.lost, ...((begins.at(-1) ?? around.found) as { start: object }).start }),
      progress: () => undefined,
    },
  } as unknown as JobControl;
  const kind = { ...SPEECH_JOB, output: { ...SPEECH_JOB.output, pollMinMs: 1, pollMaxMs: 2 } };
  const job = { ...message(around.deadlineMs ?? Date.now() + 60_000), kind: around.kind ?? "speech" };
  let thrown: unknown;
  try {
    const outcome = await createMediaHandler(context, kind).run(job, control);
    closed.push(settlementOf(outcome.status, outcome.source, outcome.charge));
    told = "result" in outcome ? outcome.result.text : JSON.stringify(outcome.failure);
  } catch (error) {
    thrown = error;
  }
  return { thrown, closed, kept, begins, recorded, told, held: results.bytes, heard };
}

function surroundings(adapters: readonly [Adapter, Adapter?]) {
  const handle = { inc: () => undefined, observe: () => undefined, addNano: () => undefined };
  return {
    metrics: { providerSeconds: handle, usageEstimated: handle, providerErrors: handle, creditsWrittenOff: handle },
    providers: { media: ({ id }: { readonly id: string }) => (id === "one" ? adapters[0] : adapters[1]) },
  };
}

function message(deadlineMs: number): JobMessage {
  const model = catalogue.models.get("speaks");
  if (!model) throw new Error("no model");
  return {
    job_id: "01890a5d-ac96-774b-bcce-b302099a8057",
    attempt: 1,
    dispatch: 1,
    kind: "speech",
    request_id: "r",
    workspace_id: "01890a5d-ac96-774b-bcce-b302099a8058",
    key_id: "k",
    model: "speaks",
    hold_nano: "5000000000",
    may_exceed: false,
    output_tokens_max: 0,
    price: serializePrice(model.price),
    deadline_ms: deadlineMs,
    request: { model: "speaks", input: "hello", response_format: "wav" },
  };
}

/** Returns a job of the first source, as its row keeps it. */
export function begun(job: ProviderJob, startedMs = Date.now()): object {
  const model = catalogue.models.get("speaks");
  if (!model) throw new Error("no model");
  const price = serializePrice(model.price);
  return { source: "one/m", model: "speaks", depth: 0, price, hold_nano: "5000000000", started_ms: startedMs, job };
}

export const full = (): Promise<never> =>
  Promise.reject(new ApiError("storage_limit_exceeded", "The workspace's storage is full."));
