/** Dependencies of the routes, built once in main.ts and passed explicitly. */
import type { NatsConnection } from "nats";

import type { WorkflowTemplate } from "#schemas/generated/types.ts";

import type { CallAdmission } from "#shared/ledger/call-admission.ts";
import type { Authenticator } from "#shared/access/authenticate.ts";
import type { AvailableCapabilities } from "#shared/calls/capabilities/available.ts";
import type { IpNet } from "#shared/access/ip-net.ts";
import type { KeyWatch } from "#shared/access/key-watch.ts";
import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config/config.ts";
import type { Database } from "#shared/database/client.ts";
import type { DependencyName, Readiness } from "#shared/net/dependencies.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import type { Uploads } from "#shared/files/uploads.ts";
import type { JobAdmission } from "#shared/jobs/admission.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { FileLinks } from "#shared/files/links.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { Publisher } from "#shared/queue/publish.ts";
import type { ConversationStore } from "#shared/responses/conversations.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";
import type { BodyKeeper } from "#shared/kept-bodies/keeper.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { Issuer } from "./routes/console/issuer.ts";
import type { BodyRecorder } from "./core/body-capture.ts";
import type { MinuteBound } from "./core/minute-bound.ts";
import type { RefusalLog } from "./core/refusal-log.ts";
import type { Operators } from "./core/authenticate-operator.ts";
import type { Cancel } from "./wait/cancel.ts";
import type { FleetLink } from "./wait/fleet.ts";
import type { JobWaiter } from "./wait/job-waiter.ts";
import type { Relay } from "./wait/relay.ts";
import type { Route } from "./core/route.ts";
import type { RunFollower } from "./routes/workflows/run-follower.ts";

export interface IngressContext {
  readonly config: Pick<
    Config,
    | "adminWorkspace"
    | "batchPriceMillionths"
    | "bodyRetentionHoursMax"
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
  /** Ends streams and sockets whose key is no longer active. */
  readonly keyWatch: Pick<KeyWatch, "watch">;
  /** Authenticates operators, who call /operator. */
  readonly operators: Operators;
  /** OpenID Connect issuer at which people sign in. Undefined: only API keys authenticate. */
  readonly issuer: Issuer | undefined;
  readonly ipNet: IpNet;
  readonly calls: CallAdmission;
  /** Limits requests that do not count in the rate window, per key and minute. */
  readonly uncounted: MinuteBound;
  /** Stores refused calls for their owners. */
  readonly refusals: Pick<RefusalLog, "note">;
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  readonly storage: Storage;
  readonly uploads: Uploads;
  readonly database: Database;
  readonly relay: Relay;
  /** Routes of the API by operationId. Tools, such as the tools of the MCP server, find their routes in this map. */
  readonly routes: Map<string, Route>;
  /** NATS connection for provider callbacks, and for operators' requests to workers. */
  readonly connection: Pick<NatsConnection, "info" | "isClosed" | "publish" | "request">;
  /** Running ingresses of the installation. */
  readonly fleet: Pick<FleetLink, "ingresses">;
  readonly cancel: Cancel;
  /** Admits jobs. */
  readonly jobs: JobAdmission;
  readonly dispatcher: JobDispatcher;
  readonly probes: MediaProbes;
  /** Capabilities that can be called. */
  readonly availableCapabilities: AvailableCapabilities;
  readonly waiter: JobWaiter;
  /** Workflow templates that ship with the service. */
  readonly templates: readonly WorkflowTemplate[];
  /** Delivers notices of workflow runs to the calls that wait for these runs. */
  readonly runs: RunFollower;
  /** Aborts shortly before the shutdown deadline. Waiting callers then get their response at once. */
  readonly closing: AbortSignal;
  /** Aborts when the process begins to stop. Requests are still served, but each response closes its connection. */
  readonly stopping: AbortSignal;
  readonly links: FileLinks;
  /** Store of Responses API responses. */
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  /** Records requests and responses of HTTP calls for callers that asked to keep them. */
  readonly bodies: BodyRecorder;
  /** Stores requests and responses of callers that asked to keep them. */
  readonly bodyKeeper: BodyKeeper;
  /** Encrypts the credentials of notification channels and the keys of kept bodies. */
  readonly sealer: Sealer;
  /** Verifies the token that a provider must send in a job's callback. */
  readonly callbackTokens: Pick<JobTokens, "isOf">;
  /**
   * Returns true if all dependencies that are needed to accept a call can be reached. The check takes a few seconds at most.
   * @param required further dependencies that must be reachable
   */
  isReady(required: readonly DependencyName[]): Promise<boolean>;
  /** Returns the state of each dependency, such as Postgres and NATS. */
  readiness(): Promise<Readiness>;
}
