/** What every pool may use: built once in main.ts, passed explicitly. */
import type { NatsConnection } from "nats";

import type { CatalogueStore } from "#shared/catalogue/open.ts";
import type { Config } from "#shared/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { Ledger } from "#shared/ledger/finish.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { LastingPublisher } from "./lasting-publisher.ts";
import type { Providers } from "./providers/index.ts";

export interface WorkerContext {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly storage: Storage;
  readonly catalogue: CatalogueStore;
  readonly providers: Providers;
  /** Acks, pulls and cancels. */
  readonly work: NatsConnection;
  /** Answers: a burst of tokens here cannot delay an ack or a heartbeat (lesson STR-14). */
  readonly replies: NatsConnection;
  /** Frames go out through this, so that they outlive a lost connection. */
  readonly answers: LastingPublisher;
}
