/**
 * Sets the pace of the test runner and of the services that it starts. Timeouts after a crash or silence are a fifth of their normal
 * length. Load runs use the pace of production, because five times as many sweeps and heartbeats take a tenth of a busy machine's CPU time.
 * Import this file before anything that reads a limit (bunfig.toml).
 */
export const TEST_PACE = (process.env["SLUICE_PACE"] ??= process.env["NODE_ENV"] === "test" ? "0.2" : "1");
