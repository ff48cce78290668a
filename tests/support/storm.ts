/**
 * Returns the size of a storm, in which faults occur at random moments under load. The suite runs a small one, `npm run soak` the whole
 * one. Soak runs every
 * test file that imports this file.
 */
export function storm<T>(small: T, whole: T): T {
  return process.env["SOAK"] === "on" ? whole : small;
}

/** Returns the duration of the longest storms in soak, in minutes: SOAK_MINUTES, or 60. */
export function soakMinutes(): number {
  return Number(process.env["SOAK_MINUTES"] ?? 60);
}
