// @ts-check
/** Oldest supported Node version, checked before any other import, because the other files need it. */
const NODE_FLOOR = 20;

/** Returns true if this Node is new enough; else prints an error to stderr and sets the exit code to 1. @returns {boolean} */
export function isNodeNewEnough() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_FLOOR) return true;
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
  return false;
}
