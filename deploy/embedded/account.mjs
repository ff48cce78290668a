// @ts-check
/**
 * Selects the system account that Postgres runs under, because Postgres refuses to run as root. If this process runs as root (in a
 * container or on a build machine), Postgres uses an existing account; none is created.
 */
import { chownSync, existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StartFault } from "./fault.mjs";

/**
 * System account: user ID, group ID and name.
 * @typedef {{ uid: number, gid: number, name: string }} Account
 */

/** Names of accounts for Postgres, in order of preference. */
const NAMES = ["postgres", "nobody", "daemon"];
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];

/**
 * Returns the system account for Postgres; null if Postgres can run as the current user.
 * @returns {Account | null}
 * @throws {StartFault} if this process runs as root and the system has no such account
 */
export function serviceAccount() {
  if (process.getuid?.() !== 0) return null;
  const lines = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : [];
  for (const wanted of NAMES) {
    const [name, , uid, gid] = lines.find((line) => line.startsWith(`${wanted}:`))?.split(":") ?? [];
    if (name !== undefined && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new StartFault(
    `Postgres does not run as root, and this system has no account named ${NAMES.join(" or ")}; start as another user or set DATABASE_URL.`,
  );
}

/**
 * Returns the command, arguments and IDs with which a program runs under the account. Other accounts cannot enter folders below a private
 * folder such as /root. If a path lies in a private folder, the program keeps only the Linux capability that permits access to it.
 * @param {Account | null} account
 * @param {string} command
 * @param {readonly string[]} args
 * @param {readonly string[]} paths further paths that the program must reach
 * @returns {{ command: string, args: readonly string[], uid?: number, gid?: number }}
 * @throws {StartFault} if a path is private and the system has no `setpriv`
 */
export function underAccount(account, command, args, paths) {
  if (account === null) return { command, args };
  const closed = [command, ...paths].map(closedFolder).find((folder) => folder !== null);
  if (closed === undefined) return { command, args, uid: account.uid, gid: account.gid };
  const setpriv = SETPRIV.find((path) => existsSync(path));
  if (setpriv === undefined) {
    throw new StartFault(
      `Postgres runs as ${account.name}, which may not enter ${closed}; use another place for the project and SLUICE_DATA_DIR, or set DATABASE_URL.`,
    );
  }
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
  // Without the secure bit, the kernel ignores capabilities in access(2), with which Postgres searches for its programs.
  const capabilities = [
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
    "--securebits=+no_setuid_fixup",
  ];
  return { command: setpriv, args: [...ids, ...capabilities, command, ...args] };
}

/**
 * Returns the nearest folder above `path` that other accounts cannot enter; null if there is none.
 * @param {string} path
 * @returns {string | null}
 */
function closedFolder(path) {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/**
 * Changes the owner of a file or folder to the account. Does nothing if the account is null.
 * @param {string} path
 * @param {Account | null} account
 */
export function giveTo(path, account) {
  if (account !== null) chownSync(path, account.uid, account.gid);
}
