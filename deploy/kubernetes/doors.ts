/** Ways for clients to the Service of the ingresses, of which a cluster takes one, and for Prometheus to the metrics. */
import { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute";
import { PodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";

import { ADMIN_PORT, PART, PUBLIC_PORT } from "./pods.ts";
import { SETTINGS } from "./secrets.ts";
import { INGRESS } from "./workloads.ts";

const HOST = new URL(SETTINGS["SLUICE_PUBLIC_URL"] ?? "").hostname;
const NAME = "sluice";

/** A stream or a WebSocket stays open as long as its call takes, and may be silent for a minute. */
const STREAM_SECONDS = "3600";

/** Ingress with the annotations of controllers that run nginx; others have names of their own for the same. */
export function publicIngress(): Ingress {
  return new Ingress({
    metadata: {
      name: NAME,
      annotations: {
        "nginx.ingress.kubernetes.io/proxy-read-timeout": STREAM_SECONDS,
        "nginx.ingress.kubernetes.io/proxy-send-timeout": STREAM_SECONDS,
        // Words go out as they come, files come in as they are sent, and the service bounds their size itself.
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

/** Route of a gateway. WebSockets need nothing of their own: upgrades are passed on over HTTP/1.1. */
export function publicRoute(): HTTPRoute {
  return new HTTPRoute({
    metadata: { name: NAME },
    spec: {
      parentRefs: [{ name: "public", namespace: "gateway" }],
      hostnames: [HOST],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          // No limit: calls have their own.
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
