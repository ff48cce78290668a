// @ts-check
/** Looked at before anything else is imported: the rest needs a new Node. */
const NODE_FLOOR = 20;

/** True if this Node is new enough; otherwise says so on stderr and sets the exit code to 1. @returns {boolean} */
export function isNodeNewEnough() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_FLOOR) return true;
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
  return false;
}
