// @ts-check
/**
 * Reason for a failed start that the operator can fix. The message is one sentence without a prefix; callers print it as
 * `sluice: <message>` and exit with 1. Any other error is a bug and is printed with its stack.
 */
export class StartFault extends Error {
  /** @override */
  name = "StartFault";
}

/**
 * Returns the text of any thrown value.
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
