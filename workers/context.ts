/** Dependencies of all pools: created once in main.ts, passed explicitly. */
import type { NatsConnection } from "nats";

import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { Uploads } from "#shared/files/uploads.ts";
import type { FailureLog } from "#shared/ledger/failure-log.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { ConversationStore } from "#shared/responses/conversations.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import type { FrameBundler } from "#shared/queue/frames.ts";
import type { ProviderCallbacks } from "./runner/provider-callbacks.ts";
import type { CapabilityChildren } from "./calls/capability/children.ts";
import type { SupportedCapabilities } from "./calls/capability/supported-capabilities.ts";
import type { ResultBudget } from "./calls/media/result-budget.ts";
import type { Providers } from "./providers/index.ts";
import type { Breaker } from "./routing/breaker.ts";
import type { RepeatBudget } from "./routing/repeat-budget.ts";

export interface WorkerContext {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly ledger: Ledger;
  /** Records why calls failed. */
  readonly failures: FailureLog;
  readonly storage: Storage;
  /** Stores results as files. */
  readonly uploads: Pick<Uploads, "run">;
  /** Budget of result bytes of the pool. */
  readonly results: ResultBudget;
  /** Budget of concurrent uploads of the process to the file store. */
  readonly uploadPlaces: ResultBudget;
  readonly catalogue: CatalogueStore;
  /** Child processes that run capabilities. */
  readonly capabilities: Pick<CapabilityChildren, "run" | "lose" | "judgeRobots">;
  /** Capabilities that this process can run; undefined in processes without the pool capability. */
  readonly supportedCapabilities: Pick<SupportedCapabilities, "missing"> | undefined;
  readonly providers: Providers;
  /** Stores responses; undefined in processes without the pool chat. */
  readonly responses: Pick<ResponseStore, "answer" | "keep" | "keepEvents" | "read"> | undefined;
  /** Stores conversations; undefined in processes without the pool chat. */
  readonly conversations: Pick<ConversationStore, "append" | "release"> | undefined;
  /** Measures documents before a model receives them. */
  readonly probes: Omit<MediaProbes, "close">;
  readonly breaker: Breaker;
  /** Budget of retries at the same source. */
  readonly repeats: RepeatBudget;
  /** Callbacks of providers about their jobs. */
  readonly providerCallbacks: Pick<ProviderCallbacks, "onProviderCallback">;
  /** Tokens that authenticate the callbacks of providers. */
  readonly callbackTokens: Pick<JobTokens, "of">;
  /** NATS connection for acks, pulls and cancels. */
  readonly work: NatsConnection;
  /** NATS connection for answers, so that a burst of tokens cannot delay an ack or a heartbeat. */
  readonly replies: NatsConnection;
  /** Sends frames of answers, and keeps them across a lost connection. */
  readonly answers: BufferedPublisher;
  /** Sends frames of answers in bundles, to ingresses that accept bundles. */
  readonly bundler: FrameBundler;
}
