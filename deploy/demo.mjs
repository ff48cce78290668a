// @ts-check
/** `npm run demo` on a machine with Node and nothing else: one call of every modality, its results in a folder. */
const NODE_FLOOR = 20;

if (Number.parseInt(process.versions.node, 10) < NODE_FLOOR) {
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
} else {
  const { fileURLToPath } = await import("node:url");
  const { demonstrate } = await import("./demo/command.mjs");
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  await demonstrate(root, process.argv.slice(2));
}
