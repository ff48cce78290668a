// @ts-check
/** `npm start` on a machine that has only Node. This file only checks the Node version, because all other files need a recent Node. */
import { isNodeNewEnough } from "./embedded/node-floor.mjs";

if (isNodeNewEnough()) {
  const { fileURLToPath } = await import("node:url");
  const { runStack } = await import("./supervisor/stack.mjs");
  await runStack(fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, ""), process.argv.slice(2));
}
