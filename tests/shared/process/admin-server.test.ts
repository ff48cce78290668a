import { afterEach, describe, expect, test } from "bun:test";

import { Registry } from "prom-client";

import { type AdminServer, type AdminServerOptions, startAdminServer } from "#shared/process/admin-server.ts";
import {
  type Check,
  type CheckResult,
  type Dependencies,
  type DependencyName,
  type Readiness,
  watchDependencies,
} from "#shared/net/dependencies.ts";
import { createLogger } from "#shared/base/logger.ts";
import { counter } from "#shared/metrics/metric-handles.ts";
import { eventually } from "#tests/faults/wait.ts";

const log = createLogger({ level: "silent", role: "test" });
const servers: AdminServer[] = [];
const watching: Dependencies[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const watched of watching.splice(0)) watched.close();
});

type Ready = (required: readonly DependencyName[]) => Promise<Readiness>;
type Checks = Partial<Readonly<Record<DependencyName, Check>>>;

/** All of them vital but the object store. */
function watch(checks: Checks = {}, stopping?: AbortSignal, onResult?: (result: CheckResult) => void) {
  const dependencies = Object.entries(checks).map(([name, check]) => ({
    name: name as DependencyName,
    check,
    isVital: name !== "storage",
  }));
  const watched = watchDependencies(dependencies, {
    ...(stopping ? { stopping } : {}),
    ...(onResult ? { onResult } : {}),
  });
  watching.push(watched);
  return watched;
}

const ready = (checks: Checks = {}, stopping?: AbortSignal): Ready => {
  const watched = watch(checks, stopping);
  return (required) => watched.readiness(required);
};

function serve(
  isReady: Ready = ready(),
  registry = new Registry(),
  details = {},
  more: Pick<AdminServerOptions, "pages"> & { readonly stopping?: AbortSignal } = {},
) {
  const server = startAdminServer({
    host: "127.0.0.1",
    port: 0,
    registry,
    ready: isReady,
    details,
    stopping: new AbortController().signal,
    log,
    ...more,
  });
  servers.push(server);
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);
}

