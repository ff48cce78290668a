/**
 * Causes faults in a role that neither signals nor servers can cause. BUN_OPTIONS loads this file before the role's own code. The clock is
 * wrong by WRONG_CLOCK_MS, and the event loop blocks for STANDSTILL_MS after SIGUSR2.
 */
const wrongMs = Number(process.env["WRONG_CLOCK_MS"] ?? 0);
const stillMs = Number(process.env["STANDSTILL_MS"] ?? 0);

if (wrongMs !== 0) {
  const rightNow = Date.now;
  const now = (): number => rightNow() + wrongMs;
  Date.now = now;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as object,
  });
}
if (stillMs !== 0) process.on("SIGUSR2", () => Bun.sleepSync(stillMs));
