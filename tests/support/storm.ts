/**
 * Chooses the size of a storm, a test in which faults occur at random moments under load. Returns `small` in the suite and `whole` in `npm
 * run soak`. Soak runs every test file that imports this file.
 */
export function storm<T>(small: T, whole: T): T {
  return process.env["SOAK"] === "on" ? whole : small;
}

/** Returns the duration of the longest storms in soak, in minutes: SOAK_MINUTES, or 60. */
export function soakMinutes(): number {
  return Number(process.env["SOAK_MINUTES"] ?? 60);
}