describe("the admin port", () => {
  test("returns facts of its role beside the dependencies", async () => {
    const body = await (await serve(ready(), new Registry(), { engines: { sharp: "ok" } })("/readyz")).json();
    expect(body).toMatchObject({ status: "ready", engines: { sharp: "ok" } });
  });

  test("serves the metrics page as Prometheus text", async () => {
    const registry = new Registry();
    counter(registry, "seen_total", "h", []).inc();
    const answer = await serve(undefined, registry)("/metrics");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    expect(await answer.text()).toContain("\nseen_total 1\n");
  });

  test("serves pages of its role, and none in place of its own", async () => {
    const page = async (url: URL, request: Request): Promise<Response> =>
      new Response(`${url.search} ${request.headers.get("authorization")}`);
    const get = serve(ready(), new Registry(), {}, { pages: { "/lag": page, "/healthz": page } });
    const answer = await get("/lag?pool=chat", { headers: { authorization: "Bearer x" } });
    expect(await answer.text()).toBe("?pool=chat Bearer x");
    expect((await get("/lag", { method: "POST" })).status).toBe(405);
    expect(await (await get("/healthz")).json()).toEqual({ status: "ok" });
  });

  test("answers liveness while readiness fails", async () => {
    const get = serve(ready({ database: () => Promise.reject(new Error("away")) }));
    expect((await get("/readyz")).status).toBe(503);
    expect(await (await get("/healthz")).json()).toEqual({ status: "ok" });
  });

  test.each(["/", "/v1/models", "/metrics/", "/../metrics/x", "/constructor", "/__proto__"])(
    "serves nothing under %s",
    async (path) => {
      expect((await serve()(path)).status).toBe(404);
    },
  );

  test("accepts only GET and HEAD", async () => {
    const answer = await serve()("/metrics", { method: "POST", body: "x" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("returns no details of an internal error", async () => {
    const registry = new Registry();
    registry.metrics = () => Promise.reject(new Error("secret place"));
    const answer = await serve(undefined, registry)("/metrics");
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret place");
  });

  test("reports by its code that the port is occupied", async () => {
    const first = startAdminServer({
      details: {},
      host: "127.0.0.1",
      port: 0,
      registry: new Registry(),
      ready: ready(),
      stopping: new AbortController().signal,
      log,
    });
    servers.push(first);
    const second = () =>
      startAdminServer({
        details: {},
        host: "127.0.0.1",
        port: first.port,
        registry: new Registry(),
        ready: ready(),
        stopping: new AbortController().signal,
        log,
      });
    expect(second).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  });
});

const AWAY = (): Promise<never> => Promise.reject(new Error("away"));
const THERE = (): Promise<void> => Promise.resolve();

describe("readiness", () => {
  test("is 200 when all vital servers can be used, and lists each", async () => {
    const answer = await serve(ready({ database: THERE, queue: THERE }))("/readyz");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: "ready", dependencies: { database: "ok", queue: "ok" } });
  });

  test("names a failing server with a category only", async () => {
    const get = serve(
      ready({
        database: () => Promise.reject(Object.assign(new Error("connect db.internal:5432"), { code: "ECONNREFUSED" })),
        queue: () => Promise.reject(new Error("signature canary")),
      }),
    );
    const answer = await get("/readyz");
    expect(answer.status).toBe(503);
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual({
      status: "not ready",
      failing: [
        { name: "database", ok: false, detail: "unreachable" },
        { name: "queue", ok: false, detail: "failed" },
      ],
      dependencies: { database: "unreachable", queue: "failed" },
    });
    expect(text).not.toMatch(/canary|internal/);
  });

  test("stays during an outage of the object store, which is reported, unless a probe requires it", async () => {
    const get = serve(ready({ database: THERE, queue: THERE, storage: AWAY }));
    const strict = await get("/readyz?require=storage");
    const dependencies = { database: "ok", queue: "ok", storage: "failed" };
    expect([strict.status, await strict.json()]).toEqual([
      503,
      { status: "not ready", failing: [{ name: "storage", ok: false, detail: "failed" }], dependencies },
    ]);
    const usual = await get("/readyz");
    expect([usual.status, await usual.json()]).toEqual([200, { status: "ready", dependencies }]);
    expect((await get("/readyz?require=moon")).status).toBe(400);
  });

  test("does not wait for an object store that never answers", async () => {
    const get = serve(ready({ database: THERE, storage: () => new Promise(() => undefined) }));
    expect(await (await get("/readyz")).json()).toEqual({
      status: "ready",
      dependencies: { database: "ok", storage: "starting" },
    });
  });

  test("checks each dependency once, for any number of concurrent probes", async () => {
    const asked = { database: 0, storage: 0 };
    const results: CheckResult[] = [];
    const watched = watch(
      { database: () => Promise.resolve((asked.database += 1)), storage: () => Promise.resolve((asked.storage += 1)) },
      undefined,
      (result) => results.push(result),
    );
    await Promise.all(Array.from({ length: 50 }, () => watched.readiness(["storage"])));
    expect([asked, results.map(({ name, ok }) => [name, ok])]).toEqual([
      { database: 1, storage: 1 },
      [
        ["database", true],
        ["storage", true],
      ],
    ]);
  });

  test("recovers without a restart", async () => {
    let isAway = true;
    const get = serve(ready({ database: () => (isAway ? AWAY() : THERE()) }));
    expect((await get("/readyz")).status).toBe(503);
    isAway = false;
    await eventually("it is back", async () => (await get("/readyz")).status === 200);
  });

  test("ends once the process is stopping, for every result of the checks", async () => {
    const stopping = new AbortController();
    const get = serve(ready({ database: THERE }, stopping.signal));
    expect((await get("/readyz")).status).toBe(200);
    stopping.abort();
    expect(await (await get("/readyz")).json()).toMatchObject({ failing: [{ name: "process", detail: "stopping" }] });
  });

  test("of the process alone depends on no server, and ends once it is stopping", async () => {
    const stopping = new AbortController();
    const get = serve(ready({ database: AWAY }), new Registry(), {}, { stopping: stopping.signal });
    expect((await get("/readyz")).status).toBe(503);
    expect((await get("/readyz?scope=process")).status).toBe(200);
    expect((await get("/readyz?scope=world")).status).toBe(400);
    stopping.abort();
    const answer = await get("/readyz?scope=process");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ failing: [{ name: "process", detail: "stopping" }] });
  });

  test("does not wait for a vital check that never answers", async () => {
    const aborted = Promise.withResolvers<void>();
    const readiness = await ready({
      queue: (signal) => new Promise(() => signal.addEventListener("abort", () => aborted.resolve())),
      database: THERE,
    })([]);
    await aborted.promise;
    expect(readiness).toEqual({
      ok: false,
      checks: [
        { name: "queue", ok: false, detail: "timeout" },
        { name: "database", ok: true, detail: "ok" },
      ],
      failing: [{ name: "queue", ok: false, detail: "timeout" }],
    });
  });

  test("that throws is not ready", async () => {
    const answer = await serve(() => Promise.reject(new Error("bug")))("/readyz");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ failing: [{ name: "readiness", detail: "failed" }] });
  });
});
