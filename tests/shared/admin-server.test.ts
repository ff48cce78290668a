import { afterEach, describe, expect, test } from "bun:test";

import { Registry } from "prom-client";

import { type AdminServer, type Readiness, runChecks, startAdminServer } from "#shared/admin-server.ts";
import { createLogger } from "#shared/logger.ts";
import { counter } from "#shared/metric-handles.ts";

const log = createLogger({ level: "silent", role: "test" });
const servers: AdminServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

function serve(ready: () => Promise<Readiness> = () => runChecks({}), registry = new Registry()) {
  const server = startAdminServer({ host: "127.0.0.1", port: 0, registry, ready, log });
  servers.push(server);
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);
}

describe("the admin port", () => {
  test("serves the metrics page as Prometheus text", async () => {
    const registry = new Registry();
    counter(registry, "seen_total", "h", []).inc();
    const answer = await serve(undefined, registry)("/metrics");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    expect(await answer.text()).toContain("\nseen_total 1\n");
  });

  test("answers liveness while readiness fails", async () => {
    const get = serve(() => runChecks({ database: () => Promise.reject(new Error("away")) }));
    expect((await get("/readyz")).status).toBe(503);
    expect(await (await get("/healthz")).json()).toEqual({ status: "ok" });
  });

  test.each(["/", "/v1/models", "/metrics/", "/../metrics/x", "/constructor", "/__proto__"])(
    "knows nothing under %s",
    async (path) => {
      expect((await serve()(path)).status).toBe(404);
    },
  );

  test("takes no other method than GET and HEAD", async () => {
    const answer = await serve()("/metrics", { method: "POST", body: "x" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("tells nothing about a fault of its own", async () => {
    const registry = new Registry();
    registry.metrics = () => Promise.reject(new Error("secret place"));
    const answer = await serve(undefined, registry)("/metrics");
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret place");
  });

  test("says by its code that the port is taken", async () => {
    const first = startAdminServer({
      host: "127.0.0.1",
      port: 0,
      registry: new Registry(),
      ready: () => runChecks({}),
      log,
    });
    servers.push(first);
    const second = () =>
      startAdminServer({
        host: "127.0.0.1",
        port: first.port,
        registry: new Registry(),
        ready: () => runChecks({}),
        log,
      });
    expect(second).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  });
});

describe("readiness", () => {
  test("is 200 when every check passes", async () => {
    const answer = await serve(() => runChecks({ database: async () => 1, queue: async () => undefined }))("/readyz");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: "ready" });
  });

  test("names the failing checks with a category and nothing else", async () => {
    const get = serve(() =>
      runChecks({
        database: () => Promise.reject(Object.assign(new Error("connect db.internal:5432"), { code: "ECONNREFUSED" })),
        queue: async () => undefined,
        storage: () => Promise.reject(new Error("signature canary")),
      }),
    );
    const answer = await get("/readyz");
    expect(answer.status).toBe(503);
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual({
      status: "not ready",
      failing: [
        { name: "database", ok: false, detail: "unreachable" },
        { name: "storage", ok: false, detail: "failed" },
      ],
    });
    expect(text).not.toMatch(/canary|internal/);
  });

  test("recovers without a restart", async () => {
    let away = true;
    const get = serve(() => runChecks({ database: async () => (away ? Promise.reject(new Error("away")) : 1) }));
    expect((await get("/readyz")).status).toBe(503);
    away = false;
    expect((await get("/readyz")).status).toBe(200);
  });

  test("is over once the process is stopping, whatever the checks say", async () => {
    const stopping = new AbortController();
    const get = serve(() => runChecks({ database: async () => 1 }, stopping.signal));
    expect((await get("/readyz")).status).toBe(200);
    stopping.abort();
    expect(await (await get("/readyz")).json()).toMatchObject({ failing: [{ name: "process", detail: "stopping" }] });
  });

  test("does not wait for a check that never answers", async () => {
    const aborted = Promise.withResolvers<void>();
    const readiness = await runChecks({
      queue: (signal) => new Promise(() => signal.addEventListener("abort", () => aborted.resolve())),
      database: async () => 1,
    });
    await aborted.promise;
    expect(readiness).toEqual({
      ok: false,
      checks: [
        { name: "queue", ok: false, detail: "timeout" },
        { name: "database", ok: true, detail: "ok" },
      ],
    });
  });

  test("that throws as a whole is not ready", async () => {
    const answer = await serve(() => Promise.reject(new Error("bug")))("/readyz");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ failing: [{ name: "readiness", detail: "failed" }] });
  });
});
