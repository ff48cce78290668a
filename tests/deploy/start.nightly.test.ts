import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { connect } from "nats";

import { BUN_MEMORY } from "#deploy/embedded/bun.mjs";
import { launch, launchUntil, run, type Running } from "#deploy/embedded/process.mjs";
import { freePort, isAlive } from "#deploy/embedded/probe.mjs";

import { openPublisher } from "#tests/faults/publisher.ts";

import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "../support/infrastructure.ts";
import { createTestDatabase } from "../support/postgres.ts";

const READY_WITHIN_MS = 60_000;

/** Given, so that a start which fails anyway does not make a database first. */
const ELSEWHERE = { DATABASE_URL: "postgres://nobody@127.0.0.1:9/none", S3_ENDPOINT: "http://127.0.0.1:9" };

const closing: (() => Promise<unknown> | void)[] = [];
afterAll(async () => {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
});

/** A folder that is gone after the tests. */
function folder(): string {
  const { directory, remove } = temporaryDirectory();
  closing.push(remove);
  return directory;
}

/** The environment of a machine with Node, npm, a nats-server and no setting of ours. */
async function bareEnvironment(settings: Record<string, string>): Promise<Record<string, string>> {
  const tools = folder();
  symlinkSync(await natsServerBinary(), join(tools, "nats-server"));
  const node = dirname(Bun.which("node") ?? "/usr/bin/node");
  return { PATH: [tools, node, "/usr/bin", "/bin"].join(":"), HOME: process.env["HOME"] ?? "/", ...settings };
}

function supervisor(env: Record<string, string>, onLine: (line: string) => void = () => undefined): Running {
  const running = launch({
    name: "start",
    command: "node",
    args: ["deploy/start.mjs"],
    cwd: PROJECT_ROOT,
    env,
    onLine,
  });
  closing.push(() => running.stop("SIGKILL"));
  return running;
}

interface Started {
  readonly running: Running;
  readonly adminUrl: string;
  readonly key: string;
}

/** Starts the whole service and returns when it says where it is. */
async function start(env: Record<string, string>): Promise<Started> {
  const { running, value } = await launchUntil(
    (onLine) => supervisor(env, onLine),
    (line) => /^ {2}Metrics {2}(\S+)\/metrics$/.exec(line)?.[1] ?? null,
    READY_WITHIN_MS,
  );
  const key = /^ {2}Key {6}(\S+)/m.exec(running.lines().join("\n"))?.[1] ?? "";
  return { running, adminUrl: value, key };
}

/** Runs a start that must fail, and returns its code and what it says on stderr. */
async function failedStart(settings: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const errors: string[] = [];
  const running = launch({
    name: "start",
    command: "node",
    args: ["deploy/start.mjs"],
    cwd: PROJECT_ROOT,
    env: await bareEnvironment(settings),
    onLine: (line, stream) => {
      if (stream === "stderr") errors.push(line);
    },
  });
  closing.push(() => running.stop("SIGKILL"));
  const { code } = await running.exited;
  return { code, stderr: errors.join("\n") };
}

/** Ids of all processes below one, through any number of generations. One that has just ended has none. */
function descendants(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  const childrenOf = (thread: string): number[] => {
    const list = readFileSync(join(tasks, thread, "children"), "utf8");
    return list.split(" ").filter(Boolean).map(Number);
  };
  try {
    return readdirSync(tasks)
      .flatMap(childrenOf)
      .flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}

/** Resolves when none of the processes is left. The test's own time limit bounds it. */
async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some((pid) => isAlive(pid))) await delay(20);
}

