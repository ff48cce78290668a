/** Speech, transcriptions and music, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBench } from "./audio/shared-bench.ts";

await import("./audio/speech.ts");
await import("./audio/transcriptions.ts");
await import("./audio/music.ts");

afterAll(async () => {
  await (await sharedBench()).close();
});
