/**
 * HTTP server on the operator's port for metrics, liveness and readiness. Clients cannot reach this port, because metrics and names of
 * failing dependencies are internal.
 */
import type { Registry } from "prom-client";

import { beforeAbort } from "../base/abortable.ts";
import { categoryOf, DEPENDENCY_NAMES, type DependencyName, type Readiness, requiredBy } from "../net/dependencies.ts";
import type { Logger } from "../base/logger.ts";

export interface AdminServerOptions {
  readonly host: string;
  /** Port number; 0 lets the operating system choose. */
  readonly port: number;
  readonly registry: Pick<Registry, "metrics" | "contentType">;
  /** Checks the readiness of the process. @param required dependencies that must be usable, in addition to the vital ones */
  readonly ready: (required: readonly DependencyName[]) => Promise<Readiness>;
  /** Additional values for operators, listed next to the dependencies. They do not influence readiness. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Signal that aborts when the process begins to stop. */
  readonly stopping: AbortSignal;
  /** Additional pages of the process's role, by URL path. */
  readonly pages?: AdminPages;
  readonly log: Logger;
}

/** Handlers of GET requests, by URL path. */
export type AdminPages = Readonly<Record<string, (url: URL, request: Request) => Promise<Response>>>;

export interface AdminServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Timeout of the whole readiness check, in milliseconds. Individual checks run in parallel; the timeout covers checks without their own
 * limit.
 */
const READY_DEADLINE_MS = 3_000;

/** Starts the server. @throws the operating system's error if the port is in use (code EADDRINUSE) */
export function startAdminServer(options: AdminServerOptions): AdminServer {
  const { registry, ready, details, stopping, log } = options;
  const pages: AdminPages = {
    ...options.pages,
    "/metrics": async () =>
      new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
    "/healthz": async () => {
      // One full turn of the event loop: a blocked process does not respond, which is the signal.
      await new Promise((resolve) => setTimeout(resolve, 0));
      return Response.json({ status: "ok" });
    },
    "/readyz": async (url) => {
      const scope = url.searchParams.get("scope");
      if (scope === "process") return processReadiness(stopping);
      if (scope !== null) return new Response("scope is `process`, or left out\n", { status: 400 });
      const required = requiredBy(url);
      if (!required) {
        const names = DEPENDENCY_NAMES.join(", ");
        return new Response(`require names dependencies: ${names}\n`, { status: 400 });
      }
      const { ok, checks, failing } = await boundedReadiness(() => ready(required));
      const dependencies = Object.fromEntries(checks.map(({ name, detail }) => [name, detail]));
      if (ok) return Response.json({ status: "ready", dependencies, ...details });
      return Response.json({ status: "not ready", failing, dependencies, ...details }, { status: 503 });
    },
  };
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    async fetch(request) {
      const url = new URL(request.url);
      const page = pages[url.pathname];
      if (page === undefined) return new Response("not found\n", { status: 404 });
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response("method not allowed\n", { status: 405, headers: { allow: "GET, HEAD" } });
      }
      try {
        return await page(url, request);
      } catch (error) {
        log.error({ err: error }, "admin request failed");
        return new Response("internal error\n", { status: 500 });
      }
    },
  });
  return {
    port: server.port ?? options.port,
    async stop() {
      await server.stop(true);
    },
  };
}

/**
 * Returns the readiness of the process without checking dependencies: ready if the process has started and is not stopping. If probes
 * checked a shared server, its failure would remove every process at once.
 */
function processReadiness(stopping: AbortSignal): Response {
  if (!stopping.aborted) return Response.json({ status: "ready" });
  const failing = [{ name: "process", ok: false, detail: "stopping" }];
  return Response.json({ status: "not ready", failing }, { status: 503 });
}

async function boundedReadiness(ready: () => Promise<Readiness>): Promise<Readiness> {
  const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
  try {
    return await beforeAbort(ready(), deadline);
  } catch (error) {
    const detail = deadline.aborted ? "timeout" : categoryOf(error);
    return { ok: false, checks: [], failing: [{ name: "readiness", ok: false, detail }] };
  }
}
