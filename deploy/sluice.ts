/** Entry point that starts one role, or all roles in one process. */
import { SLUICE } from "#shared/base/command-lines.ts";
import type { RoleConnections } from "#shared/process/process.ts";
import { POOLS, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import type { Role, RoleName } from "#shared/process/role.ts";
import type { WorkerPool } from "#workers/slots.ts";

const WORKER_POOLS: readonly WorkerPool[] = [...POOLS, WEBHOOK_POOL];

const USAGE = `usage: ${SLUICE} <role>
  ingress           serves the API
  worker <pool…>    runs the jobs of these pools
  janitor           finishes what ended processes left
  nats-auth         admits publishers of batch messages to NATS
  all [pool…]       runs these roles in one process, for a small machine; without pools it has every pool
  migrate           creates or updates the schema and the queue, and ends
  admin <command>   runs an admin command; admin help lists them
pools: ${WORKER_POOLS.join(", ")}`;

const ROLES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async ingress() {
    const { INGRESS_CONNECTIONS, startIngress } = await import("#ingress/main.ts");
    await runRole("ingress", INGRESS_CONNECTIONS, startIngress);
  },
  async "nats-auth"() {
    const { NATS_AUTH_CONNECTIONS, startNatsAuth } = await import("#ingress/nats-auth/main.ts");
    await runRole("nats-auth", NATS_AUTH_CONNECTIONS, startNatsAuth);
  },
  async worker(args) {
    const pools = poolsOf(args);
    if (pools.length === 0) throw new Error(`expected one or more pools of ${WORKER_POOLS.join(", ")}, got none`);
    const { startWorker, workerConnections } = await import("#workers/main.ts");
    await runRole("worker", workerConnections(pools), (role) => startWorker(role, pools));
  },
  async janitor() {
    const { JANITOR_CONNECTIONS, startJanitor } = await import("#workers/janitor/main.ts");
    await runRole("janitor", JANITOR_CONNECTIONS, startJanitor);
  },
  async all(args) {
    const pools = args.length === 0 ? WORKER_POOLS : poolsOf(args);
    const { startAll } = await import("./all.ts");
    await startAll(pools);
  },
  async migrate() {
    const { runMigrate } = await import("./migrate.ts");
    await runMigrate();
  },
  async admin(args) {
    const { runAdminCommand } = await import("./admin/main.ts");
    process.exitCode = await runAdminCommand(args);
  },
};

/**
 * Returns each named pool once, because a pool named twice would get twice its slots. @throws Error naming the first argument that is not a
 * pool
 */
function poolsOf(args: readonly string[]): readonly WorkerPool[] {
  const unknown = args.find((arg) => !WORKER_POOLS.includes(arg as WorkerPool));
  if (unknown === undefined) return [...new Set(args)] as readonly WorkerPool[];
  throw new Error(`expected one or more pools of ${WORKER_POOLS.join(", ")}, got ${unknown}`);
}

/** Runs a process with one role. */
async function runRole(
  name: RoleName,
  connections: RoleConnections,
  start: (role: Role) => Promise<{ readonly port: number } | void>,
): Promise<void> {
  const [{ openProcess }, { openRole }] = await Promise.all([
    import("#shared/process/process.ts"),
    import("#shared/process/role.ts"),
  ]);
  const host = await openProcess({ name, servesClients: name === "ingress", connections });
  await host.start(() => start(openRole(name, host)));
}

const [name = "", ...args] = process.argv.slice(2);
const role = ROLES[name];
if (!role) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
} else {
  try {
    await role(args);
  } catch (error) {
    process.stderr.write(`sluice: ${sentences(error)}\n`);
    process.exit(1);
  }
}

/** Returns the error and its causes as one line. */
function sentences(error: unknown): string {
  const parts: string[] = [];
  for (let fault = error; fault instanceof Error && parts.length < 4; fault = fault.cause) {
    if (fault.message !== "" && !parts.includes(fault.message)) parts.push(fault.message);
  }
  return parts.length > 0 ? parts.join(": ") : String(error);
}
