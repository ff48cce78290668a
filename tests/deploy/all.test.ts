/** `sluice all`: every role in one process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";

import type { BatchAnswer, WorkflowRun } from "#schemas/generated/types.ts";
import { run } from "#deploy/embedded/process.mjs";
import { listen } from "#ingress/listen.ts";
import { newId } from "#shared/base/ids.ts";
import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "#tests/faults/bed.ts";
import { DONE, errorCode } from "#tests/faults/client.ts";
import { isServed, sentTwice } from "#tests/faults/load.ts";
import { metric } from "#tests/faults/metric.ts";
import { openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { type ConfiguredNats, startConfiguredNats } from "#tests/support/configured-nats.ts";
import { ENTRY, PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";

const POOLS = ["chat", "image", "audio", "video", "3d", "capability", "workflow", "webhook"];

/** At most 256 calls to providers: chat takes 115 live and 14 of batches, the four media pools 28 and 3 each. */
const SLOTS = 115;

let bed: Bed;
let all: ManagedProcess;
beforeAll(async () => {
  bed = await startBed({
    apart: false,
    pools: POOLS,
    behaviours: ["tokens-40-every-50", "tokens-2000-every-20"],
    // The longest stream below ends by itself long before the grace does.
    env: { SLUICE_SANDBOX: "on", SLUICE_GRACE_MS: "240000", SLUICE_LOG_LEVEL: "debug" },
  });
  [all] = bed.stack.processes as [ManagedProcess];
}, 60_000);
afterAll(() => bed?.stop());

async function post<T>(path: string, body: object): Promise<T> {
  const { url, key } = bed.target();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  expect([path, answer.status, text]).toEqual([path, 200, text]);
  return JSON.parse(text) as T;
}

const entries = (role: ManagedProcess): readonly Record<string, unknown>[] =>
  role.logs().flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));

const told = (role: ManagedProcess, message: string): readonly Record<string, unknown>[] =>
  entries(role).filter(({ msg }) => msg === message);

describe("one process serves", () => {
  test("a call, plain and streamed", async () => {
    expect(isServed(await bed.client.chat(bed.target(), ask("sandbox-chat")))).toBe(true);
    const stream = await bed.client.chat(bed.target(), ask("sandbox-chat", { stream: true }));
    expect(stream.frames.at(-1)).toBe(DONE);
  });

  test("an image, whose bytes can be fetched", async () => {
    const made = await post<{ data: { url: string }[] }>("/v1/images/generations", {
      model: "sandbox-image",
      prompt: "a boat",
    });
    const image = await fetch(made.data[0]?.url ?? "");
    expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/png"]);
  });

  test("a capability", async () => {
    const run = await post<{ files: { content_type: string }[] }>("/v1/capabilities/image.resize/run", {
      input: { image: { file_id: "file-sample-photo" } },
      params: { width: 320, format: "webp" },
    });
    expect(run.files.map(({ content_type }) => content_type)).toEqual(["image/webp"]);
  });

  test("a workflow of a model and a capability", async () => {
    const step = { model: "sandbox-chat", params: { messages: [{ role: "user", content: "Say exactly: a\nb" }] } };
    const run = await post<WorkflowRun>("/v1/pipelines/runs", {
      definition: {
        steps: [
          { id: "say", type: "model", ...step },
          {
            id: "find",
            type: "code.regex",
            input: { text: { text: "${{ steps.say.output.text }}" } },
            params: { pattern: "a" },
            depends_on: ["say"],
          },
        ],
      },
    });
    expect([run.status, run.stepRuns.map(({ status }) => status)]).toEqual(["succeeded", ["succeeded", "succeeded"]]);
  });

  test("a batch message", async () => {
    const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
    const publisher = await openPublisher(bed.stack.natsUrl, workspace);
    const key = newId();
    const body = ask("sandbox-chat");
    const first = await publisher.submit({ endpoint: "/v1/chat/completions", body }, { key });
    expect(first.status).toBe("queued" satisfies BatchAnswer["status"]);
    expect((await publisher.ended(key)).status).toBe("completed");
    await publisher.close();
  });

  test("all of them with exact books", () => audit(bed));
});

