/** Opens the pool webhook: what its attempts need beside the database. */
import type { Lifecycle } from "#shared/lifecycle.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";

import type { WorkerContext } from "../context.ts";
import type { Runner } from "../runner/runner.ts";
import { SENDERS } from "./channels/index.ts";
import { openMailer } from "./mailer.ts";
import { startDeliveries } from "./runner.ts";

/** Half of what a process does at once: an attempt waits for its receiver, and costs little meanwhile. */
const SLOTS_SHARE = 1 / 2;

/** @throws Error with one sentence when a key that sealed stored credentials is missing */
export async function startWebhooks(
  context: Pick<WorkerContext, "config" | "database" | "log" | "metrics"> & {
    readonly lifecycle: Pick<Lifecycle, "onStop">;
  },
): Promise<Runner> {
  const { config, database, log, metrics, lifecycle } = context;
  const sealer = await openSealer(config, database);
  const mailer =
    config.smtpUrl === undefined ? undefined : openMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom });
  if (mailer) lifecycle.onStop("mail", () => mailer.close());
  const slots = Math.max(8, Math.floor(config.workerSlots * SLOTS_SHARE));
  return startDeliveries({ database, sealer, mailer, senders: SENDERS, log, metrics, slots });
}
