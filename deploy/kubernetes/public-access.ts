/**
 * Access to the pods from outside: clients use an Ingress or a gateway route, of which a cluster needs one, and Prometheus scrapes the
 * metrics.
 */
import { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute";
import { PodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";

import { ADMIN_PORT, PART, PUBLIC_PORT } from "./pods.ts";
import { SETTINGS } from "./secrets.ts";
import { INGRESS } from "./workloads.ts";

const HOST = new URL(SETTINGS["SLUICE_PUBLIC_URL"] ?? "").hostname;
const NAME = "sluice";

/** Timeout of public connections, in seconds. A stream or WebSocket is open as long as its call, and may be silent for a minute. */
const STREAM_SECONDS = "3600";

/** Returns the Ingress for clients, with annotations for nginx. Other controllers use different annotations. */
export function publicIngress(): Ingress {
  return new Ingress({
    metadata: {
      name: NAME,
      annotations: {
        "nginx.ingress.kubernetes.io/proxy-read-timeout": STREAM_SECONDS,
        "nginx.ingress.kubernetes.io/proxy-send-timeout": STREAM_SECONDS,
        // No buffering: streams and uploads pass as they arrive. The service limits their size.
        "nginx.ingress.kubernetes.io/proxy-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-body-size": "0",
      },
    },
    spec: {
      tls: [{ hosts: [HOST], secretName: "sluice-tls" }],
      rules: [
        {
          host: HOST,
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: INGRESS.name, port: { name: PUBLIC_PORT.name } } },
              },
            ],
          },
        },
      ],
    },
  });
}

/** Returns the gateway route for clients. WebSockets need no setting, because gateways forward upgrades over HTTP/1.1. */
export function publicRoute(): HTTPRoute {
  return new HTTPRoute({
    metadata: { name: NAME },
    spec: {
      parentRefs: [{ name: "public", namespace: "gateway" }],
      hostnames: [HOST],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          // No limit: calls have their own timeouts.
          timeouts: { request: "0s", backendRequest: "0s" },
          backendRefs: [{ name: INGRESS.name, port: PUBLIC_PORT.containerPort }],
        },
      ],
    },
  });
}

export function podMonitor(): PodMonitor {
  return new PodMonitor({
    metadata: { name: NAME },
    spec: {
      selector: { matchExpressions: [{ key: PART, operator: "In", values: ["sluice"] }] },
      podMetricsEndpoints: [{ port: ADMIN_PORT.name, path: "/metrics", interval: "15s" }],
    },
  });
}
