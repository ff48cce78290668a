/** The document of the API: every operation answers as it says and as is recorded. */
import { afterAll, test } from "bun:test";

import { expectRecorded } from "./records.ts";
import { sharedStack } from "./shared-stack.ts";

await import("./conformance.ts");
await import("./nulls.ts");
await import("./refusals.ts");
await import("./media-types.ts");
await import("./examples.ts");

test("answers equal the recorded ones", expectRecorded);

afterAll(async () => {
  await (await sharedStack()).stop();
});
