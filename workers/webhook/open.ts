/** Starts the pool webhook with everything that its attempts need besides the database. */
import type { Lifecycle } from "#shared/lifecycle.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";

import type { WorkerContext } from "../context.ts";
import type { Runner } from "../runner/runner.ts";
import { SENDERS } from "./channels/index.ts";
import { openMailer } from "./mailer.ts";
import { startDeliveries } from "./runner.ts";

/** Share of the process's slots. An attempt mostly waits for its receiver, which costs little. */
const SLOTS_SHARE = 1 / 2;

/** @throws Error with one sentence when a key of stored credentials is missing */
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
