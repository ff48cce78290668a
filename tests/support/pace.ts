/**
 * In this process, and in the stacks it starts, waits after a death or a silence take a fifth of their time. Imported before
 * anything that reads a limit (bunfig.toml).
 */
export const TEST_PACE = (process.env["SLUICE_PACE"] ??= "0.2");
