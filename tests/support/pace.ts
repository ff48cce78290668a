/**
 * In a process of the test runner and in its stacks, timeouts after a crash or silence are a fifth of their normal length. Load runs use
 * the pace of production, because five times as many sweeps and heartbeats are a tenth of a busy machine's work. Import this file before
 * anything that reads a limit (bunfig.toml).
 */
export const TEST_PACE = (process.env["SLUICE_PACE"] ??= process.env["NODE_ENV"] === "test" ? "0.2" : "1");
