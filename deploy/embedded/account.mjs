// @ts-check
/**
 * Postgres refuses to run as root. When we are root (a container, a build machine) it runs as an account that exists
 * on the system already; nothing is created.
 */
import { chownSync, existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StartFault } from "./fault.mjs";

/** @typedef {{ uid: number, gid: number, name: string }} Account */

/** In order of preference. */
const NAMES = ["postgres", "nobody", "daemon"];
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];

/**
 * The account Postgres runs under, or null when it can run as the user who started us.
 * @returns {Account | null}
 * @throws {StartFault} when we are root and the system has none
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
 * Command, arguments and ids that run a program under the account. A project or data directory below a private folder
 * such as /root cannot be entered by other accounts; there the program keeps the one capability that lets it pass.
 * @param {Account | null} account
 * @param {string} command
 * @param {readonly string[]} args
 * @param {readonly string[]} paths what the program must reach besides itself
 * @returns {{ command: string, args: readonly string[], uid?: number, gid?: number }}
 * @throws {StartFault} when a path is closed and the system has no way around it
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
  // Without the secure bit the kernel leaves capabilities out of access(2), with which Postgres looks for its programs.
  const capabilities = [
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
    "--securebits=+no_setuid_fixup",
  ];
  return { command: setpriv, args: [...ids, ...capabilities, command, ...args] };
}

/**
 * The first folder above `path` that other accounts may not enter.
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
 * Hands a file or folder to the account.
 * @param {string} path
 * @param {Account | null} account
 */
export function giveTo(path, account) {
  if (account !== null) chownSync(path, account.uid, account.gid);
}
