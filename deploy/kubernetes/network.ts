/** Network policies: pods may accept and open only the listed connections. */
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";

import { ADMIN_PORT, PART, PUBLIC_PORT, selectorOf } from "./pods.ts";
import { INGRESS } from "./workloads.ts";

/** Labels that operators set on namespaces, so that network policies admit connections from clients and to servers. */
export const NAMESPACES = {
  balancer: { "sluice/balancer": "true" },
  monitoring: { "sluice/monitoring": "true" },
  keda: { "sluice/keda": "true" },
  /** Namespaces of batch publishers; used by the component `publishers`. */
  publishers: { "sluice/publishers": "true" },
  /** Namespaces of Postgres and the object store, when they run in the cluster. */
  servers: { "sluice/servers": "true" },
} as const;

/**
 * Private IPv4 networks. They include the networks of the cluster, and the link-local addresses that return a machine's cloud credentials.
 */
const PRIVATE_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
];
const PRIVATE_V6 = ["fc00::/7", "fe80::/10"];

const ALL = { matchLabels: { [PART]: "sluice" } };
const from = (labels: Readonly<Record<string, string>>) => [{ namespaceSelector: { matchLabels: labels } }];

export function policiesOfRoles(): readonly NetworkPolicy[] {
  return [
    new NetworkPolicy({
      metadata: { name: "default-deny" },
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    }),
    new NetworkPolicy({
      metadata: { name: "calls-from-balancer" },
      spec: {
        podSelector: selectorOf(INGRESS.name),
        policyTypes: ["Ingress"],
        ingress: [{ from: from(NAMESPACES.balancer), ports: [{ port: PUBLIC_PORT.containerPort, protocol: "TCP" }] }],
      },
    }),
    new NetworkPolicy({
      metadata: { name: "metrics-from-monitoring" },
      spec: {
        podSelector: ALL,
        policyTypes: ["Ingress"],
        ingress: [{ from: from(NAMESPACES.monitoring), ports: [{ port: ADMIN_PORT.containerPort, protocol: "TCP" }] }],
      },
    }),
    new NetworkPolicy({
      metadata: { name: "to-servers" },
      spec: {
        podSelector: ALL,
        policyTypes: ["Egress"],
        egress: [
          {
            to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
            ports: [
              { port: 53, protocol: "UDP" },
              { port: 53, protocol: "TCP" },
            ],
          },
          { to: from(NAMESPACES.servers) },
        ],
      },
    }),
    new NetworkPolicy({
      // Providers, URLs of callers, receivers of notifications, object stores of clouds.
      metadata: { name: "to-internet" },
      spec: {
        podSelector: ALL,
        policyTypes: ["Egress"],
        egress: [
          {
            to: [
              { ipBlock: { cidr: "0.0.0.0/0", except: PRIVATE_V4 } },
              { ipBlock: { cidr: "::/0", except: PRIVATE_V6 } },
            ],
          },
        ],
      },
    }),
  ];
}
