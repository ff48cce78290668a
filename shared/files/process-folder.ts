/** A folder of this process for files that nobody needs once it is gone. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Returns what gives the folder's path: it is made when first asked for, made again when something cleared it away, and
 * removed when the process exits. A process that was killed leaves its folder; the next one with this prefix removes it.
 * @param prefix of its name; the process id follows
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
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN;
    // In a container each life of a process has the same number.
    const isLeft = Number.isInteger(pid) && pid > 0 && (pid === process.pid || !isAlive(pid));
    if (isLeft) removeQuietly(join(parent, name));
  }
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
