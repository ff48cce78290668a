/**
 * Tests what a child can do where it is started: load our code and write into its folder, which is its work, and reach what
 * is the worker's. The findings go to standard output.
 */
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TrialFindings {
  /** Names the child's own network. */
  readonly network: string;
  /** It reads what the worker was started with. */
  readonly readsEnvironment: boolean;
  /** It sees a file of the worker's. */
  readonly seesFiles: boolean;
  /** A program in it may make namespaces, with rights of its own in them. */
  readonly makesNamespaces: boolean;
}

const [folder = "", workersFile = "", worker = ""] = process.argv.slice(2);
process.chdir(folder);
writeFileSync(join(folder, "written"), "yes");
await import("./list.ts");
const findings: TrialFindings = {
  network: readlinkSync("/proc/self/ns/net"),
  readsEnvironment: readsEnvironment(),
  seesFiles: existsSync(workersFile),
  makesNamespaces: Bun.spawnSync(["unshare", "--user", "--net", "--pid", "--fork", "--", "true"]).exitCode === 0,
};
process.stdout.write(JSON.stringify(findings));

/** This process has none of its own: where it has the worker's number in a space of its own, there is nothing to read. */
function readsEnvironment(): boolean {
  try {
    return readFileSync(`/proc/${worker}/environ`).length > 0;
  } catch {
    return false;
  }
}
