/** Pods of the roles, with their Deployments, disruption budgets and the Job `migrate`. */
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { Job } from "kubernetes-models/batch/v1/Job";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";

import packageJson from "../../package.json" with { type: "json" };

import { KNOWN_MAP, type SecretName, SECRETS, SETTINGS_MAP } from "./secrets.ts";
import { FAREWELL_SECONDS, INGRESS, type Workload } from "./workloads.ts";

type PodSpec = NonNullable<NonNullable<IDeployment["spec"]>["template"]["spec"]>;
type Container = PodSpec["containers"][number];

const IMAGE = `sluice:${packageJson.version}`;
const NAME = "app.kubernetes.io/name";
export const PART = "app.kubernetes.io/part-of";
/** Label of the migration job and the objects that it needs. `kubectl apply -l` applies them before the roles are replaced. */
export const FIRST = { "app.kubernetes.io/component": "migrate" } as const;
const ACCOUNT = "sluice";
export const ADMIN_PORT = { name: "admin", containerPort: 9464 } as const;
export const PUBLIC_PORT = { name: "http", containerPort: 8080 } as const;

export const labelsOf = (name: string): Readonly<Record<string, string>> => ({ [NAME]: name, [PART]: "sluice" });
export const selectorOf = (name: string): { readonly matchLabels: Readonly<Record<string, string>> } => ({
  matchLabels: { [NAME]: name },
});

/** Returns the service account of the pods. It has no token, because no role uses the Kubernetes API. */
export function accountOfRoles(): ServiceAccount {
  return new ServiceAccount({ metadata: { name: ACCOUNT, labels: FIRST }, automountServiceAccountToken: false });
}

export function deploymentOf(workload: Workload): Deployment {
  const { name, replicas } = workload;
  return new Deployment({
    metadata: { name, labels: labelsOf(name) },
    spec: {
      replicas: replicas.least,
      revisionHistoryLimit: 3,
      selector: selectorOf(name),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
      template: { metadata: { labels: labelsOf(name) }, spec: podOf(workload) },
    },
  });
}

/** Returns the disruption budget for node drains: one pod at a time. A pod that is not ready may always be evicted. */
export function budgetOf(name: string): PodDisruptionBudget {
  return new PodDisruptionBudget({
    metadata: { name },
    spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: selectorOf(name) },
  });
}

/**
 * Returns the migration Job, which runs before the roles of each version. A Job cannot be changed, so the previous version's Job is deleted
 * first.
 */
export function migrateJob(): Job {
  const secrets: readonly SecretName[] = [
    "sluice-database",
    "sluice-storage",
    "sluice-nats-janitor",
    "sluice-bootstrap",
  ];
  const name = "migrate";
  return new Job({
    metadata: { name, labels: { ...labelsOf(name), ...FIRST } },
    spec: {
      backoffLimit: 3,
      // A migration of a large table may take an hour.
      activeDeadlineSeconds: 7_200,
      ttlSecondsAfterFinished: 86_400,
      template: {
        metadata: { labels: labelsOf(name) },
        spec: {
          ...surroundings("256Mi"),
          restartPolicy: "Never",
          containers: [
            {
              ...containerOf(name, [name], { cores: { request: "100m", limit: "1" }, memory: "512Mi" }),
              envFrom: variablesOf(secrets, false),
            },
          ],
        },
      },
    },
  });
}

export function ingressService(): Service {
  return serviceOf(INGRESS.name, PUBLIC_PORT);
}

export function serviceOf(name: string, port: { readonly name: string; readonly containerPort: number }): Service {
  return new Service({
    metadata: { name, labels: labelsOf(name) },
    spec: {
      selector: { ...selectorOf(name).matchLabels },
      ports: [
        { name: port.name, port: port.containerPort, targetPort: port.name, protocol: "TCP", appProtocol: "http" },
      ],
    },
  });
}

function podOf(workload: Workload): PodSpec {
  const { name, args, graceSeconds, preStopSeconds, scratch, secrets, listsModels } = workload;
  return {
    ...surroundings(scratch),
    terminationGracePeriodSeconds: preStopSeconds + graceSeconds + FAREWELL_SECONDS,
    topologySpreadConstraints: ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: selectorOf(name),
    })),
    containers: [
      {
        ...containerOf(name, args, workload),
        ports: workload === INGRESS ? [PUBLIC_PORT, ADMIN_PORT] : [ADMIN_PORT],
        env: [{ name: "SLUICE_GRACE_MS", value: String(graceSeconds * 1_000) }],
        envFrom: variablesOf(secrets, listsModels),
        ...probes(),
        ...(preStopSeconds > 0 && { lifecycle: { preStop: { sleep: { seconds: preStopSeconds } } } }),
      },
    ],
  };
}

/** Returns the security settings and volumes of a pod: no root, no privileges, write access only to /tmp. */
function surroundings(scratch: string): Omit<PodSpec, "containers"> {
  return {
    serviceAccountName: ACCOUNT,
    automountServiceAccountToken: false,
    // Service links would add environment variables. An unknown variable with the prefix SLUICE_ stops the start of a role.
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1_000,
      runAsGroup: 1_000,
      fsGroup: 1_000,
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: scratch } }],
  };
}

function containerOf(
  name: string,
  args: readonly string[],
  { cores, memory }: Pick<Workload, "cores" | "memory">,
): Container {
  return {
    name,
    image: IMAGE,
    args: [...args],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    resources: {
      requests: { cpu: cores.request, memory },
      limits: { memory, ...(cores.limit !== undefined && { cpu: cores.limit }) },
    },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
}

/**
 * Returns health probes that check only the process. In an outage of Postgres or NATS all pods stay in their Service, so that callers
 * receive our 503.
 */
function probes(): Pick<Container, "startupProbe" | "livenessProbe" | "readinessProbe"> {
  const ask = (path: string) => ({ httpGet: { path, port: ADMIN_PORT.name } });
  return {
    startupProbe: { ...ask("/healthz"), periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...ask("/healthz"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...ask("/readyz?scope=process"), periodSeconds: 5, timeoutSeconds: 4 },
  };
}

function variablesOf(secrets: readonly SecretName[], listsModels: boolean): NonNullable<Container["envFrom"]> {
  return [
    { configMapRef: { name: SETTINGS_MAP } },
    ...(listsModels ? [{ configMapRef: { name: KNOWN_MAP } }] : []),
    ...secrets.map((name) => ({ secretRef: { name, ...(SECRETS[name].isOptional && { optional: true }) } })),
  ];
}
