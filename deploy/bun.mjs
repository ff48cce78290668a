// @ts-check
/** `node deploy/bun.mjs <arguments>` runs the project's own Bun, installed first where need be, on a machine with Node alone. */
const NODE_FLOOR = 20;

if (Number.parseInt(process.versions.node, 10) < NODE_FLOOR) {
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
} else {
  const { fileURLToPath } = await import("node:url");
  const { runBun } = await import("./embedded/run-bun.mjs");
  await runBun(fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, ""), process.argv.slice(2));
}
