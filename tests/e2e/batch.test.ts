/** The batch door: its messages, and every kind of call by way of it, one story after the other on one running service. */
import { afterAll, afterEach } from "bun:test";

import { audit } from "#tests/faults/audit.ts";

import { sharedBed } from "./batch/shared-bed.ts";

await import("./batch/messages.ts");
await import("./batch/kinds.ts");

afterEach(async () => audit(await sharedBed()));
afterAll(async () => {
  await (await sharedBed()).stop();
});
