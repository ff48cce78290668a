// @ts-check
/**
 * Stops all child processes after `kill -9` of the process that started them, because Postgres and NATS do not notice the death of their
 * parent. A small shell reads every process ID from a pipe. When the pipe closes, the shell stops the remaining processes, newest first. It
 * uses one megabyte and does nothing in a clean run.
 */
import { spawn } from "node:child_process";

/**
 * Shell script of the reaper. It reads lines from stdin: `<pid> <signal name>` adds a process, `<pid> gone` removes it, `folder <path>`
 * adds a folder to delete at the end. A negative pid is a process group. The script waits at most five seconds for each process. `kill -0`
 * succeeds for a zombie, so it also checks the process state.
 */
const SCRIPT = `
trap '' HUP INT TERM
runs() {
  kill -0 "$1" 2>/dev/null || return 1
  case $1 in
    -*) [ ! -r /proc/self/stat ] || grep -qs "^[0-9]* (.*) [^ZX] [0-9]* \${1#-} " /proc/[0-9]*/stat ;;
    *) ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null ;;
  esac
}
list=
folders=
while read -r pid word; do
  if [ "$pid" = folder ]; then
    folders="$folders $word"
  elif [ "$word" = gone ]; then
    rest=
    for item in $list; do [ "\${item%:*}" = "$pid" ] || rest="$rest $item"; done
    list=$rest
  else
    list="$pid:$word $list"
  fi
done
for item in $list; do
  pid=\${item%:*}
  runs "$pid" && kill "-\${item#*:}" "$pid" 2>/dev/null || continue
  left=50
  while runs "$pid" && [ $left -gt 0 ]; do left=$((left - 1)); sleep 0.1; done
  [ $left -gt 0 ] || kill -KILL "$pid" 2>/dev/null
done
[ -z "$folders" ] || rm -rf $folders
`;

/** @type {import("node:child_process").ChildProcess | null} */
let reaper = null;
/** Registered processes with their signals. If the reaper is killed, a new reaper receives all registered processes and folders. */
const watched = new Map();
/** @type {Set<string>} */
const folders = new Set();

function open() {
  const child = spawn("/bin/sh", ["-c", SCRIPT], { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const { stdin } = child;
  // The reaper is optional: a missing shell or a broken pipe must not stop the start.
  child.on("error", () => {});
  stdin.on("error", () => {});
  child.on("exit", () => {
    if (reaper === child) reaper = watched.size + folders.size > 0 ? open() : null;
  });
  child.unref();
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  for (const [pid, signal] of watched) stdin.write(`${pid} ${signal}\n`);
  for (const path of folders) stdin.write(`folder ${path}\n`);
  return child;
}

/**
 * Registers a process that is stopped with `signal` if this process dies first.
 * @param {number} pid negative for a process group
 * @param {"TERM" | "INT"} signal
 */
export function watch(pid, signal) {
  watched.set(pid, signal);
  if (reaper === null) reaper = open();
  else reaper.stdin?.write(`${pid} ${signal}\n`);
}

/**
 * Unregisters a process that has ended, because its ID may be reused.
 * @param {number} pid
 */
export function forget(pid) {
  watched.delete(pid);
  reaper?.stdin?.write(`${pid} gone\n`);
}

/**
 * Registers a temporary folder. It is removed when this process ends or dies, after all child processes have ended.
 * @param {string} path
 */
export function watchFolder(path) {
  // The shell splits at spaces, so such a folder is left to the system's own cleaning.
  if (/[\s*?[]/.test(path)) return;
  folders.add(path);
  if (reaper === null) reaper = open();
  else reaper.stdin?.write(`folder ${path}\n`);
}

/** Returns the reaper's process ID; null if no reaper was started. */
export function reaperPid() {
  return reaper?.pid ?? null;
}

/** Stops the reaper, which first stops all registered processes. Resolves when it has exited. */
export async function closeReaper() {
  const current = reaper;
  if (current === null) return;
  reaper = null;
  watched.clear();
  folders.clear();
  if (current.exitCode !== null || current.signalCode !== null) return;
  const gone = new Promise((resolve) => current.once("exit", resolve));
  current.ref();
  current.stdin?.end();
  await gone;
}
