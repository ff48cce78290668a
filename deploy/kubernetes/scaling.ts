/** Scaling of the roles: workers scale by the load that janitors report, the other roles by CPU. */
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import { TriggerAuthentication } from "@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { Service } from "kubernetes-models/v1/Service";

import { NAMESPACES } from "./network.ts";
import { ADMIN_PORT, selectorOf, serviceOf } from "./pods.ts";
import { SECRETS } from "./secrets.ts";
import { type Workload, WORKLOADS } from "./workloads.ts";

/** Name of the janitors' Service, which reports the load of the workers. Every janitor returns the same figures. */
const LAG_SERVICE = "janitor";
const AUTHENTICATION = "lag";
/** Maximum time that a caller waits for a worker before the pool grows, in seconds. */
const WAIT_SECONDS = 10;

/** Scaling steps. Up: at once, by 100 % or four pods. Down: by one pod a minute, and not during a short pause in load. */
const BEHAVIOR = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: "Percent", value: 100, periodSeconds: 15 },
      { type: "Pods", value: 4, periodSeconds: 15 },
    ],
  },
  scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] },
};

export function scalers(namespace: string): readonly (ScaledObject | HorizontalPodAutoscaler)[] {
  return scaled().map((workload) =>
    workload.scaling.by === "cpu" ? byCores(workload, workload.scaling.percent) : byLag(workload, namespace),
  );
}

/** Returns the workloads whose number of pods is set by a scaler. */
export function scaled(): readonly Workload[] {
  return WORKLOADS.filter(({ scaling }) => scaling.by !== "none");
}

export function lagAccess(): readonly [TriggerAuthentication, Service, NetworkPolicy] {
  const name = "sluice-lag";
  return [
    new TriggerAuthentication({
      metadata: { name: AUTHENTICATION },
      spec: { secretTargetRef: [{ parameter: "token", name, key: SECRETS[name].variables[0] }] },
    }),
    serviceOf(LAG_SERVICE, ADMIN_PORT),
    new NetworkPolicy({
      metadata: { name: "lag-from-keda" },
      spec: {
        podSelector: selectorOf(LAG_SERVICE),
        policyTypes: ["Ingress"],
        ingress: [
          {
            from: [{ namespaceSelector: { matchLabels: NAMESPACES.keda } }],
            ports: [{ port: ADMIN_PORT.containerPort, protocol: "TCP" }],
          },
        ],
      },
    }),
  ];
}

function byLag({ name, replicas, scaling }: Workload, namespace: string): ScaledObject {
  if (scaling.by !== "lag") throw new Error(`${name} is no worker of a pool`);
  const url = `http://${LAG_SERVICE}.${namespace}.svc:${ADMIN_PORT.containerPort}/lag?pool=${scaling.pool}`;
  const trigger = (metricType: "AverageValue" | "Value", valueLocation: string, targetValue: number) => ({
    type: "metrics-api",
    metricType,
    metadata: { url, valueLocation, targetValue: String(targetValue), authMode: "bearer" },
    authenticationRef: { name: AUTHENTICATION },
  });
  return new ScaledObject({
    metadata: { name },
    spec: {
      scaleTargetRef: { name },
      pollingInterval: 10,
      minReplicaCount: replicas.least,
      maxReplicaCount: replicas.most,
      // While no janitor answers, the number of pods stays, with at least an eighth of the maximum.
      fallback: {
        failureThreshold: 3,
        replicas: Math.max(replicas.least, Math.ceil(replicas.most / 8)),
        behavior: "currentReplicasIfHigher",
      },
      advanced: { horizontalPodAutoscalerConfig: { behavior: BEHAVIOR } },
      triggers: [
        trigger("AverageValue", "wanted_slots", scaling.slots),
        trigger("Value", "oldest_waiting_seconds", WAIT_SECONDS),
      ],
    },
  });
}

function byCores({ name, replicas }: Workload, averageUtilization: number): HorizontalPodAutoscaler {
  return new HorizontalPodAutoscaler({
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: replicas.least,
      maxReplicas: replicas.most,
      behavior: BEHAVIOR,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }],
    },
  });
}
