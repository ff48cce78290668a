// @ts-check
/** `node deploy/bun.mjs <arguments>` runs the project's own Bun on a machine that has only Node. It installs Bun first if necessary. */
import { isNodeNewEnough } from "./embedded/node-floor.mjs";

if (isNodeNewEnough()) {
  const { fileURLToPath } = await import("node:url");
  const { runBun } = await import("./embedded/run-bun.mjs");
  await runBun(fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, ""), process.argv.slice(2));
}
