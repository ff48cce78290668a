/** Checks rules that relate several settings. */

import type { Values } from "./reader.ts";
import type { SETTINGS } from "./settings.ts";

/** Returns a sentence for each rule that the settings break. */
export function listBrokenRules(
  settings: Values<typeof SETTINGS>,
  { servesClients }: { readonly servesClients: boolean },
): string[] {
  const { operatorToken, bootstrapKey, smtpUrl, mailFrom, workerSlots, outgoingMax, calls } = settings;
  const { production, sandbox, publicUrl, pace, janitorPace, oidc } = settings;
  const faults: string[] = [];
  if (operatorToken !== undefined && operatorToken === bootstrapKey) {
    faults.push(
      "SLUICE_OPERATOR_TOKEN must differ from SLUICE_BOOTSTRAP_KEY: one is of operators, the other of a workspace",
    );
  }
  if (smtpUrl !== undefined && mailFrom === "") faults.push("SLUICE_MAIL_FROM is not set; mail needs a sender");
  const outgoingWanted = workerSlots + Math.max(1, Math.floor(workerSlots / 8));
  if (outgoingWanted > outgoingMax) {
    // Beyond it Bun queues outgoing calls silently: a job would hold its slot while its provider call waits.
    faults.push(
      `SLUICE_WORKER_SLOTS ${workerSlots} and its batch share need BUN_CONFIG_MAX_HTTP_REQUESTS of at least ${outgoingWanted}, got ${outgoingMax}`,
    );
  }
  if (sandbox && production) {
    faults.push("SLUICE_SANDBOX must not be on in production: set it to off, or SLUICE_PRODUCTION to off");
  }
  if (production && servesClients && publicUrl === undefined) {
    // A client may name any host, and a cache in front of us would hand its links to others.
    faults.push("SLUICE_PUBLIC_URL is not set; links name it in production, for example https://ai.example.com");
  }
  const signIn = Object.values(oidc).filter((value) => value !== undefined).length;
  if (servesClients && signIn > 0) {
    if (signIn < 3) {
      faults.push("SLUICE_OIDC_ISSUER, SLUICE_OIDC_CLIENT_ID and SLUICE_OIDC_CLIENT_SECRET are set together, or none");
    }
    if (publicUrl === undefined)
      faults.push("SLUICE_PUBLIC_URL is not set; the issuer of SLUICE_OIDC_ISSUER sends people back there");
  }
  if (pace !== 1 && production) faults.push("SLUICE_PACE is for tests, not for production");
  if (janitorPace !== pace && production) faults.push("SLUICE_JANITOR_PACE is for tests, not for production");
  if (calls.queueMs > calls.totalMs) {
    faults.push(
      `SLUICE_CALL_QUEUE_MS ${calls.queueMs} must not exceed SLUICE_CALL_TOTAL_MS ${calls.totalMs}: no call waits longer`,
    );
  }
  return faults;
}
