/**
 * Tests the isolation of a child process. It must load its code and write into its folder, but must not access the worker's environment,
 * files or network. Prints the findings to standard output as JSON.
 */
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TrialFindings {
  /** Name of the network namespace in which the child process runs. */
  readonly network: string;
  /** True if the child can read the worker's environment. */
  readonly readsEnvironment: boolean;
  /** True if the child can see a file of the worker. */
  readonly seesFiles: boolean;
  /** True if a program in the child can create namespaces, in which it has further rights. */
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

/**
 * True if this process can read the worker's environment. An empty environment does not count: in a separate PID namespace, the worker's
 * PID may belong to this process, whose environment is empty.
 */
function readsEnvironment(): boolean {
  try {
    return readFileSync(`/proc/${worker}/environ`).length > 0;
  } catch {
    return false;
  }
}
