/** Context that every pool may use: built once in main.ts, passed explicitly. */
import type { NatsConnection } from "nats";

import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { Uploads } from "#shared/files/uploads.ts";
import type { FailureLog } from "#shared/ledger/failure-log.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { Logger } from "#shared/logger.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { ConversationStore } from "#shared/responses/conversations.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import type { FrameBundler } from "#shared/queue/frames.ts";
import type { ProviderCallbacks } from "./runner/provider-callbacks.ts";
import type { CapabilityChildren } from "./calls/capability/children.ts";
import type { Offer } from "./calls/capability/offer.ts";
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
  /** Keeps what is made as files. */
  readonly uploads: Pick<Uploads, "run">;
  /** Results of the pool, in bytes. */
  readonly results: ResultBudget;
  /** Results of the process that are on their way into the file store, one a place. */
  readonly uploadPlaces: ResultBudget;
  readonly catalogue: CatalogueStore;
  /** Child processes that run capabilities. */
  readonly capabilities: Pick<CapabilityChildren, "run" | "lose" | "judgeRobots">;
  /** Offer of the capabilities that can be run here; undefined in processes without their pool. */
  readonly offer: Pick<Offer, "missing"> | undefined;
  readonly providers: Providers;
  /** Stores responses; undefined in processes without the pool chat. */
  readonly responses: Pick<ResponseStore, "answer" | "keep" | "keepEvents" | "read"> | undefined;
  /** Conversations that calls add to; undefined as `responses`. */
  readonly conversations: Pick<ConversationStore, "append" | "release"> | undefined;
  /** Looks at documents before a model is shown them. */
  readonly probes: Omit<MediaProbes, "close">;
  readonly breaker: Breaker;
  /** Budget of calls that may be asked of the same source once more. */
  readonly repeats: RepeatBudget;
  /** Rings of providers whose jobs have moved. */
  readonly providerCallbacks: Pick<ProviderCallbacks, "onProviderCallback">;
  /** Tokens that a provider must show to ring for a job. */
  readonly callbackTokens: Pick<JobTokens, "of">;
  /** Acks, pulls and cancels. */
  readonly work: NatsConnection;
  /** Answers: a burst of tokens here cannot delay an ack or a heartbeat. */
  readonly replies: NatsConnection;
  /** Frames go out through this, so that they outlive a lost connection. */
  readonly answers: BufferedPublisher;
  /** The same for ingresses that take bundles. */
  readonly bundler: FrameBundler;
}
