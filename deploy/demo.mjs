// @ts-check
/** `npm run demo` on a machine that has only Node: installs what is missing and runs deploy/demo/main.ts in the project's Bun. */
import { isNodeNewEnough } from "./embedded/node-floor.mjs";

if (isNodeNewEnough()) {
  const { fileURLToPath } = await import("node:url");
  const { runBun } = await import("./embedded/run-bun.mjs");
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  await runBun(root, ["deploy/demo/main.ts", process.execPath, ...process.argv.slice(2)]);
}
