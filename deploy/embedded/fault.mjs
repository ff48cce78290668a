// @ts-check
/**
 * A reason not to start that the operator can act on. Its message is one whole sentence without a prefix; callers print
 * it as `sluice: <message>` and exit 1. Any other error is a defect of ours and keeps its stack.
 */
export class StartFault extends Error {
  /** @override */
  name = "StartFault";
}

/**
 * The text of anything that was thrown.
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
