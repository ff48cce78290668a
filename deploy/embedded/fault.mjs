// @ts-check
/**
 * Failure of a start that the operator can fix. The message is one sentence without a prefix; callers print `sluice: <message>` and exit
 * with 1. Every other error is a bug and is printed with its stack.
 */
export class StartFault extends Error {
  /** @override */
  name = "StartFault";
}

/**
 * Returns the message of an error, or any other thrown value as text.
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
