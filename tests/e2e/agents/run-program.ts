/** Runs the program of an agent as a user does: in a folder of its own, with a home of its own, and with nothing of the machine's. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { run } from "#deploy/embedded/process.mjs";
import { BUN, temporaryDirectory } from "#tests/support/infrastructure.ts";

/** Longest time of one command, in milliseconds. */
const COMMAND_MS = 60_000;

export interface AgentHome {
  readonly home: string;
  /** Folder that the agent works in; a Git repository. */
  readonly work: string;
  write(file: string, content: string | Uint8Array): string;
  remove(): void;
}

export function openHome(): AgentHome {
  const { directory, remove } = temporaryDirectory();
  const [home, work] = [join(directory, "home"), join(directory, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  Bun.spawnSync(["git", "init", "--quiet"], { cwd: work });
  return {
    home,
    work,
    write(file, content) {
      const path = join(directory, file);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    remove,
  };
}

/**
 * Returns the folder of a published package, installed when it is first asked for and kept. Such a program has hundreds of megabytes, so it
 * is no dependency of the project: everyone who starts the service would fetch it.
 * @throws Error when it cannot be installed
 */
export async function installProgram(name: string, version: string): Promise<string> {
  const folder = join(tmpdir(), "sluice-programs", `${name.replaceAll("/", "+")}@${version}`);
  const installed = join(folder, "node_modules", name);
  if (existsSync(installed)) return installed;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
  const command = { name: "bun install", command: BUN, args: ["install", "--no-progress"], cwd: partial };
  const { code, stderr } = await run(command);
  if (code !== 0) throw new Error(`${name}@${version} cannot be installed: ${stderr.slice(-1_000)}`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
  return installed;
}

/** Returns the JSON lines that the command printed. @throws Error with its output when it fails or takes too long */
export async function runProgram(
  command: readonly string[],
  { home, work }: AgentHome,
  env: Readonly<Record<string, string>>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const child = Bun.spawn([...command], {
    cwd: work,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: COMMAND_MS,
    killSignal: "SIGKILL",
  });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.slice(0, 4).join(" ")} ended with ${code}:\n${out}\n${errors}`);
  return out.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));
}
