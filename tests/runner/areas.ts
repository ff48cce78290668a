/**
 * Tests that a change needs beside those that import it: end-to-end and fault tests reach the code through processes, and files such as
 * migrations are read by path.
 */

export interface Area {
  /** Paths below the project's root: a folder ends with a slash, everything else is a whole path. */
  readonly paths: readonly string[];
  /** Files of the gate below `tests/`, or folders that end with a slash. */
  readonly tests: readonly string[];
}

const CALLS = ["e2e/keys-and-credits.test.ts", "faults/worker-death.test.ts"];
const QUEUE = [
  "faults/worker-death.test.ts",
  "faults/nats-restart.test.ts",
  "faults/nats-wiped.test.ts",
  "faults/poison.test.ts",
];
const LEDGER = ["faults/worker-death.test.ts", "faults/ingress-death.test.ts", "faults/postgres-restart.test.ts"];
const FILES = ["faults/upload-death.test.ts", "faults/media-worker-death.test.ts"];
const BATCHES = ["e2e/batch.test.ts", "e2e/batches.test.ts", "faults/batch-worker-death.test.ts"];
const DOCUMENTS = ["docs/", "deploy/runbook.test.ts", "deploy/env-example.test.ts", "deploy/manifests.test.ts"];

export const AREAS: readonly Area[] = [
  {
    paths: ["workers/providers/"],
    tests: ["providers/index.test.ts", "e2e/families.test.ts", "faults/provider-silent.test.ts"],
  },
  { paths: ["workers/providers/sandbox/"], tests: ["e2e/test-models.test.ts"] },
  {
    paths: ["workers/calls/", "workers/routing/"],
    tests: [...CALLS, "e2e/fallback.test.ts", "faults/provider-silent.test.ts"],
  },
  {
    paths: ["workers/calls/media/", "shared/jobs/"],
    tests: ["e2e/images.test.ts", "faults/media-worker-death.test.ts"],
  },
  {
    paths: ["workers/calls/capability/", "workers/children/", "shared/children/"],
    tests: ["e2e/capabilities/capabilities.test.ts"],
  },
  ...["archive", "audio", "code", "document", "image", "video", "web"].map((category) => ({
    paths: [`workers/capabilities/${category}/`],
    tests: [`workers/capabilities/${category}.test.ts`, "workers/capabilities/examples.test.ts"],
  })),
  { paths: ["workers/capabilities/"], tests: ["workers/capabilities/examples.test.ts"] },
  { paths: ["workers/runner/", "shared/queue/"], tests: QUEUE },
  { paths: ["workers/janitor/"], tests: LEDGER },
  {
    paths: ["workers/webhook/", "shared/notifications/", "shared/events/"],
    tests: ["e2e/notifications/notifications.test.ts"],
  },
  {
    paths: ["workers/workflows/", "shared/workflows/", "ingress/routes/workflows/"],
    tests: ["e2e/workflows/runs.test.ts"],
  },
  {
    paths: [
      "workers/main.ts",
      "workers/slots.ts",
      "shared/process/role.ts",
      "shared/process/process.ts",
      "shared/process/lifecycle.ts",
      "deploy/sluice.ts",
    ],
    tests: [...QUEUE, "faults/late-servers.test.ts"],
  },
  {
    paths: [
      "deploy/all.ts",
      "deploy/sluice.ts",
      "shared/process/role.ts",
      "shared/process/process.ts",
      "shared/process/lifecycle.ts",
      "workers/slots.ts",
    ],
    tests: ["deploy/all.test.ts"],
  },
  { paths: ["shared/ledger/", "shared/database/"], tests: LEDGER },
  {
    paths: ["shared/database/migrations/"],
    tests: ["shared/database/", "shared/ledger/", "deploy/old-database.test.ts"],
  },
  { paths: ["shared/files/", "shared/storage/", "ingress/routes/files/", "ingress/routes/media/"], tests: FILES },
  { paths: ["shared/calls/catalogue/"], tests: ["shared/calls/catalogue/", "e2e/test-models.test.ts"] },
  { paths: ["ingress/nats-intake/", "ingress/routes/batches/"], tests: BATCHES },
  { paths: ["ingress/routes/mcp/", "ingress/tools/"], tests: ["e2e/mcp.test.ts", "e2e/model-tools.test.ts"] },
  { paths: ["ingress/routes/", "ingress/openapi/", "schemas/"], tests: ["e2e/openapi/openapi.test.ts"] },
  {
    paths: ["ingress/wait/", "ingress/core/serve.ts", "ingress/listen.ts", "ingress/core/sse.ts"],
    tests: ["e2e/streams.test.ts", "faults/client-gone.test.ts"],
  },
  {
    paths: ["ingress/wait/", "ingress/main.ts"],
    tests: ["faults/ingress-death.test.ts", "faults/ingress-grace.test.ts"],
  },
  { paths: ["schemas/"], tests: ["schemas/"] },
  { paths: ["schemas/docs/", "ingress/routes/docs/", "CHANGELOG.md"], tests: ["ingress/routes/docs/"] },
  { paths: ["schemas/docs/reference/"], tests: ["e2e/test-models.test.ts"] },
  { paths: ["deploy/embedded/", "deploy/start.mjs"], tests: ["deploy/embedded/"] },
  { paths: ["deploy/supervisor/"], tests: ["deploy/supervisor/"] },
  { paths: ["deploy/kubernetes/"], tests: ["deploy/kubernetes/"] },
  { paths: ["deploy/nats/"], tests: ["deploy/nats-permissions.test.ts", "ingress/nats-auth/"] },
  { paths: ["deploy/alerts/", "deploy/dashboards/"], tests: ["deploy/monitoring.test.ts"] },
  {
    paths: ["deploy/", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "schemas/", "shared/calls/catalogue/"],
    tests: DOCUMENTS,
  },
  { paths: ["tests/faults/rows.mjs"], tests: ["faults/rows.test.ts"] },
];
