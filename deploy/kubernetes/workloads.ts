/** Table of everything that runs in a cluster: one row per role, and per pool for workers. Sizes are defaults; overlays change them. */
import { SETTINGS } from "#shared/config/settings.ts";
import { CALL_POOLS, POOLS, type Pool, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { POOL_TABLE } from "#workers/pools.ts";
import { WORKFLOW_SHARES } from "#workers/workflows/open.ts";

import type { SecretName } from "./secrets.ts";

export interface Workload {
  /** Name of the Deployment, and value of its pods' label. */
  readonly name: string;
  /** Arguments of the image. */
  readonly args: readonly string[];
  readonly replicas: { readonly least: number; readonly most: number };
  /** SLUICE_GRACE_MS in seconds: time for running work to end. */
  readonly graceSeconds: number;
  /** Time before it in which load balancers remove the pod, in seconds; the process works as usual. */
  readonly leaveSeconds: number;
  readonly cores: { readonly request: string; readonly limit?: string };
  readonly memory: string;
  /** Size of /tmp on the node's disk. */
  readonly scratch: string;
  readonly secrets: readonly SecretName[];
  /** True when the role lists models; it then needs the names of providers with a key. */
  readonly listsModels: boolean;
  readonly scaling: Scaling;
}

type Scaling =
  | { readonly by: "none" }
  | { readonly by: "cpu"; readonly percent: number }
  /** @param slots of a pool's load per process, minus a reserve for uneven arrivals */
  | { readonly by: "lag"; readonly pool: Pool; readonly slots: number };

/** Time after the grace period for closing connections, in seconds. */
export const FAREWELL_SECONDS = 30;

/** Target share of busy slots: above it, uneven arrivals fill a process. */
const BUSY_SHARE = 0.75;

/** Cores of a worker of capabilities. Runs are CPU-bound, so it runs as many at once. */
const CAPABILITY_CORES = 4;

type PoolSizes = Pick<Workload, "graceSeconds" | "cores" | "memory" | "scratch"> & {
  readonly least: number;
  readonly most: number;
};

/** Media jobs continue at their providers, and the next process polls them. The grace period is for running transfers to our store. */
const MEDIA: PoolSizes = {
  least: 1,
  most: 20,
  graceSeconds: 1_800,
  cores: { request: "250m", limit: "2" },
  // SLUICE_RESULT_BYTES_MAX, one further result, and the process itself.
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
  // Each run may take 1.5 GB, and two more runs than cores are concurrent; 2 GiB of disk each.
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
  leaveSeconds: 5,
  cores: { request: "500m" },
  memory: "1Gi",
  // Uploads are stored here while they are inspected.
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
  leaveSeconds: 0,
  cores: { request: "100m", limit: "1" },
  memory: "512Mi",
  scratch: "256Mi",
  secrets: ["sluice-database", "sluice-storage", "sluice-nats-janitor", "sluice-lag"],
  listsModels: false,
  scaling: { by: "none" },
};

/** Authenticates publishers of batch messages. One process handles more than a thousand logins a second. */
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
    leaveSeconds: 0,
    secrets: [
      "sluice-database",
      "sluice-storage",
      pool === "workflow" ? "sluice-nats-workflow" : "sluice-nats-worker",
      ...(CALLS_PROVIDERS.has(pool) ? ["sluice-provider-keys" as const] : []),
      // For stored responses and error texts of providers, or the credentials of channels.
      ...(CALLS_PROVIDERS.has(pool) || pool === "webhook" ? ["sluice-sealing" as const] : []),
      ...(pool === "webhook" ? ["sluice-mail" as const] : []),
    ],
    listsModels: pool === "workflow",
    // Deliveries are rows, and not part of a pool's load.
    scaling: pool === WEBHOOK_POOL ? { by: "cpu", percent: 65 } : { by: "lag", pool, slots: slotsOf(pool) },
  };
}

/** Returns the target load of one process of a pool, in slots. */
function slotsOf(pool: Pool): number {
  if (pool === "capability") return Math.floor(BUSY_SHARE * CAPABILITY_CORES);
  const { liveShare } = pool === "workflow" ? WORKFLOW_SHARES : POOL_TABLE[pool];
  return Math.floor(BUSY_SHARE * liveShare * Number(SETTINGS.workerSlots.usual));
}
