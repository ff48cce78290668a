/**
 * Tests a source at an operator's request. Sends the smallest valid call even if the circuit of the source is open, and returns the
 * provider's response. The call contains no data of callers, so the response is returned in full, except for keys.
 */
import type { Msg, NatsConnection } from "nats";

import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { sourceTestSubject } from "#shared/queue/subjects.ts";
import {
  readSourceTest,
  SOURCE_TEST_MS,
  type SourceTest,
  type SourceVerdict,
  testableMedia,
  UNTESTABLE,
} from "#shared/operators/sources.ts";
import { ApiError } from "#shared/base/errors.ts";
import { createRedactor, type Redactor } from "#shared/base/redaction.ts";

import type { Providers } from "../providers/index.ts";
import { ProviderError } from "../providers/provider.ts";
import { adaptTo } from "./source-params.ts";
import { testMedia } from "./source-test-media.ts";

interface TestContext {
  readonly catalogue: Pick<CatalogueStore, "current">;
  readonly providers: Pick<Providers, "chat" | "embeddings" | "media">;
}

/** Maximum concurrent tests of one worker. A further test request receives the result `busy`. */
const TESTS_MAX = 4;
/** Output limit of a test, in tokens. Reasoning models reject smaller limits. */
const OUTPUT_TOKENS = 16;
/** Workspace id that is used for tests. The workspace does not exist; providers receive its pseudonym. */
const NO_WORKSPACE = "00000000-0000-0000-0000-000000000000";

/**
 * Subscribes to test requests for the pool's sources, and answers them until it is closed.
 * @param options.secrets values that are removed from every response
 */
export function openSourceTests(
  options: TestContext & {
    readonly pool: Pool;
    readonly connection: NatsConnection;
    readonly secrets: readonly string[];
    readonly log: Logger;
  },
): { close(): void } {
  const { pool, connection, log } = options;
  const redactor = createRedactor(options.secrets);
  let running = 0;
  const answer = async (data: Uint8Array): Promise<SourceVerdict | undefined> => {
    const asked = readSourceTest(data);
    if (asked === undefined) return undefined;
    if (running >= TESTS_MAX)
      return verdictOf("busy", null, "The worker is running other tests; try again shortly.", 0);
    running += 1;
    try {
      return await testSource(options, redactor, asked);
    } finally {
      running -= 1;
    }
  };
  const respond = async (message: Msg): Promise<void> => {
    try {
      const verdict = await answer(message.data);
      if (verdict !== undefined && !connection.isClosed()) message.respond(JSON.stringify(verdict));
    } catch (fault) {
      log.error({ err: fault }, "a source could not be tested");
    }
  };
  const subscription = connection.subscribe(sourceTestSubject(pool), {
    queue: "workers",
    callback(error, message) {
      if (!error) void respond(message);
    },
  });
  return {
    close() {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}

async function testSource(context: TestContext, redactor: Redactor, asked: SourceTest): Promise<SourceVerdict> {
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const wasSent = await ask(context, asked, AbortSignal.timeout(SOURCE_TEST_MS));
    return verdictOf(wasSent ? null : UNTESTABLE, null, null, tookMs());
  } catch (error) {
    // The model requires more than the smallest request has.
    if (error instanceof ApiError) return verdictOf(UNTESTABLE, null, error.message, tookMs());
    if (!(error instanceof ProviderError)) throw error;
    const { kind, status = null, detail } = error;
    const isLate = kind === "aborted" || tookMs() >= SOURCE_TEST_MS;
    return verdictOf(isLate ? "timeout" : kind, status, redactor.text(detail, TEXT_CHARS_MAX), tookMs());
  }
}

const TEXT_CHARS_MAX = 1_000;

/**
 * Sends the test call to the source. Returns false if a test would start a paid job.
 * @throws ProviderError; ApiError if the model requires inputs that a test does not have
 */
async function ask({ catalogue, providers }: TestContext, asked: SourceTest, signal: AbortSignal): Promise<boolean> {
  const current = catalogue.current();
  const model = current.models.get(asked.model);
  const source = model?.sources.find((one) => `${one.provider}/${one.model}` === asked.source);
  const provider = source && current.providers.get(source.provider);
  if (!model || !source || !provider) {
    throw new ProviderError("misconfigured", "This worker has no such source: its catalogue or keys differ.");
  }
  const common = { sourceModel: source.model, signal, adapt: (body: Record<string, unknown>) => adaptTo(source, body) };
  const embeddings = model.supports_embeddings ? providers.embeddings(provider) : undefined;
  if (embeddings) {
    await embeddings.embed({ ...common, inputs: ["Hi"], dimensions: undefined });
    return true;
  }
  const kind = model.supports_chat ? undefined : testableMedia(model);
  if (kind) return testMedia(providers, { kind, model, source, provider, signal });
  const chat = providers.chat(provider);
  if (!chat) throw new ProviderError("misconfigured", "The provider's family has no chat.");
  await chat.complete({
    ...common,
    request: { model: model.slug, messages: [{ role: "user", content: "Hi" }], max_tokens: OUTPUT_TOKENS },
    workspaceId: NO_WORKSPACE,
    outputTokensMax: OUTPUT_TOKENS,
    traits: new Set(source.traits),
    takesAudio: false,
  });
  return true;
}

function verdictOf(
  error: SourceVerdict["error"],
  status: number | null,
  text: string | null,
  duration_ms: number,
): SourceVerdict {
  return { error, status, text: text === "" ? null : text, duration_ms };
}
