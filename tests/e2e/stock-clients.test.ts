/** Stories of applications with the SDKs they have, one after the other on one running service. */
import { afterAll, expect } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";

import { sharedStack } from "./stock-clients/shared-stack.ts";

await import("./stock-clients/openai-sdk.ts");
await import("./stock-clients/anthropic-sdk.ts");
await import("./stock-clients/responses.ts");
await import("./stock-clients/responses-socket.ts");
await import("./stock-clients/responses-background.ts");
await import("./stock-clients/conversations.ts");
await import("./stock-clients/open-responses.ts");
await import("./stock-clients/embeddings.ts");
await import("./stock-clients/files.ts");
await import("./stock-clients/files-in-chat.ts");
await import("./stock-clients/image-edits.ts");
await import("./stock-clients/response-cache.ts");
await import("./stock-clients/credits.ts");

afterAll(async () => {
  const stack = await sharedStack();
  await eventually("no hold stays open", async () => (await stack.query("select * from hold")).length === 0);
  expect(await stack.query("select * from audit_ledger()")).toEqual([]);
  await stack.stop();
  expect(stack.upstream.faults).toEqual([]);
});
