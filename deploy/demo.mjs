// @ts-check
/** `npm run demo` on a machine with Node and nothing else: one call of every modality, its results in a folder. */
import { isNodeNewEnough } from "./embedded/node-floor.mjs";

if (isNodeNewEnough()) {
  const { fileURLToPath } = await import("node:url");
  const { runBun } = await import("./embedded/run-bun.mjs");
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  await runBun(root, ["deploy/demo/main.ts", process.execPath, ...process.argv.slice(2)]);
}
