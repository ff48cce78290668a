/** Generates every Kubernetes manifest below base, components and overlays, as text. */
import { readFileSync } from "node:fs";

import { Namespace } from "kubernetes-models/v1/Namespace";

import { accessOfWorkers, COSTLY, patchOfWorker } from "./deletion-cost.ts";
import { podMonitor, publicIngress, publicRoute } from "./public-access.ts";
import { clusterConfig, CONFIG_MAP, natsFromPublishers, natsServers } from "./nats.ts";
import { policiesOfRoles } from "./network.ts";
import { accountOfRoles, budgetOf, deploymentOf, FIRST, ingressService, migrateJob } from "./pods.ts";
import { lagAccess, scaled, scalers } from "./scaling.ts";
import { KNOWN, KNOWN_MAP, SETTINGS, SETTINGS_MAP } from "./secrets.ts";
import { INGRESS, WORKLOADS } from "./workloads.ts";

const FOLDER = "deploy/kubernetes";
const NAMESPACE = "sluice";
const HEADER =
  "# Written by `npm run generate` from the TypeScript in deploy/kubernetes. Change that, or patch this in an overlay.\n";

/** Kubernetes object that can be validated against its schema. */
export interface Model {
  toJSON(): unknown;
  /** Validates the object. @throws Error that names the invalid field */
  validate(): void;
}

type Files = Readonly<Record<string, string>>;

/** Returns the text of every manifest, by path below the project root. @throws Error when an object does not match its schema */
export function kubernetesFiles(): Files {
  return {
    ...base(),
    ...component("nats", natsServers(false), {
      configMapGenerator: [{ name: CONFIG_MAP, files: ["server.conf"] }],
    }),
    ...component("nats-cluster", natsServers(true), {
      configMapGenerator: [
        { name: CONFIG_MAP, files: ["server.conf", "cluster.conf"] },
        { name: SETTINGS_MAP, behavior: "merge", literals: ["SLUICE_STREAM_REPLICAS=3"] },
      ],
    }),
    [`${FOLDER}/components/nats/server.conf`]: serverConfig(),
    [`${FOLDER}/components/nats-cluster/server.conf`]: serverConfig(),
    [`${FOLDER}/components/nats-cluster/cluster.conf`]: clusterConfig(),
    ...component("publishers", [natsFromPublishers()]),
    ...keda(),
    ...component("monitoring", [podMonitor()]),
    ...component("public-ingress", [publicIngress()]),
    ...component("public-gateway", [publicRoute()]),
    ...isolation(),
    ...deletionCost(),
    ...overlay("small", ["nats", "public-ingress"], {
      // One pod of each role: a lost machine is an outage until its pods run elsewhere.
      replicas: WORKLOADS.map(({ name }) => ({ name, count: 1 })),
    }),
    ...overlay("production", ["nats-cluster", "keda", "monitoring", "isolation", "public-gateway"]),
  };
}

/** Returns objects as one YAML text. @throws Error when an object does not match its schema */
export function toYaml(models: readonly Model[]): string {
  return models
    .map((model) => {
      model.validate();
      return yaml(model.toJSON());
    })
    .join("---\n");
}

function base(): Files {
  const objects: Readonly<Record<string, readonly Model[]>> = {
    namespace: [
      new Namespace({
        metadata: { name: NAMESPACE, labels: { ...FIRST, "pod-security.kubernetes.io/enforce": "restricted" } },
      }),
    ],
    account: [accountOfRoles()],
    network: policiesOfRoles(),
    migrate: [migrateJob()],
    ...Object.fromEntries(
      WORKLOADS.map((workload) => [
        workload.name,
        [deploymentOf(workload), budgetOf(workload.name), ...(workload === INGRESS ? [ingressService()] : [])],
      ]),
    ),
  };
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    namespace: NAMESPACE,
    resources: Object.keys(objects).map((name) => `${name}.yaml`),
    configMapGenerator: [
      { ...literals(SETTINGS_MAP, SETTINGS), options: { labels: FIRST } },
      literals(KNOWN_MAP, KNOWN),
    ],
  };
  return {
    [`${FOLDER}/base/kustomization.yaml`]: HEADER + yaml(kustomization),
    ...Object.fromEntries(
      Object.entries(objects).map(([name, models]) => [`${FOLDER}/base/${name}.yaml`, HEADER + toYaml(models)]),
    ),
  };
}

function component(name: string, models: readonly Model[], more: object = {}): Files {
  const folder = `${FOLDER}/components/${name}`;
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1alpha1",
    kind: "Component",
    ...(models.length > 0 && { resources: [`${name}.yaml`] }),
    ...more,
  };
  return {
    [`${folder}/kustomization.yaml`]: HEADER + yaml(kustomization),
    ...(models.length > 0 && { [`${folder}/${name}.yaml`]: HEADER + toYaml(models) }),
  };
}

function overlay(name: string, components: readonly string[], more: object = {}): Files {
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    namespace: NAMESPACE,
    resources: ["../../base"],
    components: components.map((one) => `../../components/${one}`),
    ...more,
  };
  return { [`${FOLDER}/overlays/${name}/kustomization.yaml`]: HEADER + yaml(kustomization) };
}

/**
 * Returns the component that scales workloads with KEDA. It removes the replica counts from the manifests, because applying them would
 * reset the scaling.
 */
function keda(): Files {
  const path = "without-replicas.yaml";
  return {
    ...component("keda", [...scalers(NAMESPACE), ...lagAccess()], {
      patches: scaled().map(({ name }) => ({ path, target: { kind: "Deployment", name } })),
    }),
    [`${FOLDER}/components/keda/${path}`]: HEADER + yaml([{ op: "remove", path: "/spec/replicas" }]),
  };
}

/** Returns the component that isolates capabilities in a sandbox. Nodes need a security profile (schemas/docs/operate/kubernetes.md). */
function isolation(): Files {
  const name = "worker-capability";
  const securityContext = {
    seccompProfile: { type: "Localhost", localhostProfile: "sluice.json" },
    appArmorProfile: { type: "Unconfined" },
  };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { template: { spec: { securityContext } } },
  };
  // No stricter pod security level allows this.
  const namespace = new Namespace({
    metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "privileged" } },
  });
  return {
    ...component("isolation", [], { patches: [{ path: `${name}.yaml` }, { path: "namespace.yaml" }] }),
    [`${FOLDER}/components/isolation/${name}.yaml`]: HEADER + yaml(deployment),
    [`${FOLDER}/components/isolation/namespace.yaml`]: HEADER + toYaml([namespace]),
  };
}

/** Returns the component that lets workers set the deletion cost of their pods. */
function deletionCost(): Files {
  const name = "deletion-cost";
  const path = "workers.yaml";
  return {
    ...component(name, accessOfWorkers(NAMESPACE), { patches: [{ path }] }),
    [`${FOLDER}/components/${name}/${path}`]:
      HEADER + COSTLY.map((workload) => yaml(patchOfWorker(workload))).join("---\n"),
  };
}

/** Returns the text of server.conf. A copy is needed because Kustomize reads no file outside the folder that it builds. */
function serverConfig(): string {
  return readFileSync(new URL("../nats/server.conf", import.meta.url), "utf8");
}

function literals(name: string, values: Readonly<Record<string, string>>): object {
  return { name, literals: Object.entries(values).map(([key, value]) => `${key}=${value}`) };
}

function yaml(value: unknown): string {
  return `${Bun.YAML.stringify(value, null, 2)}\n`;
}
