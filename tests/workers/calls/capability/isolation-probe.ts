/** Starts a child as capabilities do, for whichever user runs this, and tells what it could do. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openHome, placeOf, runFolders } from "#workers/calls/capability/home.ts";
import { findIsolation, giveTo } from "#workers/calls/capability/isolation.ts";

export interface Probe {
  readonly shared: readonly string[];
  readonly warnings: readonly string[];
  readonly hasPrivateRoot: boolean;
  readonly user: number;
  /** Content of the file that the child made of its input, as the worker finds it after the run. */
  readonly made: string;
  /** Path at which the worker finds the run's folder while the child works. */
  readonly place: string;
  readonly child: {
    readonly user: number;
    readonly text: string;
    readonly runs: string;
    readonly other: string;
    readonly data: string;
    readonly listed: string;
    readonly environment: string;
    readonly signal: string;
    /** `1`: neither the child nor a program that it starts gains rights, not even by a setuid program. */
    readonly noNewRights: string;
    readonly network: string;
    readonly writable: readonly string[];
    readonly root: readonly string[];
  };
}

const [data = "", address = ""] = process.argv.slice(2);
const warnings: string[] = [];
const log = { info: () => undefined, warn: (_facts: object, message: string) => void warnings.push(message) };
const isolation = await findIsolation({}, log as never);

function openRun(text: string): string {
  const folder = mkdtempSync(join(runFolders(), "run-"));
  writeFileSync(join(folder, "in-text"), text);
  giveTo(folder, isolation.user);
  return folder;
}

const [own, other] = [openRun("tea"), openRun("coffee")];
const CHILD = `
const fs = require("fs");
const tried = (work) => { try { return String(work()); } catch (error) { return error.code; } };
const own = ${JSON.stringify(own)};
process.chdir(own);
const text = fs.readFileSync("in-text", "utf8");
fs.writeFileSync("made", text);
process.stdout.write(JSON.stringify({
  user: process.getuid(),
  text,
  runs: tried(() => fs.readdirSync(require("path").dirname(own))),
  other: tried(() => fs.readFileSync(${JSON.stringify(join(other, "in-text"))})),
  data: tried(() => fs.readFileSync(${JSON.stringify(join(data, "file"))})),
  listed: tried(() => fs.readdirSync(${JSON.stringify(data)})),
  environment: tried(() => fs.readFileSync("/proc/${process.pid}/environ")),
  signal: tried(() => process.kill(${process.pid}, 0)),
  noNewRights: /^NoNewPrivs:\\s*(\\d)/m.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1],
  network: await fetch(${JSON.stringify(address)}).then(() => "reached", () => "not reached"),
  writable: fs.readFileSync("/proc/self/mountinfo", "utf8").split("\\n").map((line) => line.split(" "))
    .filter(([,,,,, flags]) => /^rw\\b/.test(flags)).map(([,,,, path]) => path),
  root: fs.readdirSync("/"),
}));`;

const home = openHome(isolation);
const leave = home.enter(own);
const place = placeOf(own);
const child = Bun.spawn([...home.launcher, process.execPath, "-e", CHILD], {
  env: home.environment,
  stdio: ["ignore", "pipe", "inherit"],
  timeout: 30_000,
});
const told = await new Response(child.stdout).text();
leave();
await home.close();
const { shared, hasPrivateRoot } = isolation;
const found: Probe = {
  shared,
  warnings,
  hasPrivateRoot,
  user: isolation.user ?? process.getuid?.() ?? -1,
  made: readFileSync(join(own, "made"), "utf8"),
  place,
  child: JSON.parse(told) as Probe["child"],
};
process.stdout.write(JSON.stringify(found));
