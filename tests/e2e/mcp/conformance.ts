/** The protocol's own suite: the scenarios that fit any server. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newTenant } from "./shared-service.ts";
import { checksOf } from "./suite.ts";

/** It knows no keys: what it sends gets one here. */
let proxy: Bun.Server<undefined>;
beforeAll(async () => {
  const { baseUrls, key } = await newTenant();
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${key}`);
      const { method, body, signal } = request;
      return fetch(`${baseUrls[0]}${pathname}`, { method, headers, body, signal, redirect: "manual" });
    },
  });
}, 240_000);
afterAll(() => proxy?.stop(true));

/** Prompts are not offered here. */
const NOT_OFFERED: ReadonlySet<string> = new Set(["sep-2549-prompts-list-caching-hints"]);

test.each([
  ["2026-07-28", "server-stateless"],
  ["2026-07-28", "tools-list"],
  ["2026-07-28", "resources-list"],
  ["2026-07-28", "caching"],
  ["2026-07-28", "dns-rebinding-protection"],
  ["2026-07-28", "sep-2164-resource-not-found"],
  ["2026-07-28", "server-sse-multiple-streams"],
  ["2026-07-28", "http-header-validation"],
  ["2025-11-25", "server-initialize"],
  ["2025-11-25", "ping"],
  ["2025-11-25", "tools-list"],
  ["2025-11-25", "resources-list"],
])(
  "revision %s: %s",
  async (revision, scenario) => {
    const checks = await checksOf(`http://127.0.0.1:${proxy.port}/mcp`, scenario, revision);
    const failed = checks.filter(({ id, status }) => status === "FAILURE" && !NOT_OFFERED.has(id));
    // Some checks need a tool of the suite's own.
    const faults = failed.filter(({ errorMessage = "" }) => !errorMessage.startsWith("Not testable"));
    expect(faults).toEqual([]);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
  },
  60_000,
);