describe("shared parts of the roles", () => {
  test("the process opens once: connections to Postgres, one `ready` line, slots within Bun's limit of outgoing calls", () => {
    // A pool of 8; three groups and the batch intake of the ingress, two groups of the worker, one of the janitor; four slow ones.
    expect(told(all, "connections to Postgres")).toMatchObject([{ role: "all", connections: 8 + 7 + 4 + 2 + 4 }]);
    expect(told(all, "ready")).toMatchObject([
      { role: "all", port: expect.any(Number), admin_port: expect.any(Number) },
    ]);
    expect(told(all, "roles share this process")).toMatchObject([{ slots: SLOTS, pools: POOLS }]);
    expect(new Set(entries(all).map(({ role }) => role))).toContain("worker");
  });

  test("the page of metrics contains the metrics of each role under its name, and those of the process once", async () => {
    const page = await (await fetch(`${all.adminUrl}/metrics`)).text();
    const lines = page.split("\n").filter((line) => line !== "");
    const families = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2]);
    expect(families.length).toBe(new Set(families).size);
    const series = lines.filter((line) => !line.startsWith("#")).map((line) => line.slice(0, line.lastIndexOf(" ")));
    expect(series.length).toBe(new Set(series).size);
    const roles = (name: string): (string | undefined)[] =>
      series.filter((one) => one.startsWith(`${name}{`)).map((one) => /role="([^"]*)"/.exec(one)?.[1]);
    for (const name of [
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "sluice_event_loop_lag_seconds",
    ]) {
      expect([name, roles(name)]).toEqual([name, ["all"]]);
    }
    expect(roles("sluice_nats_reconnects_total")).toEqual(["janitor", "worker", "ingress"]);
    // Sweeps and checks of dependencies write their first sample within seconds of the start.
    const sample = (name: string, labels: string) =>
      eventually(`a sample of ${name}`, () => metric(all.adminUrl, name, labels));
    expect(await sample("sluice_http_requests_total", 'route="/v1/images/generations"')).toBe(1);
    expect(await sample("sluice_worker_slots", 'pool="chat",lane="live",role="worker"')).toBe(SLOTS);
    // The message of the last call may still be on the queue.
    expect(await sample("sluice_queue_depth", 'pool="chat",lane="live",role="janitor"')).toBeGreaterThanOrEqual(0);
    expect(await sample("sluice_dependency_up", 'dependency="storage",role="all"')).toBe(1);
  });

  test("readiness covers all roles and the engines of the worker", async () => {
    const page = async () => (await fetch(`${all.adminUrl}/readyz?require=storage`)).json();
    expect(await page()).toMatchObject({
      status: "ready",
      dependencies: { database: "ok", queue: "ok", storage: "ok" },
      engines: { sharp: "ok" },
    });
  });

  test("SIGHUP reloads the catalogue of each role once", async () => {
    const reloads = (role: string): Promise<number> =>
      metric(all.adminUrl, "sluice_catalogue_reloads_total", `result="accepted",role="${role}"`).catch(() => 0);
    expect([await reloads("ingress"), await reloads("worker")]).toEqual([0, 0]);
    all.kill("SIGHUP");
    await eventually("both are reloaded", async () => (await reloads("ingress")) + (await reloads("worker")) >= 2);
    expect([await reloads("ingress"), await reloads("worker")]).toEqual([1, 1]);
    expect(all.alive()).toBe(true);
  });
});

