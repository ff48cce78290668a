/** One entry for every role: ingress | nats-auth | worker <pool…> | janitor | migrate | admin. */
import { POOLS, type Pool, WEBHOOK_POOL } from "#shared/queue/subjects.ts";

type WorkerPool = Pool | typeof WEBHOOK_POOL;
const WORKER_POOLS: readonly WorkerPool[] = [...POOLS, WEBHOOK_POOL];

const USAGE = `usage: npm run sluice -- ingress | nats-auth | worker <pool…> | janitor | migrate | admin <command>
pools: ${WORKER_POOLS.join(", ")}`;

const ROLES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async ingress() {
    const { startIngress } = await import("#ingress/main.ts");
    await startIngress();
  },
  async "nats-auth"() {
    const { startNatsAuth } = await import("#ingress/nats-auth/main.ts");
    await startNatsAuth();
  },
  async worker(args) {
    const unknown = args.find((arg) => !WORKER_POOLS.includes(arg as WorkerPool));
    if (args.length === 0 || unknown !== undefined) {
      throw new Error(`expected one or more pools of ${WORKER_POOLS.join(", ")}, got ${unknown ?? "none"}`);
    }
    const { startWorker } = await import("#workers/main.ts");
    await startWorker(args as readonly WorkerPool[]);
  },
  async janitor() {
    const { startJanitor } = await import("#workers/janitor/main.ts");
    await startJanitor();
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

/** The fault and what caused it, one line. */
function sentences(error: unknown): string {
  const parts: string[] = [];
  for (let fault = error; fault instanceof Error && parts.length < 4; fault = fault.cause) {
    if (fault.message !== "" && !parts.includes(fault.message)) parts.push(fault.message);
  }
  return parts.length > 0 ? parts.join(": ") : String(error);
}
