/** What a route may use: built once in main.ts, passed explicitly. */
import type { CallAdmission } from "#shared/admission/calls.ts";
import type { Authenticator } from "#shared/admission/authenticate.ts";
import type { IpNet } from "#shared/admission/ip-net.ts";
import type { CatalogueStore } from "#shared/catalogue/open.ts";
import type { Config } from "#shared/config.ts";
import type { Ledger } from "#shared/ledger/finish.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Publisher } from "#shared/queue/publish.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { Relay } from "./relay/relay.ts";

export interface IngressContext {
  readonly config: Pick<Config, "bodyBytesMax" | "chat">;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: CatalogueStore;
  readonly authenticator: Authenticator;
  readonly ipNet: IpNet;
  readonly calls: CallAdmission;
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  readonly storage: Storage;
  readonly relay: Relay;
  /** Whether what is needed to accept a call can be reached; answers within seconds. */
  isReady(): Promise<boolean>;
}
