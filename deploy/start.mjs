// @ts-check
/** `npm start` on a machine with Node and nothing else. Only the version is checked here: the rest needs a new Node. */
import { isNodeNewEnough } from "./embedded/node-floor.mjs";

if (isNodeNewEnough()) {
  const { fileURLToPath } = await import("node:url");
  const { runStack } = await import("./supervisor/stack.mjs");
  await runStack(fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, ""), process.argv.slice(2));
}
