// @ts-check
/** Oldest supported major version of Node. The check runs before any other import, because the other files need this version. */
const NODE_FLOOR = 20;

/**
 * Returns true if this Node is new enough. Otherwise prints an error to stderr and sets the exit code to 1.
 * @returns {boolean}
 */
export function isNodeNewEnough() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_FLOOR) return true;
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
  return false;
}
