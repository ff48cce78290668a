import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { NATIVE_ENGINES } from "#workers/capabilities/engines.ts";
import { watchFolder } from "#workers/calls/capability/children.ts";
import { openHome, runFolders } from "#workers/calls/capability/home.ts";
import { type Isolation, NO_ISOLATION, refuseEngines } from "#workers/calls/capability/isolation.ts";

import type { Probe } from "./isolation-probe.ts";

const parent = mkdtempSync(join(tmpdir(), "sluice-isolation-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
const PROBE = fileURLToPath(new URL("isolation-probe.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
/** True if we are root and another user can come to our code; else there is nothing to try. */
const isOpen = isRoot && Bun.spawnSync([...NOBODY, "test", "-r", PROBE]).exitCode === 0;

/** A data folder as `npm start` keeps it. */
const data = join(parent, "data");
mkdirSync(data);
writeFileSync(join(data, "file"), "of a workspace", { mode: 0o644 });
chmodSync(parent, 0o755);

async function probe(start: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Probe> {
  const temporary = mkdtempSync(join(parent, "tmp-"));
  chmodSync(temporary, 0o1777);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("tea") });
  try {
    const probing = Bun.spawn([...start, process.execPath, PROBE, data, server.url.href], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"] ?? "", TMPDIR: temporary, CANARY_API_KEY: "sk-live-123", ...environment },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 60_000,
    });
    return JSON.parse(await new Response(probing.stdout).text()) as Probe;
  } finally {
    await server.stop(true);
  }
}

const users: readonly (readonly [string, readonly string[]])[] = [
  [isRoot ? "root" : "a plain user", []],
  ...(isOpen ? [["a plain user", NOBODY] as const] : []),
];

/** The tools that private-root.sh needs: where they work, nothing excuses a child that shares something with its worker. */
const SPACES = ["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"];
const makesRoots = (start: readonly string[], isPlain: boolean): boolean =>
  Bun.which("unshare") !== null &&
  Bun.spawnSync([
    ...start,
    "unshare",
    ...(isPlain ? ["--user", "--map-root-user"] : []),
    ...SPACES,
    "mount",
    "-t",
    "tmpfs",
    "none",
    "/mnt",
  ]).exitCode === 0;

describe.each(users)("a child of a worker that runs as %s", (name, start) => {
  const probed = probe(start);

  test.if(makesRoots(start, name !== "root"))("shares nothing with it if this machine allows that", async () => {
    expect((await probed).shared).toEqual([]);
  });

  test("does its work, as a user without rights", async () => {
    const { made, child, user } = await probed;
    expect(made).toBe("tea");
    expect(child).toMatchObject({ text: "tea", user });
    expect(user).not.toBe(name === "root" ? 0 : -1);
  });

  test("gains no rights by a setuid program", async () => {
    const { shared, child } = await probed;
    // Without setpriv, children run as the worker does.
    if (shared.includes("environment")) return;
    expect(child.noNewRights).toBe("1");
  });

  test("reaches no server of this machine, and no process of the worker", async () => {
    const { shared, child } = await probed;
    // Some containers allow no more, which the log has said.
    if (shared.includes("network")) return;
    expect(child.network).toBe("not reached");
    expect(child.signal).toBe("ESRCH");
    expect(["EACCES", "ENOENT", ""]).toContain(child.environment);
  });

  test("can read its own run and its required files only", async () => {
    const { shared, child, place } = await probed;
    if (shared.includes("files")) return;
    // Another user passes through the folder that it lies in; the worker's own may list it.
    expect([basename(place), "EACCES"]).toContain(child.runs);
    expect(child.other).toBe("ENOENT");
    expect([child.data, child.listed]).toEqual(["ENOENT", "ENOENT"]);
    for (const closed of ["home", "root", "run", "srv", "sys", "mnt", "boot"]) expect(child.root).not.toContain(closed);
    const writable = child.writable.filter((path) => !/^\/(?:dev|proc)\//.test(path) || path.includes("sluice-runs-"));
    expect(writable).toEqual(["/proc", "/tmp", expect.stringContaining("/sluice-runs-")]);
  });
});

/** A mount space whose system folder has a folder of its own mounted in it, which all may write. */
const MOUNTED = 'mount -t tmpfs -o mode=1777 tmpfs /usr/share/doc && exec "$@"';
test.if(isRoot && makesRoots([], false))("a child cannot write to mounts in system folders", async () => {
  const { shared, child } = await probe(["unshare", "--mount", "sh", "-c", MOUNTED, "sh"]);
  expect(shared).toEqual([]);
  expect(child.writable).not.toContain("/usr/share/doc");
});

test("a missing isolation is logged, and then engines of native code are rejected", async () => {
  const none = await probe([], { PATH: "" });
  expect(none.shared).toEqual(["network", "environment", "files"]);
  expect(none.warnings).toEqual([expect.stringContaining("can reach the worker's network, environment, files;")]);
  expect([none.made, none.child.network]).toEqual(["tea", "reached"]);
  expect(none.child.environment).toContain("CANARY_API_KEY=sk-live-123");
  const told: object[] = [];
  const log = { error: (facts: object) => void told.push(facts) };
  const refused = refuseEngines(NO_ISOLATION, log as never);
  expect(Object.keys(refused)).toEqual(["ffmpeg", "sharp", "ocr", "pdf", "browser", "libreoffice", "python"]);
  expect(refused["sharp"]).toContain("its children would share network, environment, files with it");
  expect(told).toEqual([{ shared: NO_ISOLATION.shared, engines: NATIVE_ENGINES }]);
  expect(refuseEngines({ ...NO_ISOLATION, shared: [] }, log as never)).toEqual({});
  expect(told).toHaveLength(1);
});

test("a child that replaces its run's folder by a link has failed", () => {
  const home = openHome({ ...NO_ISOLATION, hasPrivateRoot: true } satisfies Isolation);
  const folder = mkdtempSync(join(runFolders(), "run-"));
  const leave = home.enter(folder);
  const [, place = ""] = home.launcher;
  expect(place).toBe("");
  leave();
  rmSync(folder, { recursive: true });
  symlinkSync("/etc", folder);
  const again = home.enter(folder);
  expect(again).toThrow(MediaError);
  rmSync(folder);
});

test("a run that exceeds its disk limit is ended while it writes", async () => {
  const folder = mkdtempSync(join(parent, "run-"));
  writeFileSync(join(folder, "in-video"), Buffer.alloc(3_000_000));
  const disk = watchFolder(() => folder, 1_000_000);
  const ended = new Promise((resolve) => disk.full.addEventListener("abort", () => resolve(disk.full.reason)));
  writeFileSync(join(folder, "small"), Buffer.alloc(500_000, 1));
  writeFileSync(join(folder, "large"), Buffer.alloc(2_000_000, 1));
  expect(await ended).toEqual(new MediaError("too_large", "Expected a run to write at most 1000000 bytes, got more."));
  disk.close();
});
