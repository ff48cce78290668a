// @ts-check
/** `npm start` on a machine with Node and nothing else. Only the version is looked at here: the rest needs a new Node. */
const NODE_FLOOR = 20;

if (Number.parseInt(process.versions.node, 10) < NODE_FLOOR) {
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
} else {
  const { fileURLToPath } = await import("node:url");
  const { runStack } = await import("./supervisor/stack.mjs");
  await runStack(fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, ""));
}