// The processes are followed through /proc.
describe.skipIf(!existsSync("/proc/self/task"))("npm start", () => {
  const dataDir = folder();
  /** First on PATH, and too old. */
  const oldServer = join(folder(), "nats-server");
  let env: Record<string, string>;
  let port: number;
  let first: Started;
  beforeAll(async () => {
    port = await freePort();
    // As some shells have it; what is started is no production for it.
    const settings = { NODE_ENV: "production", PORT: String(port), SLUICE_ADMIN_PORT: "0", SLUICE_DATA_DIR: dataDir };
    env = await bareEnvironment(settings);
    await writeFile(oldServer, "#!/bin/sh\necho 'nats-server: v2.9.10'\n", { mode: 0o755 });
    env["PATH"] = `${dirname(oldServer)}:${env["PATH"]}`;
  });

  const admin = (more: Record<string, string>) => {
    const args = ["run", "--silent", "admin", "--", "workspace", "list", "--json"];
    return run({ name: "admin", command: "npm", args, cwd: PROJECT_ROOT, env: { ...env, ...more } });
  };

  test("starts the whole stack and prints how to call it", async () => {
    const before = await admin({});
    expect([before.code, before.stderr]).toEqual([1, expect.stringContaining("start one with npm start")]);
    first = await start(env);
    expect(first.key).toMatch(/^sk_local_[\w-]{20,}$/);
    const passedOver = first.running.lines().filter((line) => line.includes(oldServer));
    expect(passedOver).toEqual([
      expect.stringMatching(
        /^not using \S+ \(version 2\.9\.10\): Sluice needs nats-server 2\.11 or newer; using \S+ instead$/,
      ),
    ]);
    expect((await fetch(`${first.adminUrl}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${first.adminUrl}/metrics`)).text();
    for (const role of ["ingress", "worker", "janitor", "nats-auth"]) expect(metrics).toContain(`process="${role}"`);
    const models = await fetch(`http://127.0.0.1:${port}/v1/models`, {
      headers: { authorization: `Bearer ${first.key}` },
    });
    expect(models.status).toBe(200);
    expect(await models.text()).toContain('"sandbox-chat"');
    // Files, calls and records of all workspaces lie in them.
    for (const name of ["s3", "nats", "postgres/cluster"]) {
      expect([name, (statSync(join(dataDir, name)).mode & 0o777).toString(8)]).toEqual([name, "700"]);
    }
    const printed = first.running.lines();
    const at = printed.findIndex((line) => line.startsWith("Sluice is running: "));
    expect(printed[at]).toContain("ingress, nats-auth, Postgres, NATS, object store");
    const welcome = printed.slice(at).join("\n");
    expect(welcome).toContain(" (workspace default)\n");
    expect(welcome).toContain(`\n  Docs     http://127.0.0.1:${port}/docs\n`);
    // Lines of migrations and roles are in the file alone.
    expect(printed.filter((line) => line.includes("migration applied"))).toEqual([]);
    const [, code = ""] =
      new RegExp(`\\n {2}Console {2}http://127\\.0\\.0\\.1:${port}/console#code=([\\w-]{43})\\n`).exec(welcome) ?? [];
    const headers = { "x-sluice-console": "1", "content-type": "application/json" };
    const signIn = { method: "POST", headers, body: JSON.stringify({ code }) };
    const signedIn = await fetch(`http://127.0.0.1:${port}/console/session`, signIn);
    const session = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const me = await fetch(`http://127.0.0.1:${port}/v1/key`, { headers: { ...headers, cookie: session } });
    expect([signedIn.status, me.status]).toEqual([204, 200]);
    const log = readFileSync(join(dataDir, "sluice.log"), "utf8");
    expect(log).not.toContain(code);
    expect(log).toContain(" migrate  info  migration applied migration=");
    expect(log).toMatch(/ ingress {2}info {2}ready /);
  });

  test("listens on this machine only", () => {
    const sockets = readFileSync("/proc/net/tcp", "utf8") + readFileSync("/proc/net/tcp6", "utf8");
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const listening = Array.from(
      sockets.matchAll(new RegExp(`: (\\S+):${hex} \\S+ 0A`, "g")),
      ([, address]) => address,
    );
    expect(listening).toEqual(["0100007F"]);
  });

  test("accepts a publisher with an API key, and rejects one without", async () => {
    const asked = await fetch(`http://127.0.0.1:${port}/v1/key`, { headers: { authorization: `Bearer ${first.key}` } });
    const { id: keyId, workspace } = (await asked.json()) as { id: string; workspace: { id: string } };
    const nats = / {2}Batch {4}(\S+)/.exec(first.running.lines().join("\n"))?.[1] ?? "";
    const publisher = await openPublisher(nats, { ...workspace, keyId }, first.key);
    // Refused, so that nothing is spent.
    const body = { model: "no-such-model", messages: [{ role: "user", content: "Hello" }] };
    const answer = await publisher.submit({ endpoint: "/v1/chat/completions", body });
    expect(answer).toMatchObject({ status: "refused", error: { code: "model_not_found" } });
    await publisher.close();
    const stranger = await connect({ servers: nats, reconnect: false }).catch((error: Error) => error.message);
    expect(stranger).toBe("Authorization Violation");
  });

  test("is found by npm run admin without a setting, unless another database is set", async () => {
    const found = await admin({});
    expect([found.code, JSON.parse(found.stdout)]).toMatchObject([0, [{ name: "default", credits: "1000000" }]]);
    const elsewhere = await admin({ DATABASE_URL: ELSEWHERE.DATABASE_URL });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining("DATABASE_URL is not that of")]);
    // Its own token is for it alone.
    const named = await admin({ SLUICE_URL: `http://127.0.0.1:${port}` });
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("SLUICE_OPERATOR_TOKEN is not set")]);
    const secrets = ["operator-token", "bootstrap-key", "address.json"];
    expect(secrets.map((name) => statSync(join(dataDir, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  });

  test("rejects a second process on its data", async () => {
    const other = await failedStart({ PORT: "0", SLUICE_ADMIN_PORT: "0", SLUICE_DATA_DIR: dataDir });
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(new RegExp(`^sluice: The data directory .* in use by process ${first.running.pid}`));
  });

  test("restarts a crashed process", async () => {
    const { running, adminUrl } = first;
    const restarts = async (): Promise<string | undefined> => {
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      return metrics
        .split("\n")
        .find((line) => line.startsWith("sluice_process_restarts_total") && line.includes("worker"));
    };
    expect(await restarts()).toEndWith(" 0");
    const worker = descendants(running.pid).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("worker\0chat"),
    );
    expect(readFileSync(`/proc/${worker}/environ`, "utf8").split("\0")).toEqual(
      expect.arrayContaining(Object.entries(BUN_MEMORY).map(([name, value]) => `${name}=${value}`)),
    );
    process.kill(worker ?? 0, "SIGKILL");
    while ((await fetch(`${adminUrl}/readyz`)).status === 200 && (await restarts())?.endsWith(" 0") === true)
      await delay(20);
    while ((await fetch(`${adminUrl}/readyz`)).status !== 200) await delay(20);
    expect(await restarts()).toEndWith(" 1");
  });

  test("keeps data and key across starts, also after its workspace is renamed, and leaves no process", async () => {
    const renamed = await fetch(`http://127.0.0.1:${port}/workspaces/default`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "acme" }),
    });
    expect(renamed.status).toBe(200);
    const family = descendants(first.running.pid);
    expect(family.length).toBeGreaterThanOrEqual(6);
    expect(await first.running.stop("SIGTERM", READY_WITHIN_MS)).toMatchObject({ code: 0 });
    expect(family.filter((pid) => isAlive(pid))).toEqual([]);

    const second = await start(env);
    expect(second.key).toBe(first.key);
    expect(second.running.lines().join("\n")).toContain(" (workspace acme)\n");
    expect(readFileSync(join(dataDir, "sluice.log.1"), "utf8")).toContain("migration applied");
    const { stdout } = await admin({});
    expect(JSON.parse(stdout)).toMatchObject([{ name: "acme", credits: "1000000" }]);

    const orphans = descendants(second.running.pid);
    second.running.kill("SIGKILL");
    await gone(orphans);
  });
});

