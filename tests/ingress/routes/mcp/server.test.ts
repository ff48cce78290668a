import { afterAll, expect, spyOn, test } from "bun:test";

import type { ApiClient } from "#ingress/tools/api-client.ts";
import { answerMessage } from "#ingress/routes/mcp/server.ts";
import { READER_STUCK_MS } from "#ingress/core/response-body.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";

let ahead = 0;
const clock = spyOn(performance, "now").mockImplementation(() => Bun.nanoseconds() / 1e6 + ahead);
afterAll(() => clock.mockRestore());

test("a client that stops reading a large result is disconnected", async () => {
  const id = newId();
  const job = {
    id,
    object: "job",
    status: "completed",
    progress: 1,
    created: 1,
    data: [{ text: "x".repeat(1_000_000) }],
  };
  const request = new Request("http://localhost/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  });
  const api = {
    context: { log: createLogger({ role: "ingress", level: "silent" }) },
    call: { request, requestId: id },
    ask: () => Promise.resolve(Response.json(job)),
  } as unknown as ApiClient;
  const params = { name: "get_result", arguments: { id } };
  const { body } = await answerMessage(api, undefined, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const reader = body?.getReader();
  expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
  ahead = READER_STUCK_MS + 1;
  const cut = (reader?.closed ?? Promise.resolve()).then(
    () => "whole",
    () => "cut",
  );
  expect(await cut).toBe("cut");
}, 20_000);
