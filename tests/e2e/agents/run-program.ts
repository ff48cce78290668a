/** Runs the program of an agent as a user does: in a folder of its own, with a home of its own, and with nothing of the machine's. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { run } from "#deploy/embedded/process.mjs";
import { BUN, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

/** Longest time of one command, in milliseconds. */
const COMMAND_MS = 90_000;

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

/** Messages of `bun install` when the registry cannot be reached. */
const UNREACHABLE = /ConnectionRefused|ConnectionTimeout|ConnectionClosed|DNSResolveFailed|FailedToOpenSocket/;

/**
 * Returns the folder of a published package, which is installed on first use and kept. Such a program has hundreds of megabytes, so it
 * is not a dependency of the project: everyone who starts the service would fetch it. Its own scripts are not run. Returns undefined, and says so, without a registry.
 * @throws Error when the registry answers and the package cannot be installed
 */
export async function findProgram(name: string, version: string): Promise<string | undefined> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice", "programs");
  const folder = join(cache, `${name.replaceAll("/", "+")}@${version}`);
  const installed = join(folder, "node_modules", name);
  if (existsSync(installed)) return installed;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    writeFileSync(join(partial, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
    const command = { name: "bun install", command: BUN, args: ["install", "--no-progress"], cwd: partial };
    const { code, stderr } = await run(command);
    if (code === 0) {
      // Another test may have installed it meanwhile.
      if (!existsSync(installed)) renameSync(partial, folder);
      return installed;
    }
    if (!UNREACHABLE.test(stderr)) throw new Error(`${name}@${version} cannot be installed: ${stderr.slice(-1_000)}`);
    process.stderr.write(`${name}@${version} is not tried: the package registry cannot be reached\n`);
    return undefined;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

const CONNECT = "schemas/docs/get-started/connect.md";

/** Settings in a code block of the page on clients, for this service. @throws Error when the page has no block of this language after the heading */
export function settingsOfPage(heading: string, language: string, url: string): string {
  const section = readFileSync(join(PROJECT_ROOT, CONNECT), "utf8").split(/^## /m).find((one) => one.startsWith(`${heading}\n`)); // prettier-ignore
  const block = section?.split(`\`\`\`${language}\n`)[1]?.split("```")[0];
  if (block === undefined) throw new Error(`${CONNECT} has no block of ${language} in "${heading}"`);
  return block.replace("http://127.0.0.1:8080", url);
}

/** Returns the JSON lines that the command printed. @throws Error with its output when it takes too long or ends with another code */
export async function runProgram(
  command: readonly string[],
  { home, work }: AgentHome,
  { env = {}, code: expected = 0 }: { readonly env?: Readonly<Record<string, string>>; readonly code?: number } = {},
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
  if (code !== expected) throw new Error(`${command.slice(0, 4).join(" ")} ended with ${code}:\n${out}\n${errors}`);
  return out.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));
}
