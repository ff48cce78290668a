// @ts-check
/** Looked at before anything else is imported: the rest needs a new Node. */
const NODE_FLOOR = 20;

/** Whether this Node is new enough; else it has said so on stderr, and the exit code is 1. @returns {boolean} */
export function isNodeNewEnough() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_FLOOR) return true;
  process.stderr.write(`sluice: Node ${process.versions.node} is too old; install Node ${NODE_FLOOR} or newer.\n`);
  process.exitCode = 1;
  return false;
}