describe("stopping", () => {
  const faults = (): readonly unknown[] =>
    entries(all).filter(({ msg }) => /a shutdown step|uncaught/.test(String(msg)));

  test("SIGTERM waits for running calls, stops the roles in order and keeps the books exact", async () => {
    const long = ask("mock-tokens-40-every-50", { stream: true });
    const streams = await Promise.all([1, 2, 3].map(() => bed.client.open(bed.target(), long)));
    await Promise.all(streams.map((stream) => stream.frames(3)));
    all.kill("SIGTERM");
    await eventually("it is not ready", async () => (await fetch(`${all.adminUrl}/readyz`)).status === 503);
    for (const stream of streams) expect(isServed(await stream.ended)).toBe(true);
    expect((await all.exited()).code).toBe(0);
    expect([told(all, "stopping").length, faults()]).toEqual([1, []]);
    const steps = told(all, "stopped").map(({ step }) => step);
    const order = [
      "ingress: public port",
      "ingress: relay",
      "worker: runners",
      "janitor: sweeps",
      "database",
      "admin port",
    ];
    expect(steps.filter((step) => order.includes(String(step)))).toEqual(order);
    await audit(bed);
    expect(sentTwice(bed.upstream)).toEqual([]);
  });

  test("a second SIGTERM aborts running work with an error, and a restart serves again", async () => {
    await all.restart();
    const stream = await bed.client.open(bed.target(), ask("mock-tokens-2000-every-20", { stream: true }));
    await stream.frames(3);
    const before = told(all, "stopping").length;
    all.kill("SIGTERM");
    await eventually("the first signal is heard", () => told(all, "stopping").length > before);
    all.kill("SIGTERM");
    const cut = await stream.ended;
    expect([cut.frames.at(-1) === DONE, errorCode(cut)]).toEqual([false, "service_unavailable"]);
    expect([(await all.exited()).code, faults()]).toEqual([0, []]);
    await audit(bed);
    await all.restart();
    expect(isServed(await bed.client.chat(bed.target(), ask("flat")))).toBe(true);
    await audit(bed);
  });
});

test("a role that cannot start stops the others in order, so that no job is cut off by the end of the process", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const [command, ...args] = ENTRY;
  // The closed stdin of a program that `run` starts is no lost supervisor.
  const env = { ...bed.stack.env, PORT: String(port), SLUICE_SUPERVISED: "off" };
  const { code, stdout, stderr } = await run({
    name: "all",
    command,
    args: [...args, "all", "chat", "chat"],
    cwd: PROJECT_ROOT,
    env,
  });
  taken.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining(`sluice: port ${port} cannot be opened`)]);
  const lines = stdout.split("\n").map((line) => JSON.parse(line) as { readonly msg: string; readonly step?: string });
  expect(lines.filter(({ msg }) => msg === "stopped").map(({ step }) => step)).toEqual(
    expect.arrayContaining(["worker: runners", "janitor: sweeps", "database"]),
  );
  // A pool that is named twice is served once.
  expect(lines.filter(({ msg }) => msg === "roles share this process")).toMatchObject([{ pools: ["chat"] }]);
}, 30_000);

test("a second service on an occupied port is rejected", () => {
  const at = new URL(bed.target().url);
  const { context } = fakeContext();
  expect(() => listen(context, { hostname: at.hostname, port: Number(at.port) })).toThrow(/in use|EADDRINUSE/);
});

test("an unknown pool in the arguments is named", async () => {
  const { code, stderr } = await bed.stack.command("all", "chat", "chats");
  expect([code, stderr]).toEqual([1, expect.stringContaining("expected one or more pools of chat,")]);
  expect(stderr).toContain("got chats");
});

describe("with one NATS user for each role", () => {
  let nats: ConfiguredNats;
  beforeAll(async () => {
    nats = await startConfiguredNats(undefined, { logins: false });
  }, 60_000);
  afterAll(() => nats.stop());

  test("each role logs in as its user, and publishers are admitted", async () => {
    const passwords = ["INGRESS", "WORKER", "WORKFLOW", "JANITOR", "AUTH"].map((user) => [
      `NATS_${user}_PASSWORD`,
      `pass-${user.toLowerCase()}`,
    ]);
    const env = {
      ...bed.stack.env,
      ...Object.fromEntries(passwords),
      NATS_URL: `nats://${nats.address}`,
      SLUICE_NATS_AUTH_SEED: nats.seeds.issuer,
      SLUICE_NATS_AUTH_XKEY_SEED: nats.seeds.curve,
    };
    const [command, ...args] = ENTRY;
    const migrated = await run({ name: "migrate", command, args: [...args, "migrate"], cwd: PROJECT_ROOT, env });
    expect([migrated.code, migrated.stderr]).toEqual([0, ""]);
    const other = await startRole(["all", "chat", "workflow"], env);
    const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
    const publisher = await openPublisher(nats.address, workspace, workspace.key);
    const key = newId();
    await publisher.submit({ endpoint: "/v1/chat/completions", body: ask("flat") }, { key });
    expect((await publisher.ended(key)).status).toBe("completed");
    await publisher.close();
    expect((await other.stop()).code).toBe(0);
    expect(entries(other).filter(({ msg }) => msg === "nats error")).toEqual([]);
  }, 60_000);
});
