/**
 * `sluice all`: every role in one process, for small machines and for test stacks. The process opens once everything that the roles share
 * (shared/process.ts); their reserved connections to Postgres, connections to NATS, metrics and logs stay their own (decision 0072).
 */
import { INGRESS_CONNECTIONS, startIngress } from "#ingress/main.ts";
import { NATS_AUTH_CONNECTIONS, startNatsAuth } from "#ingress/nats-auth/main.ts";
import { openProcess, type RoleConnections } from "#shared/process.ts";
import { openRole } from "#shared/role.ts";
import { JANITOR_CONNECTIONS, startJanitor } from "#workers/janitor/main.ts";
import { startWorker, workerConnections } from "#workers/main.ts";
import { fitSlots, type WorkerPool } from "#workers/slots.ts";

/** Time that the ingress leaves of the grace to the workers, in milliseconds; of a shorter grace it leaves half. */
const WORKERS_GRACE_MS = 8_000;

/** @throws Error with one sentence when something that a role needs is not there, or the port is taken */
export async function startAll(pools: readonly WorkerPool[]): Promise<void> {
  const connections = [INGRESS_CONNECTIONS, workerConnections(pools), JANITOR_CONNECTIONS, NATS_AUTH_CONNECTIONS];
  const host = await openProcess({ name: "all", servesClients: true, connections: sumOf(connections) });
  const { config } = host;
  const { graceMs, natsAuth } = config;
  const workerSlots = fitSlots(pools, config);
  host.log.info({ slots: workerSlots, pools }, "roles share this process");
  // They stop in reverse: the ingress takes no new call while workers still answer the old ones.
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
