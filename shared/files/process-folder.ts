/** Creates and removes a folder for temporary files of this process. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Returns a function that returns the folder's path. The folder is created at the first call, and again if something deleted it. It is
 * removed when the process exits. After a kill, the next process with this prefix removes it.
 * @param prefix prefix of the folder's name; the process id and start time follow
 */
export function processFolder(prefix: string, parent: string = tmpdir()): () => string {
  let path: string | undefined;
  return () => {
    path ??= makeFolder(prefix, parent);
    mkdirSync(path, { recursive: true });
    return path;
  };
}

function makeFolder(prefix: string, parent: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid = "", start = ""] =
      (name.startsWith(prefix) && /^(\d+)\.(\d+)-/.exec(name.slice(prefix.length))) || [];
    if (Number(pid) > 0 && !isAlive(Number(pid), Number(start))) removeQuietly(join(parent, name));
  }
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}.${startOf(process.pid) ?? 0}-`));
  process.once("exit", () => removeQuietly(path));
  return path;
}

/** Removes a folder. Ignores errors, because another user's folder cannot be removed. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The folder stays.
  }
}

/**
 * Returns true if the process with this id and start time is still running. A process id alone is not enough. In a container, each restart
 * of a role may get the same id. The id of a killed role may also be a thread of the next one.
 */
function isAlive(pid: number, start: number): boolean {
  const current = startOf(pid);
  if (current !== null) return current === start;
  if (process.platform === "linux") return false;
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Returns the start time of a process or thread, in clock ticks since the machine's start. Returns null if unavailable (proc_pid_stat(5),
 * field 22).
 */
function startOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may contain anything.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return null;
  }
}
