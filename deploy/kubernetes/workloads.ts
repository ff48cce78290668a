/**
 * Table of the Kubernetes workloads: one row per role, and for workers one row per pool. Sizes are starting values that overlays change.
 */
import { SETTINGS } from "#shared/config/settings.ts";
import { CALL_POOLS, POOLS, type Pool, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { POOL_TABLE } from "#workers/pools.ts";
import { WORKFLOW_SHARES } from "#workers/workflows/runner.ts";

import type { SecretName } from "./secrets.ts";

export interface Workload {
  /** Name of the Deployment, also the value of its pods' label. */
  readonly name: string;
  /** Command-line arguments of the container. */
  readonly args: readonly string[];
  readonly replicas: { readonly least: number; readonly most: number };
  /** Time for running jobs to finish after SIGTERM, in seconds. Sets SLUICE_GRACE_MS. */
  readonly graceSeconds: number;
  /** Delay before SIGTERM in which load balancers remove the pod, in seconds. The process works normally meanwhile. */
  readonly preStopSeconds: number;
  readonly cores: { readonly request: string; readonly limit?: string };
  readonly memory: string;
  /** Size of /tmp, on the node's disk. */
  readonly scratch: string;
  readonly secrets: readonly SecretName[];
  /** True when the role lists models. It then receives the names of the provider keys that workers have. */
  readonly listsModels: boolean;
  readonly scaling: Scaling;
}

type Scaling =
  | { readonly by: "none" }
  | { readonly by: "cpu"; readonly percent: number }
  /**
   * Scaling of a pool of workers by its load.
   * @param slots target load of one process, in slots, below its capacity to leave a reserve for uneven arrivals
   */
  | { readonly by: "lag"; readonly pool: Pool; readonly slots: number };

/** Time for a pod to close its connections after the grace period, in seconds. */
export const FAREWELL_SECONDS = 30;

/** Target utilisation of a process, from 0 to 1. With a higher utilisation, uneven arrivals would fill the process. */
const BUSY_SHARE = 0.75;

/** CPU cores of a worker of the capability pool, and the number of capabilities that it runs at once. */
const CAPABILITY_CORES = 4;

type PoolSizes = Pick<Workload, "graceSeconds" | "cores" | "memory" | "scratch"> & {
  readonly least: number;
  readonly most: number;
};

/**
 * Sizes of media pools. Media jobs continue at their providers and are then polled by the next process. The grace period is for results in
 * transfer to our store.
 */
const MEDIA: PoolSizes = {
  least: 1,
  most: 20,
  graceSeconds: 1_800,
  cores: { request: "250m", limit: "2" },
  // SLUICE_RESULT_BYTES_MAX, one more result, and the process itself.
  memory: "2Gi",
  scratch: "4Gi",
};
const SMALL: PoolSizes = {
  least: 2,
  most: 10,
  graceSeconds: 60,
  cores: { request: "250m", limit: "2" },
  memory: "1Gi",
  scratch: "1Gi",
};

const POOL_SIZES: Readonly<Record<Pool | typeof WEBHOOK_POOL, PoolSizes>> = {
  // No CPU limit: throttling would delay every first byte.
  chat: { ...SMALL, most: 50, graceSeconds: 300, cores: { request: "500m" } },
  image: { ...MEDIA, graceSeconds: 360 },
  audio: MEDIA,
  video: MEDIA,
  "3d": MEDIA,
  // Each run may take 1.5 GB of memory and 2 GiB of disk. Two more run than there are cores.
  capability: {
    ...MEDIA,
    cores: { request: "1", limit: `${CAPABILITY_CORES}` },
    memory: "10Gi",
    scratch: "16Gi",
  },
  workflow: SMALL,
  webhook: SMALL,
};

const CALLS_PROVIDERS: ReadonlySet<string> = new Set(CALL_POOLS.filter((pool) => pool !== "capability"));

export const INGRESS: Workload = {
  name: "ingress",
  args: ["ingress"],
  replicas: { least: 2, most: 20 },
  graceSeconds: 60,
  preStopSeconds: 5,
  cores: { request: "500m" },
  memory: "1Gi",
  // Uploads are stored here while they are checked.
  scratch: "4Gi",
  secrets: [
    "sluice-database",
    "sluice-storage",
    "sluice-nats-ingress",
    "sluice-sealing",
    "sluice-oidc",
    "sluice-operator",
  ],
  listsModels: true,
  scaling: { by: "cpu", percent: 65 },
};

const JANITOR: Workload = {
  name: "janitor",
  args: ["janitor"],
  replicas: { least: 2, most: 2 },
  graceSeconds: 30,
  preStopSeconds: 0,
  cores: { request: "100m", limit: "1" },
  memory: "512Mi",
  scratch: "256Mi",
  secrets: ["sluice-database", "sluice-storage", "sluice-nats-janitor", "sluice-lag"],
  listsModels: false,
  scaling: { by: "none" },
};

/** Workload that checks logins of batch publishers. One process checks more than a thousand logins a second. */
const NATS_AUTH: Workload = {
  ...JANITOR,
  name: "nats-auth",
  args: ["nats-auth"],
  secrets: ["sluice-database", "sluice-nats-auth"],
};

export const WORKLOADS: readonly Workload[] = [
  INGRESS,
  ...([...POOLS, WEBHOOK_POOL] as const).map(workerOf),
  JANITOR,
  NATS_AUTH,
];

function workerOf(pool: Pool | typeof WEBHOOK_POOL): Workload {
  const { least, most, ...sizes } = POOL_SIZES[pool];
  return {
    ...sizes,
    name: `worker-${pool}`,
    args: ["worker", pool],
    replicas: { least, most },
    preStopSeconds: 0,
    secrets: [
      "sluice-database",
      "sluice-storage",
      pool === "workflow" ? "sluice-nats-workflow" : "sluice-nats-worker",
      ...(CALLS_PROVIDERS.has(pool) ? ["sluice-provider-keys" as const] : []),
      // It encrypts stored responses and error texts of providers, or decrypts the credentials of channels.
      ...(CALLS_PROVIDERS.has(pool) || pool === "webhook" ? ["sluice-sealing" as const] : []),
      ...(pool === "webhook" ? ["sluice-mail" as const] : []),
    ],
    listsModels: pool === "workflow",
    // Deliveries are rows of the database, not load of a pool.
    scaling: pool === WEBHOOK_POOL ? { by: "cpu", percent: 65 } : { by: "lag", pool, slots: slotsOf(pool) },
  };
}

/** Returns the target load of one process of a pool, in slots. */
function slotsOf(pool: Pool): number {
  if (pool === "capability") return Math.floor(BUSY_SHARE * CAPABILITY_CORES);
  const { liveShare } = pool === "workflow" ? WORKFLOW_SHARES : POOL_TABLE[pool];
  return Math.floor(BUSY_SHARE * liveShare * Number(SETTINGS.workerSlots.usual));
}
