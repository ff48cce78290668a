/**
 * The operator's port: metrics, liveness, readiness. It never listens where clients call, because metrics and the
 * names of failing dependencies are nobody else's business (lesson EDGE-7).
 */
import type { Registry } from "prom-client";

import type { Logger } from "./logger.ts";

/** Why a check fails, as a category; an error's own words may hold addresses or credentials. */
export type CheckDetail = "ok" | "timeout" | "unreachable" | "starting" | "stopping" | "failed";

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: CheckDetail;
}

export interface Readiness {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

export interface AdminServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly registry: Registry;
  readonly ready: () => Promise<Readiness>;
  readonly log: Logger;
}

export interface AdminServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Resolves when the dependency can be used; throws or stays silent when not. The signal aborts at the deadline. */
export type Check = (signal: AbortSignal) => Promise<unknown>;

/** An orchestrator asks every few seconds; a check that takes longer is a failing one. */
const CHECK_DEADLINE_MS = 2_000;
/** Readiness as a whole: the checks run side by side, this only guards against one that is not bounded. */
const READY_DEADLINE_MS = 3_000;

/**
 * Runs all checks side by side, each with a deadline of two seconds.
 * @param stopping once aborted, the answer is "not ready" whatever the checks say
 */
export async function runChecks(checks: Readonly<Record<string, Check>>, stopping?: AbortSignal): Promise<Readiness> {
  const results = await Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check)));
  if (stopping?.aborted === true) results.unshift({ name: "process", ok: false, detail: "stopping" });
  return { ok: results.every((result) => result.ok), checks: results };
}

/** @throws the system's error when the port is taken (code EADDRINUSE) */
export function startAdminServer(options: AdminServerOptions): AdminServer {
  const { registry, ready, log } = options;
  const routes: Readonly<Record<string, () => Promise<Response>>> = {
    "/metrics": async () =>
      new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
    "/healthz": async () => {
      // One full turn of the loop: a process that cannot take it does not answer, and that is the signal.
      await new Promise((resolve) => setTimeout(resolve, 0));
      return Response.json({ status: "ok" });
    },
    "/readyz": async () => {
      const readiness = await boundedReadiness(ready);
      const failing = readiness.checks.filter((check) => !check.ok);
      if (readiness.ok) return Response.json({ status: "ready" });
      return Response.json({ status: "not ready", failing }, { status: 503 });
    },
  };
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    async fetch(request) {
      const route = routes[new URL(request.url).pathname];
      if (route === undefined) return new Response("not found\n", { status: 404 });
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response("method not allowed\n", { status: 405, headers: { allow: "GET, HEAD" } });
      }
      try {
        return await route();
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

async function runCheck(name: string, check: Check): Promise<CheckResult> {
  const deadline = AbortSignal.timeout(CHECK_DEADLINE_MS);
  try {
    await beforeAbort(check(deadline), deadline);
    return { name, ok: true, detail: "ok" };
  } catch (error) {
    return { name, ok: false, detail: deadline.aborted ? "timeout" : categoryOf(error) };
  }
}

async function boundedReadiness(ready: () => Promise<Readiness>): Promise<Readiness> {
  const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
  try {
    return await beforeAbort(ready(), deadline);
  } catch (error) {
    const detail = deadline.aborted ? "timeout" : categoryOf(error);
    return { ok: false, checks: [{ name: "readiness", ok: false, detail }] };
  }
}

async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const expire = (): void => reject(new Error("deadline"));
  signal.addEventListener("abort", expire, { once: true });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", expire);
  }
}

const UNREACHABLE = /ECONN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|CONNECTION|DISCONNECT|timeout/i;

function categoryOf(error: unknown): CheckDetail {
  if (!(error instanceof Error)) return "failed";
  const code: unknown = Reflect.get(error, "code");
  return UNREACHABLE.test(`${typeof code === "string" ? code : ""} ${error.name} ${error.message}`)
    ? "unreachable"
    : "failed";
}
