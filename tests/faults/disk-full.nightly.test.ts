/**
 * Fault: a disk is full: that of Postgres, of a worker's temporary files, of a role's log. Injection: file systems in memory of a few
 * megabytes, in mounts of their own where that can be; without the right to mount, all of it is skipped. Expected: callers hear a true error in
 * time, nothing is promised that is not kept, the process lives, and with room everything goes on without a hand.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { newId } from "#shared/base/ids.ts";

import { temporaryDirectory } from "../support/infrastructure.ts";
import { type ManagedProcess, startRole } from "../support/role-process.ts";
import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { errorCode } from "./client.ts";
import { sentTwice, startLoad, tally } from "./load.ts";
import { eventually } from "./wait.ts";

const MOUNT = ["mount", "-t", "tmpfs", "-o"];
const mayMount =
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "-m", ...MOUNT, "size=1m", "none", "/mnt"], { stderr: "ignore" }).exitCode === 0;

const SERVER_BYTES = 320 * 1_048_576;
/** Room that Postgres is left with. */
const LEFT_BYTES = 65_536;

/** A command that runs another with a file system of so many megabytes in the folder, which nobody else sees. */
function withSmallDisk(folder: string, script: string): string[] {
  return ["unshare", "-m", "sh", "-c", `${MOUNT.join(" ")} size=1m none "$0" && chmod 777 "$0" && ${script}`, folder];
}

function fill(folder: string, leftBytes = 0): string {
  const file = join(folder, "filler");
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  } catch (error) {
    // The server may have written since the space was read. Then the disk is full, too.
    if (leftBytes > 0 || (error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  return file;
}

describe.skipIf(!mayMount)("the disk of Postgres is full", () => {
  let bed: Bed;
  let disk: ReturnType<typeof temporaryDirectory>;
  const unmount = () => Bun.spawnSync(["umount", "--lazy", disk.directory], { stderr: "ignore" });

  beforeAll(async () => {
    disk = temporaryDirectory();
    process.on("exit", unmount);
    const mounted = await run({
      name: "mount",
      command: "mount",
      args: [...MOUNT.slice(1), `size=${SERVER_BYTES},mode=755`, "none", disk.directory],
      cwd: "/",
    });
    if (mounted.code !== 0) throw new Error(mounted.stderr);
    const settings = { max_wal_size: "64MB", min_wal_size: "32MB" };
    bed = await startBed({ ingress: 2, ownPostgres: { directory: disk.directory, settings } });
  }, 90_000);
  afterAll(async () => {
    await bed?.stop();
    unmount();
    process.off("exit", unmount);
    disk.remove();
  });

  test("calls receive 503, no answered call is unpaid, and calls succeed once there is space", async () => {
    const { client, stack } = bed;
    const load = startLoad(bed);
    await eventually("the load runs", () => load.served() > 20);
    const filler = fill(disk.directory, LEFT_BYTES);
    let refused = 0;
    await eventually(
      "calls are refused",
      async () => {
        // What is left goes with what others write.
        await stack.query("insert into event (id) select null where false").catch(() => undefined);
        const answer = await client.chat(bed.target(), ask("flat"));
        if (answer.status !== 200) refused += 1;
        return refused > 5;
      },
      60_000,
    );
    rmSync(filler);
    const before = load.served();
    await eventually("calls are served again", () => load.served() > before + 20, 40_000);
    const answers = await load.stop();
    process.stdout.write(`${JSON.stringify(tally(answers))}\n`);
    const others = answers.filter(({ status }) => status !== 200 && status !== 503);
    expect(others.map((answer) => `${answer.status} ${errorCode(answer)} ${answer.body}`)).toEqual([]);
    for (const role of [...stack.ingresses, ...stack.workers, ...stack.janitors]) expect(role.alive()).toBe(true);
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000 });
  }, 150_000);
});

describe.skipIf(!mayMount)("a role's disk is full:", () => {
  let bed: Bed;
  let folder: ReturnType<typeof temporaryDirectory>;
  beforeAll(async () => {
    folder = temporaryDirectory();
    bed = await startBed({ ingress: 1 });
  }, 60_000);
  afterAll(async () => {
    await bed?.stop();
    folder?.remove();
  });

  const within = ({ pid }: ManagedProcess, path: string): string => `/proc/${pid}/root${path}`;

  test("an ingress that cannot write its log serves, and writes again after the recovery", async () => {
    const place = join(folder.directory, "log");
    mkdirSync(place);
    const wrapper = withSmallDisk(
      place,
      `: >"$0/log" && { tail --pid=$$ -n +1 -f "$0/log" & } && exec "$@" >>"$0/log"`,
    );
    const ingress = await startRole(["ingress"], { ...bed.stack.env, PORT: String(await freePort()) }, { wrapper });
    try {
      const target = { url: ingress.baseUrl, key: bed.stack.key };
      const filler = fill(within(ingress, place));
      const answers = await Promise.all(
        Array.from({ length: storm(60, 600) }, () => bed.client.chat(target, ask("flat"))),
      );
      expect(tally(answers)).toEqual({ 200: answers.length });
      // Lines leave in batches.
      await Bun.sleep(500);
      rmSync(filler);
      await eventually("it writes again", async () => {
        const { headers } = await bed.client.chat(target, ask("flat"));
        await Bun.sleep(250);
        return readFileSync(within(ingress, join(place, "log")), "utf8").includes(
          headers.get("x-request-id") ?? "none",
        );
      });
    } finally {
      await ingress.stop();
    }
    await audit(bed);
  }, 60_000);

  test("a run without disk space for its files fails with an envelope, leaves none, and the next one succeeds", async () => {
    const place = join(folder.directory, "temporary");
    mkdirSync(place);
    const worker = await startRole(
      ["worker", "capability"],
      { ...bed.stack.env, TMPDIR: place },
      { wrapper: withSmallDisk(place, `exec "$@"`) },
    );
    try {
      const inside = within(worker, place);
      const convert = (text: string) =>
        fetch(`${bed.stack.baseUrls[0]}/v1/capabilities/code.regex/run`, {
          method: "POST",
          headers: { authorization: `Bearer ${bed.stack.key}`, "content-type": "application/json" },
          body: JSON.stringify({ input: { text: { text } }, params: { pattern: "a" } }),
        });
      expect((await convert("abc")).status).toBe(200);
      const filler = fill(inside);
      const refused = await convert(`abc ${newId()}`);
      expect([500, 503]).toContain(refused.status);
      const { error } = (await refused.json()) as { error: Record<string, unknown> };
      expect(Object.keys(error)).toEqual(expect.arrayContaining(["code", "message", "param", "type"]));
      rmSync(filler);
      await eventually("a run is done", async () => (await convert(`abc ${newId()}`)).status === 200);
      const left = readdirSync(inside, { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => /input|output/.test(name))).toEqual([]);
      expect(worker.alive()).toBe(true);
    } finally {
      await worker.stop();
    }
    // The job that its worker could not do.
    await audit(bed, { withinMs: 30_000, deadLetters: 1 });
  }, 90_000);
});
