/** Dependencies of all worker pools. They are created once in main.ts and passed explicitly. */
import type { NatsConnection } from "nats";

import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { Uploads } from "#shared/files/uploads.ts";
import type { FailureLog } from "#shared/ledger/failure-log.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { BodyKeeper } from "#shared/kept-bodies/keeper.ts";
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
  /** Stores the reasons for failed calls. */
  readonly failures: FailureLog;
  readonly storage: Storage;
  /** Stores results as files. */
  readonly uploads: Pick<Uploads, "run">;
  /** Memory budget for the results that the jobs of the pool load at the same time, in bytes. */
  readonly results: ResultBudget;
  /** Limit of concurrent uploads of this process to the object store. */
  readonly uploadPlaces: ResultBudget;
  readonly catalogue: CatalogueStore;
  /** Runs capabilities in child processes. */
  readonly capabilities: Pick<CapabilityChildren, "run" | "lose" | "judgeRobots">;
  /** Capabilities that this process can run; undefined in processes without the `capability` pool. */
  readonly supportedCapabilities: Pick<SupportedCapabilities, "missing"> | undefined;
  readonly providers: Providers;
  /** Store of responses; undefined in processes without the `chat` pool. */
  readonly responses: Pick<ResponseStore, "answer" | "keep" | "keepEvents" | "read"> | undefined;
  /** Store of conversations; undefined in processes without the `chat` pool. */
  readonly conversations: Pick<ConversationStore, "append" | "release"> | undefined;
  /** Stores requests and responses of durable work for callers that asked to keep them. */
  readonly bodyKeeper: Pick<BodyKeeper, "add" | "capture">;
  /** Measures documents, for example their number of pages, before a model receives them. */
  readonly probes: Omit<MediaProbes, "close">;
  readonly breaker: Breaker;
  /** Budget for retries at the same source. */
  readonly repeats: RepeatBudget;
  /** Notifies the owner of a job when the job's provider calls back. */
  readonly providerCallbacks: Pick<ProviderCallbacks, "onProviderCallback">;
  /** Creates the tokens in callback URLs, which authenticate the callbacks of providers. */
  readonly callbackTokens: Pick<JobTokens, "of">;
  /** NATS connection for acknowledging and pulling messages, and for cancellations. */
  readonly work: NatsConnection;
  /** NATS connection for answers. It is separate, so that a burst of tokens cannot delay an acknowledgement or a heartbeat. */
  readonly replies: NatsConnection;
  /** Publisher of answer frames. It keeps frames while the connection is lost. */
  readonly answers: BufferedPublisher;
  /** Combines answer frames of several calls into one message, for ingresses that support it. */
  readonly bundler: FrameBundler;
}
