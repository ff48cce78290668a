/**
 * A storm lets faults strike at random moments under load. The suite runs a small one, `npm run soak` the whole; soak takes
 * every test file that imports this.
 */
export function storm<T>(small: T, whole: T): T {
  return process.env["SOAK"] === "on" ? whole : small;
}

/** Minutes that the longest storms last in soak: SOAK_MINUTES, or an hour. */
export function soakMinutes(): number {
  return Number(process.env["SOAK_MINUTES"] ?? 60);
}
