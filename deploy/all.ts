/**
 * `sluice all`: every role in one process, for small machines and for test stacks. Roles share the resources of shared/process/process.ts.
 * Each has its own reserved connections to Postgres, connections to NATS, metrics and logs (decision 0072).
 */
import { INGRESS_CONNECTIONS, startIngress } from "#ingress/main.ts";
import { NATS_AUTH_CONNECTIONS, startNatsAuth } from "#ingress/nats-auth/main.ts";
import { openProcess, type RoleConnections } from "#shared/process/process.ts";
import { openRole } from "#shared/process/role.ts";
import { JANITOR_CONNECTIONS, startJanitor } from "#workers/janitor/main.ts";
import { startWorker, workerConnections } from "#workers/main.ts";
import { fitSlots, type WorkerPool } from "#workers/slots.ts";

/**
 * Part of the shutdown grace period reserved for the workers, in milliseconds. If the period is too short for this, the workers get half of
 * it.
 */
const WORKERS_GRACE_MS = 8_000;

/** Starts every role. @throws Error with a one-sentence message when a requirement of a role is missing, or the port is in use */
export async function startAll(pools: readonly WorkerPool[]): Promise<void> {
  const connections = [INGRESS_CONNECTIONS, workerConnections(pools), JANITOR_CONNECTIONS, NATS_AUTH_CONNECTIONS];
  const host = await openProcess({ name: "all", servesClients: true, connections: sumOf(connections) });
  const { config } = host;
  const { graceMs, natsAuth } = config;
  const workerSlots = fitSlots(pools, config);
  host.log.info({ slots: workerSlots, pools }, "roles share this process");
  // They stop in reverse order: the ingress accepts no new call while workers finish the old ones.
  await host.start(async () => {
    await startJanitor(openRole("janitor", host));
    await startWorker(openRole("worker", host, { ...config, workerSlots }), pools);
    if (natsAuth.issuerSeed !== undefined || natsAuth.curveSeed !== undefined) {
      await startNatsAuth(openRole("nats-auth", host));
    }
    const ingressGraceMs = Math.max(graceMs / 2, graceMs - WORKERS_GRACE_MS);
    return startIngress(openRole("ingress", host, { ...config, graceMs: ingressGraceMs }));
  });
}

function sumOf(connections: readonly RoleConnections[]): RoleConnections {
  const total = (part: keyof RoleConnections): number => connections.reduce((sum, one) => sum + one[part], 0);
  return { reserved: total("reserved"), slow: total("slow") };
}
