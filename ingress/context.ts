/** Dependencies of the routes: built once in main.ts, passed explicitly. */
import type { NatsConnection } from "nats";

import type { WorkflowTemplate } from "#schemas/generated/types.ts";

import type { CallAdmission } from "#shared/ledger/call-admission.ts";
import type { Authenticator } from "#shared/access/authenticate.ts";
import type { Offered } from "#shared/calls/capabilities/offered.ts";
import type { IpNet } from "#shared/access/ip-net.ts";
import type { KeyWatch } from "#shared/access/key-watch.ts";
import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { DependencyName, Readiness } from "#shared/dependencies.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { Uploads } from "#shared/files/uploads.ts";
import type { JobAdmission } from "#shared/jobs/admission.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { Logger } from "#shared/logger.ts";
import type { FileLinks } from "#shared/files/links.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Publisher } from "#shared/queue/publish.ts";
import type { ConversationStore } from "#shared/responses/conversations.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { Issuer } from "./console/issuer.ts";
import type { MinuteBound } from "./minute-bound.ts";
import type { Operators } from "./operator/authenticate.ts";
import type { Cancel } from "./wait/cancel.ts";
import type { JobWaiter } from "./wait/job-waiter.ts";
import type { Relay } from "./wait/relay.ts";
import type { Route } from "./serve.ts";
import type { RunFollower } from "./workflows/run-follower.ts";

export interface IngressContext {
  readonly config: Pick<
    Config,
    | "adminWorkspace"
    | "batchPriceMillionths"
    | "bodyBytesMax"
    | "calls"
    | "fileBytesMax"
    | "mediaWaitMs"
    | "publicUrl"
    | "responseRetentionHours"
    | "smtpUrl"
    | "storageBytesMax"
    | "supervised"
  >;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: CatalogueStore;
  readonly authenticator: Pick<Authenticator, "authenticate" | "authenticateSession">;
  /** Ends streams and sockets whose key is not active any more. */
  readonly keyWatch: Pick<KeyWatch, "watch">;
  /** Authenticates calls to /operator. */
  readonly operators: Operators;
  /** Signs people in; undefined: keys alone do. */
  readonly issuer: Issuer | undefined;
  readonly ipNet: IpNet;
  readonly calls: CallAdmission;
  /** Bounds the requests of a key that the window does not count. */
  readonly uncounted: MinuteBound;
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  readonly storage: Storage;
  readonly uploads: Uploads;
  readonly database: Database;
  readonly relay: Relay;
  /** Routes of the API, for tools, which ask them. */
  readonly routes: Map<string, Route>;
  /** Callbacks of providers, and what operators ask of workers, go out on it. */
  readonly connection: Pick<NatsConnection, "info" | "isClosed" | "publish" | "request">;
  readonly cancel: Cancel;
  /** Admission of jobs, their way to the queue, and who waits for them. */
  readonly jobs: JobAdmission;
  readonly dispatcher: JobDispatcher;
  readonly probes: MediaProbes;
  /** Capabilities that can be run. */
  readonly offered: Offered;
  readonly waiter: JobWaiter;
  /** Workflows to begin with. */
  readonly templates: readonly WorkflowTemplate[];
  /** Words about runs of workflows. */
  readonly runs: RunFollower;
  /** Aborts when the time for ending is nearly over: callers that wait are answered now. */
  readonly closing: AbortSignal;
  /** Aborts when the process is told to stop: what is still asked is answered, and told to connect elsewhere. */
  readonly stopping: AbortSignal;
  readonly links: FileLinks;
  /** Stored responses. */
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  /** Seals credentials of channels. */
  readonly sealer: Sealer;
  /** Tokens that a provider must send in a callback for a job. */
  readonly callbackTokens: Pick<JobTokens, "isOf">;
  /**
   * True if all dependencies that are needed to accept a call can be reached; answers within seconds.
   * @param required dependencies that are to be there beside those
   */
  isReady(required: readonly DependencyName[]): Promise<boolean>;
  /** The same at length. */
  readiness(): Promise<Readiness>;
}