/** A sentence, then its place in the log of the start. */
function withPlace(stderr: string, dataDir: string): string {
  const [sentence = "", place = ""] = stderr.split("\n");
  const [, file = "", line = ""] = /^log: (.*):(\d+)$/.exec(place) ?? [];
  expect(file).toBe(join(dataDir, "sluice.log"));
  const logged = readFileSync(file, "utf8").split("\n")[Number(line) - 1];
  expect(logged).toEndWith(` start    warn  ${sentence.replace(/^sluice: /, "")}`);
  return sentence;
}

describe("a failed start prints the reason in its last line", () => {
  test("when the port is occupied", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("mine") });
    closing.push(() => server.stop(true));
    const { code, stderr } = await failedStart({ PORT: String(server.port), SLUICE_DATA_DIR: folder() });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `sluice: Port ${server.port} is already in use; set PORT to a free one or stop the program that has it.`,
    );
  });

  test("when the data directory cannot be written", async () => {
    const file = join(folder(), "file");
    await writeFile(file, "");
    const { code, stderr } = await failedStart({ PORT: "0", SLUICE_DATA_DIR: join(file, "data") });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sluice: The data directory .*file\/data cannot be written .*; set SLUICE_DATA_DIR .*\.$/);
  });

  test("when a folder accepts no data directory, where Node's recursive mkdir never ends", async () => {
    const { code, stderr } = await failedStart({ PORT: "0", SLUICE_DATA_DIR: "/proc/sluice" });
    expect(code).toBe(1);
    expect(stderr).toStartWith("sluice: The data directory /proc/sluice cannot be written (ENOENT");
  });

  test("when the server at NATS_URL is too old", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => void socket.write('INFO {"server_id":"x","version":"2.10.27"}\r\n'),
        data: () => undefined,
      },
    });
    closing.push(() => server.stop(true));
    const dataDir = folder();
    const { code, stderr } = await failedStart({
      PORT: "0",
      SLUICE_ADMIN_PORT: "0",
      SLUICE_DATA_DIR: dataDir,
      NATS_URL: `nats://127.0.0.1:${server.port}`,
      ...ELSEWHERE,
    });
    expect(code).toBe(1);
    expect(withPlace(stderr, dataDir)).toBe(
      "sluice: The NATS server at NATS_URL is version 2.10.27, and Sluice needs 2.11 or newer.",
    );
  });

  test("when the database was created by an earlier version, with the instruction to delete local data", async () => {
    const db = await createTestDatabase();
    closing.push(() => db.drop());
    await db.query("update migration set sha256 = 'of an earlier commit'");
    const dataDir = folder();
    const { code, stderr } = await failedStart({
      PORT: "0",
      SLUICE_ADMIN_PORT: "0",
      SLUICE_DATA_DIR: dataDir,
      ...ELSEWHERE,
      DATABASE_URL: db.url,
    });
    expect(code).toBe(1);
    expect(withPlace(stderr, dataDir)).toMatch(
      /^sluice: this database was made by .*delete its data directory \(\.sluice, or .*$/,
    );
  });

  test("when Postgres cannot be reached", async () => {
    const dataDir = folder();
    const settings = { PORT: "0", SLUICE_ADMIN_PORT: "0", SLUICE_START_WAIT_MS: "100", SLUICE_DATA_DIR: dataDir };
    const { code, stderr } = await failedStart({ ...settings, ...ELSEWHERE });
    expect(code).toBe(1);
    expect(withPlace(stderr, dataDir)).toStartWith("sluice: Postgres cannot be reached at DATABASE_URL: ");
  });

  test("when settings are unknown, each in a line of its own", async () => {
    const dataDir = folder();
    const { code, stderr } = await failedStart({
      PORT: "0",
      SLUICE_ADMIN_PORT: "0",
      SLUICE_DATA_DIR: dataDir,
      SLUICE_PROT: "8080",
      SLUICE_OTHER_WORD: "1",
      ...ELSEWHERE,
    });
    expect(code).toBe(1);
    const lines = stderr.split("\n");
    expect(
      lines
        .map((line) => line.replace(/^sluice: /, ""))
        .slice(0, 2)
        .toSorted(),
    ).toEqual([
      "SLUICE_OTHER_WORD is not a setting of this version",
      "SLUICE_PROT is not a setting of this version; did you mean PORT?",
    ]);
    expect(lines.slice(2)).toEqual([expect.stringMatching(/^log: .*sluice\.log:\d+$/) as string]);
  });
});
