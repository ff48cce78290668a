// @ts-check
/**
 * Every fault that is made on purpose, and the test files that make it: what `npm run faults` and `npm run soak` report on in RESULTS.md. A row
 * without a file says why there is none.
 */

/**
 * @typedef {object} FaultRow
 * @property {string} fault
 * @property {readonly string[]} files below tests/
 * @property {string} [why] why there is no file
 * @property {string} [needs] what the machine must allow; without it tests of the row are skipped
 * @property {string} [left] part of the fault that no test makes
 */

/** @type {readonly FaultRow[]} */
export const FAULT_ROWS = [
  {
    fault: "a worker is killed while its provider is silent",
    files: ["faults/worker-death.test.ts", "faults/media-worker-death.test.ts", "faults/batch-worker-death.test.ts"],
  },
  {
    fault: "a worker is killed between the provider's answer and the settle",
    files: ["faults/failpoints-worker.nightly.test.ts", "faults/answered-before-settled.nightly.test.ts"],
  },
  {
    fault: "a worker is killed between the settle and the acknowledgement",
    files: ["faults/failpoints-worker.nightly.test.ts", "faults/media-worker-death.test.ts"],
  },
  {
    fault: "a process is killed at each failpoint in turn",
    files: [
      "faults/failpoints-worker.nightly.test.ts",
      "faults/failpoints-ingress.nightly.test.ts",
      "faults/run-deaths.nightly.test.ts",
      "faults/notification-deaths.nightly.test.ts",
    ],
  },
  {
    fault: "an ingress or a worker is killed while a thousand calls race for one spend limit",
    files: ["faults/spend-limits.nightly.test.ts"],
  },
  {
    fault: "an ingress is killed in the middle of a stream",
    files: ["faults/ingress-death.test.ts", "faults/media-ingress-death.nightly.test.ts"],
  },
  {
    fault: "a worker or an ingress is killed while calls are admitted and settled on a credit line",
    files: ["faults/credit-lines.nightly.test.ts"],
  },
  {
    fault: "an ingress is killed after it accepted a job and before it said so",
    files: ["faults/failpoints-ingress.nightly.test.ts", "faults/media-ingress-death.nightly.test.ts"],
  },
  {
    fault: "NATS is restarted again and again under load",
    files: ["faults/nats-restart.test.ts", "faults/fleet.nightly.test.ts"],
  },
  { fault: "NATS comes back with an older store", files: ["faults/nats-wiped.test.ts"] },
  {
    fault: "NATS is cut off for a while",
    files: [
      "faults/nats-restart.test.ts",
      "faults/answered-before-settled.nightly.test.ts",
      "faults/queue-link.nightly.test.ts",
    ],
  },
  { fault: "NATS is slow", files: ["faults/queue-link.nightly.test.ts"] },
  {
    fault: "a worker sleeps through its leases and wakes up",
    files: [
      "faults/media-worker-paused.nightly.test.ts",
      "faults/batch-worker-death.test.ts",
      "faults/run-storm.nightly.test.ts",
    ],
  },
  {
    fault: "Postgres is restarted: fast, immediate, killed",
    files: ["faults/postgres-restart.test.ts", "faults/fleet.nightly.test.ts"],
  },
  { fault: "Postgres is away while providers answer", files: ["faults/outage-while-answering.test.ts"] },
  { fault: "others have all connections of Postgres", files: ["faults/postgres-trouble.nightly.test.ts"] },
  {
    fault: "the balance of a workspace stays locked",
    files: [
      "e2e/pooler.nightly.test.ts",
      "shared/ledger/late-locks.test.ts",
      "shared/ledger/call-admission.test.ts",
      "shared/ledger/settle.test.ts",
    ],
  },
  {
    fault: "others lock balances in another order: deadlocks",
    files: ["faults/postgres-trouble.nightly.test.ts", "shared/ledger/concurrency.test.ts"],
  },
  {
    fault: "the disk of Postgres is full",
    files: ["faults/disk-full.nightly.test.ts"],
    needs: "the right to mount a file system (root on Linux)",
  },
  {
    fault: "the object store is down, busy, slow or silent",
    files: [
      "faults/media-storage.nightly.test.ts",
      "faults/media-silent.nightly.test.ts",
      "faults/capability-faults.nightly.test.ts",
    ],
  },
  { fault: "the object store gives back other bytes, or fewer", files: ["faults/media-storage.nightly.test.ts"] },
  {
    fault: "a process is killed between the object store and the commit, in both orders",
    files: [
      "faults/failpoints-ingress.nightly.test.ts",
      "faults/failpoints-worker.nightly.test.ts",
      "faults/media-worker-death.test.ts",
      "faults/upload-death.test.ts",
    ],
  },
  {
    fault: "a provider takes a call and never answers",
    files: [
      "faults/provider-silent.test.ts",
      "faults/media-silent.nightly.test.ts",
      "faults/media-lost-starts.nightly.test.ts",
    ],
  },
  {
    fault: "a provider fails, is busy, refuses, resets",
    files: ["faults/provider-answers.nightly.test.ts", "e2e/fallback.test.ts"],
  },
  { fault: "a provider answers with what is no answer", files: ["faults/provider-nonsense.alone.nightly.test.ts"] },
  {
    fault: "a provider's stream breaks",
    files: ["faults/provider-answers.nightly.test.ts", "faults/mixed-streams.nightly.test.ts"],
  },
  { fault: "a provider streams for ever", files: ["faults/provider-endless.nightly.test.ts"] },
  { fault: "a provider's usage is missing or nonsense", files: ["faults/provider-answers.nightly.test.ts"] },
  { fault: "a client reads slowly, or not at all", files: ["faults/client-slow.alone.nightly.test.ts"] },
  {
    fault: "a client is gone, at each moment of a call",
    files: ["faults/client-gone.test.ts", "faults/abandoned-streams.alone.nightly.test.ts"],
  },
  {
    fault: "no room for temporary files, or for the log",
    files: ["faults/disk-full.nightly.test.ts"],
    needs: "the right to mount a file system (root on Linux)",
  },
  {
    fault: "the clock of a process is wrong by an hour or a day",
    files: ["faults/processes.nightly.test.ts"],
    left: "a step of the clock while the process runs: it is followed within five seconds",
  },
  {
    fault: "messages are delivered twice",
    files: ["faults/poison.test.ts", "faults/media-messages.nightly.test.ts", "faults/run-storm.nightly.test.ts"],
  },
  { fault: "messages come in another order", files: ["faults/media-messages.nightly.test.ts"] },
  {
    fault: "messages that nobody can read or run",
    files: [
      "faults/poison.test.ts",
      "faults/media-messages.nightly.test.ts",
      "faults/capability-faults.nightly.test.ts",
    ],
  },
  {
    fault: "huge and hostile requests",
    files: [
      "faults/blocking-bodies.alone.nightly.test.ts",
      "ingress/raw-http.test.ts",
      "faults/neighbours.nightly.test.ts",
    ],
  },
  {
    fault: "a role is told to stop, once and twice, in the middle of work",
    files: [
      "faults/sigterm.nightly.test.ts",
      "faults/media-sigterm.nightly.test.ts",
      "faults/ingress-grace.test.ts",
      "faults/capability-faults.nightly.test.ts",
    ],
  },
  {
    fault: "all processes are replaced under load",
    files: [
      "faults/fleet.nightly.test.ts",
      "faults/sigterm.nightly.test.ts",
      "faults/batch-wiped.nightly.test.ts",
      "faults/upgrade.nightly.test.ts",
    ],
    needs: "a Prometheus on the path, or a Debian archive",
  },
  {
    fault: "everybody comes back at once",
    files: ["faults/processes.nightly.test.ts"],
    left: "dozens of workers at once after a restart of NATS",
  },
  {
    fault: "a receiver of webhooks hangs, fails, redirects, floods",
    files: [
      "workers/webhook/deliveries.test.ts",
      "workers/webhook/post.test.ts",
      "workers/webhook/tls.test.ts",
      "shared/notifications/schedule.test.ts",
    ],
  },
  { fault: "thousands of events, a third of the channels dead", files: ["faults/notification-storm.nightly.test.ts"] },
  {
    fault: "a channel is changed while attempts are on their way",
    files: ["faults/notification-deaths.nightly.test.ts", "workers/webhook/deliveries.test.ts"],
  },
  { fault: "200 calls at once on a balance for 10", files: ["shared/ledger/call-admission.test.ts"] },
  {
    fault: "cancel, end and retry meet in every order",
    files: [
      "workers/workflows/interleavings.test.ts",
      "faults/run-recovery.nightly.test.ts",
      "shared/jobs/life.test.ts",
    ],
  },
  { fault: "a budget is crossed by many settles at once", files: ["workers/janitor/budgets.test.ts"] },
  {
    fault: "word of a changed key is lost",
    files: ["shared/access/authenticate.test.ts"],
  },
  {
    fault: "a migration is killed half-way, and runs under load",
    files: [
      "faults/postgres-trouble.nightly.test.ts",
      "faults/upgrade.nightly.test.ts",
      "shared/database/migrate.test.ts",
    ],
  },
  {
    fault: "a process has no descriptors left",
    files: ["faults/processes.nightly.test.ts"],
    needs: "prlimit (Linux)",
    left: "rest for the processor: Bun's server asks for connections without a pause until it has descriptors",
  },
  { fault: "an event loop stands still", files: ["faults/processes.nightly.test.ts", "faults/ingress-death.test.ts"] },
  {
    fault: "everything at random for long, at a fifth of the load",
    files: [
      "faults/long-storm.nightly.test.ts",
      "faults/hostile-afternoon.nightly.test.ts",
      "faults/capabilities.nightly.test.ts",
    ],
  },
  {
    fault: "a worker of runs dies at each point of a run",
    files: ["faults/run-deaths.nightly.test.ts", "faults/run-recovery.nightly.test.ts"],
  },
  {
    fault: "the store of JetStream is wiped with jobs queued",
    files: [
      "faults/batch-wiped.nightly.test.ts",
      "faults/nats-wiped.test.ts",
      "faults/notification-deaths.nightly.test.ts",
    ],
  },
  { fault: "a worker sleeps while another ends its run", files: ["faults/run-storm.nightly.test.ts"] },
  { fault: "all heartbeats of a worker that lives are lost", files: ["faults/queue-link.nightly.test.ts"] },
  {
    fault: "several look after one run at once",
    files: [
      "workers/workflows/interleavings.test.ts",
      "faults/run-storm.nightly.test.ts",
      "workers/janitor/runs.test.ts",
    ],
  },
  { fault: "a run of a hundred parts is woken many times over", files: ["faults/run-storm.nightly.test.ts"] },
  {
    fault: "Postgres goes away every few seconds while runs go on",
    files: ["faults/run-storm.nightly.test.ts", "faults/long-storm.nightly.test.ts"],
  },
  { fault: "what a job needs is away for twenty seconds", files: ["faults/queue-link.nightly.test.ts"] },
  { fault: "dead workers hold all that a lane may have unacknowledged", files: ["faults/queue-link.nightly.test.ts"] },
  {
    fault: "the message of a job and every word about it vanish",
    files: ["faults/queue-link.nightly.test.ts", "workers/janitor/jobs.test.ts", "workers/janitor/queue.test.ts"],
  },
  { fault: "an old snapshot stays open", files: ["faults/postgres-trouble.nightly.test.ts"] },
  { fault: "NATS is away for long", files: ["faults/queue-link.nightly.test.ts", "faults/late-servers.test.ts"] },
  { fault: "a step's output is hostile", files: ["e2e/workflows/definitions.test.ts"] },
  {
    fault: "a publisher of batch messages is hostile",
    files: [
      "faults/hostile-afternoon.nightly.test.ts",
      "faults/batch-flood.nightly.test.ts",
      "faults/batch-fairness.nightly.test.ts",
      "deploy/nats-hostile-publisher.test.ts",
    ],
  },
  { fault: "a database is lost and comes back from a backup", files: ["faults/restore-drill.nightly.test.ts"] },
  {
    fault: "who leads a batch of calls sleeps or dies, its workers die, and the queue is wiped",
    files: ["faults/batches.nightly.test.ts"],
  },
  {
    fault: "hundreds of WebSockets are open, and one of them never reads",
    files: ["faults/open-sockets.nightly.test.ts"],
  },
  { fault: "a batch of calls is as large as it may be", files: ["faults/batch-size.alone.nightly.test.ts"] },
  {
    fault: "an ingress or a worker dies around a response that nobody waits for",
    files: ["faults/background-response-death.nightly.test.ts"],
  },
];
