/** The protocol's own suite, asked of the service. */
import { afterAll, beforeAll, test } from "bun:test";

import { newTenant } from "./shared-service.ts";
import { expectConformance, REVISIONS } from "./suite.ts";

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

test.each(REVISIONS)(
  "revision %s: the conformance suite for servers",
  (revision) => expectConformance(`http://127.0.0.1:${proxy.port}/mcp`, revision, "service", NOT_OFFERED),
  120_000,
);
