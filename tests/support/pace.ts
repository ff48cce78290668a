/**
 * In a process of the test runner, and in the stacks it starts, waits after a death or a silence take a fifth of their time. Load
 * runs start stacks at the pace of production: sweeps and heartbeats that come five times as often are a tenth of a busy machine's
 * work. Imported before anything that reads a limit (bunfig.toml).
 */
export const TEST_PACE = (process.env["SLUICE_PACE"] ??= process.env["NODE_ENV"] === "test" ? "0.2" : "1");
