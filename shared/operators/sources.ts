/** Lists sources for operators. Also defines the messages between ingress and worker that test a source. */
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import type { DisabledSource } from "#shared/database/source-breaker.ts";
import type { Pool } from "#shared/queue/subjects.ts";

/** Timeout of a source test, in milliseconds. */
export const SOURCE_TEST_MS = 20_000;

export interface SourceTest {
  /** Source to test, as `provider/model`. */
  readonly source: string;
  /** Slug of a model that the source serves. */
  readonly model: string;
}

/** Error of a source whose provider only queues jobs. */
export const UNTESTABLE = "untestable";

export interface SourceVerdict {
  /** Class of the error; null if the source responded. `UNTESTABLE` if no call was sent. */
  readonly error: string | null;
  /** HTTP status of an error response; null if there was none. */
  readonly status: number | null;
  /** Error message of the provider, with keys redacted. */
  readonly text: string | null;
  readonly duration_ms: number;
}

export interface SourceFacts {
  readonly id: string;
  readonly provider: string;
  readonly models: readonly string[];
  /** Environment variable that contains the provider's key; null if the provider needs none. */
  readonly setting: string | null;
  readonly state: "available" | "disabled" | "not_configured";
  readonly reason: string | null;
  /** HTTP status with which the provider rejected our key, account or model name. */
  readonly status: number | null;
  readonly disabledIn: readonly string[];
  readonly disabledSince: Date | null;
  /** Milliseconds until the source is tried again; null unless it is disabled. */
  readonly nextAttemptMs: number | null;
}

/** Returns all sources in the catalogue files, sorted by name. */
export function sourceFacts(catalogue: Catalogue, disabled: readonly DisabledSource[]): SourceFacts[] {
  const models = new Map<string, string[]>();
  for (const model of catalogue.models.values()) {
    for (const { provider, model: name } of model.sources) {
      const id = `${provider}/${name}`;
      models.set(id, [...(models.get(id) ?? []), model.slug]);
    }
  }
  const rows = Map.groupBy(disabled, ({ source }) => source);
  const routable = Array.from(models, ([id, slugs]) => factsOf(catalogue, id, slugs, rows.get(id) ?? []));
  const idle = Array.from(catalogue.idleSources, ([id, source]): SourceFacts => ({
    ...factsOf(catalogue, id, source.models, []),
    state: "not_configured",
    reason: source.reason,
  }));
  return [...routable, ...idle].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function factsOf(
  { providers }: Catalogue,
  id: string,
  models: readonly string[],
  rows: readonly DisabledSource[],
): SourceFacts {
  const provider = id.slice(0, id.indexOf("/"));
  const setting = providers.get(provider)?.api_key_env ?? null;
  const refusal = rows.find(({ key_mark: mark }) => mark !== null);
  const { status = null } = refusal ?? {};
  const said = status === null ? "" : ` (status ${status})`;
  const key = setting === null ? "the access without a key" : `the key in ${setting}`;
  const refused = `the provider refuses ${key}, its account or the model name${said}`;
  return {
    id,
    provider,
    models,
    setting,
    state: rows.length === 0 ? "available" : "disabled",
    reason: rows.length === 0 ? null : refusal ? refused : "calls failed",
    status,
    disabledIn: rows.map(({ pool }) => pool),
    disabledSince: rows.length === 0 ? null : new Date(Math.min(...rows.map(({ opened_at: at }) => at.getTime()))),
    nextAttemptMs: rows.length === 0 ? null : Math.max(0, ...rows.map(({ remaining_ms: ms }) => ms)),
  };
}

/** Kinds of media whose smallest call costs little, in the order of their usual cost. */
const TESTABLE_MEDIA = ["speech", "transcription", "images"] as const;
export type TestableMedia = (typeof TESTABLE_MEDIA)[number];

/** Returns the kind of media with which a model is tested; undefined for other models. */
export function testableMedia(model: Model): TestableMedia | undefined {
  const name = kindOfCall(model)?.name;
  return TESTABLE_MEDIA.find((kind) => kind === name);
}

/** Returns a model with which a source can be tested at little cost, and its pool. Chat and embeddings are preferred. */
export function testableModel(
  { models }: Pick<Catalogue, "models">,
  slugs: readonly string[],
): { readonly model: Model; readonly pool: Pool } | undefined {
  const served = slugs.flatMap((slug) => models.get(slug) ?? []);
  const candidates = [
    ...served.filter((model) => model.supports_chat || model.supports_embeddings),
    ...TESTABLE_MEDIA.flatMap((kind) => served.filter((model) => testableMedia(model) === kind)),
  ];
  for (const model of candidates) {
    const pool = kindOfCall(model)?.pool;
    if (pool !== undefined) return { model, pool };
  }
  return undefined;
}

/** Maximum size of a test request or response, in bytes. */
const MESSAGE_BYTES_MAX = 16_384;

/** Parses a request to test a source. Returns undefined for an invalid message. */
export function readSourceTest(data: Uint8Array): SourceTest | undefined {
  const { source, model } = objectIn(data);
  return typeof source === "string" && typeof model === "string" ? { source, model } : undefined;
}

/** Parses the result of a source test. Returns undefined for an invalid message. */
export function readSourceVerdict(data: Uint8Array): SourceVerdict | undefined {
  const { error, status, text, duration_ms: durationMs } = objectIn(data);
  const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  if (!isText(error) || !isText(text) || !isCount(durationMs) || !(status === null || isCount(status)))
    return undefined;
  return { error, status, text, duration_ms: durationMs };
}

function objectIn(data: Uint8Array): Readonly<Record<string, unknown>> {
  if (data.length > MESSAGE_BYTES_MAX) return {};
  try {
    return Object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data))) as Record<string, unknown>;
  } catch {
    return {};
  }
}
