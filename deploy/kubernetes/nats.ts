/** NATS in the cluster: one server, or three servers that each store every stream. */
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { Service } from "kubernetes-models/v1/Service";

import { NAMESPACES } from "./network.ts";
import { budgetOf, labelsOf, PART, selectorOf, serviceOf } from "./pods.ts";
import { NATS_SECRET, NATS_VARIABLES } from "./secrets.ts";

const NAME = "nats";
const PEERS = "nats-peers";
/** NATS image, the same as in compose.yaml. */
const IMAGE = "nats:2.15.1-alpine";
const CLIENT = { name: "client", containerPort: 4222 };
const CLUSTER = { name: "cluster", containerPort: 6222 };
const MONITOR = { name: "monitor", containerPort: 8222 };
export const CONFIG_MAP = "nats-config";
const CLUSTER_SERVERS = 3;
const CLUSTER_PASSWORD = "NATS_CLUSTER_PASSWORD";

/** Returns the second configuration file of clustered NATS servers, which includes server.conf. */
export function clusterConfig(): string {
  const routes = Array.from({ length: CLUSTER_SERVERS }, (_none, index) => `$NATS_PEER_${index}`);
  return `# One server of ${CLUSTER_SERVERS}: what server.conf says, and how they find each other.
include "server.conf"
lame_duck_duration: 30s
cluster {
  name: sluice
  port: ${CLUSTER.containerPort}
  authorization { user: peer, password: $${CLUSTER_PASSWORD} }
  routes: [ ${routes.join(", ")} ]
}
`;
}

export function natsServers(
  isCluster: boolean,
): readonly (StatefulSet | Service | NetworkPolicy | ReturnType<typeof budgetOf>)[] {
  const peer = isCluster ? CLUSTER : CLIENT;
  return [
    statefulSet(isCluster),
    serviceOf(NAME, CLIENT),
    new Service({
      // Each server has a DNS name, also before it is ready.
      metadata: { name: PEERS, labels: labelsOf(NAME) },
      spec: {
        clusterIP: "None",
        publishNotReadyAddresses: true,
        selector: { ...selectorOf(NAME).matchLabels },
        ports: [{ name: peer.name, port: peer.containerPort, targetPort: peer.name, protocol: "TCP" }],
      },
    }),
    ...(isCluster ? [budgetOf(NAME)] : []),
    ...policies(isCluster),
  ];
}

function statefulSet(isCluster: boolean): StatefulSet {
  return new StatefulSet({
    metadata: { name: NAME, labels: labelsOf(NAME) },
    spec: {
      serviceName: PEERS,
      replicas: isCluster ? CLUSTER_SERVERS : 1,
      podManagementPolicy: "Parallel",
      selector: selectorOf(NAME),
      template: {
        metadata: { labels: labelsOf(NAME) },
        spec: {
          serviceAccountName: "sluice",
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 60,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1_000,
            runAsGroup: 1_000,
            fsGroup: 1_000,
            seccompProfile: { type: "RuntimeDefault" },
          },
          // Two servers on one node would fail together, and with them the majority.
          ...(isCluster && {
            topologySpreadConstraints: [
              {
                topologyKey: "kubernetes.io/hostname",
                maxSkew: 1,
                whenUnsatisfiable: "DoNotSchedule",
                labelSelector: selectorOf(NAME),
              },
            ],
          }),
          containers: [container(isCluster)],
          volumes: [
            { name: "config", configMap: { name: CONFIG_MAP } },
            { name: "tmp", emptyDir: { sizeLimit: "16Mi" } },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          // Larger than max_file_store of server.conf.
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "25Gi" } } },
        },
      ],
    },
  });
}

type Container = NonNullable<NonNullable<NonNullable<StatefulSet["spec"]>["template"]["spec"]>["containers"]>[number];

function container(isCluster: boolean): Container {
  const health = (query: string) => ({ httpGet: { path: `/healthz${query}`, port: MONITOR.name } });
  const pidFile = "/tmp/nats.pid";
  return {
    name: NAME,
    image: IMAGE,
    args: ["-c", `/etc/nats/${isCluster ? "cluster" : "server"}.conf`, "-P", pidFile],
    env: [
      { name: "NATS_SERVER_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "NATS_STORE_DIR", value: "/data" },
      // The garbage collector works harder before the memory limit is reached.
      { name: "GOMEMLIMIT", value: "1800MiB" },
      ...NATS_VARIABLES.map(secretValue),
      ...(isCluster ? [secretValue(CLUSTER_PASSWORD), ...peers()] : []),
    ],
    ports: isCluster ? [CLIENT, MONITOR, CLUSTER] : [CLIENT, MONITOR],
    // Clients move to the other servers one by one.
    ...(isCluster && {
      lifecycle: { preStop: { exec: { command: ["nats-server", "--signal", `ldm=${pidFile}`] } } },
    }),
    startupProbe: { ...health(""), periodSeconds: 5, failureThreshold: 90 },
    readinessProbe: { ...health("?js-server-only=true"), periodSeconds: 10, timeoutSeconds: 5 },
    livenessProbe: { ...health("?js-enabled-only=true"), periodSeconds: 30, timeoutSeconds: 5 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    resources: { requests: { cpu: "500m", memory: "2Gi" }, limits: { memory: "2Gi" } },
    volumeMounts: [
      { name: "config", mountPath: "/etc/nats", readOnly: true },
      { name: "data", mountPath: "/data" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

function secretValue(variable: string): NonNullable<Container["env"]>[number] {
  return { name: variable, valueFrom: { secretKeyRef: { name: NATS_SECRET, key: variable } } };
}

function peers(): NonNullable<Container["env"]> {
  return Array.from({ length: CLUSTER_SERVERS }, (_none, index) => ({
    name: `NATS_PEER_${index}`,
    value: `nats-route://peer:$(${CLUSTER_PASSWORD})@${NAME}-${index}.${PEERS}:${CLUSTER.containerPort}`,
  }));
}

/** Returns a policy that lets batch publishers in other namespaces connect to NATS. They log in with their API keys. */
export function natsFromPublishers(): NetworkPolicy {
  return new NetworkPolicy({
    metadata: { name: "nats-from-publishers" },
    spec: {
      podSelector: selectorOf(NAME),
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [{ namespaceSelector: { matchLabels: NAMESPACES.publishers } }],
          ports: [{ port: CLIENT.containerPort, protocol: "TCP" }],
        },
      ],
    },
  });
}

function policies(isCluster: boolean): readonly NetworkPolicy[] {
  const port = ({ containerPort }: typeof CLIENT) => [{ port: containerPort, protocol: "TCP" as const }];
  const own = [{ podSelector: selectorOf(NAME) }];
  return [
    new NetworkPolicy({
      metadata: { name: "nats-from-roles" },
      spec: {
        podSelector: selectorOf(NAME),
        policyTypes: ["Ingress", "Egress"],
        ingress: [
          { from: [{ podSelector: { matchLabels: { [PART]: "sluice" } } }], ports: port(CLIENT) },
          { from: [{ namespaceSelector: { matchLabels: NAMESPACES.monitoring } }], ports: port(MONITOR) },
          ...(isCluster ? [{ from: own, ports: port(CLUSTER) }] : []),
        ],
        ...(isCluster && { egress: [{ to: own, ports: port(CLUSTER) }] }),
      },
    }),
    new NetworkPolicy({
      metadata: { name: "roles-to-nats" },
      spec: {
        podSelector: { matchLabels: { [PART]: "sluice" } },
        policyTypes: ["Egress"],
        egress: [{ to: own, ports: port(CLIENT) }],
      },
    }),
  ];
}
