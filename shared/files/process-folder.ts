/** A folder of this process for files that nobody needs once it is gone. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Returns what gives the folder's path: it is made when first asked for, made again when something cleared it away, and
 * removed when the process exits. A process that was killed leaves its folder; the next one with this prefix removes it.
 * @param prefix of its name; the process id and the time of its start follow
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

/** Removes a folder if it can: one that another user has left is not ours to remove. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays, as before.
  }
}

/**
 * True where the process that started then runs. A process id alone does not tell: in a container each life of a role may have the same
 * one, and the id of a killed role may be a thread of the next.
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

/** Clock ticks from the machine's start to that of the process or thread; null where nothing tells (proc_pid_stat(5), field 22). */
function startOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets, which may hold anything.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return null;
  }
}
