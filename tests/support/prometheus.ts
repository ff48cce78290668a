/** Starts a Prometheus that scrapes a test's processes and evaluates the alerts, as in an operator's installation. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { launch, launchUntil } from "#deploy/embedded/process.mjs";

import { debianProgram } from "./debian-program.ts";
import { PROJECT_ROOT, temporaryDirectory } from "./infrastructure.ts";

const PROGRAM = { release: "trixie", packages: ["prometheus", "libc6"], path: "usr/bin/prometheus" };
/** Path of an installed Prometheus; null if there is none. */
const INSTALLED = Bun.which("prometheus");

/** True if PATH or a Debian archive contains Prometheus. */
export const HAS_PROMETHEUS = INSTALLED !== null || (await debianArchive()) !== null;

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

export interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: "inactive" | "pending" | "firing";
}

export interface Prometheus {
  /** Evaluates an expression and returns the current samples. @throws Error with the reason if the expression is invalid */
  query(expression: string): Promise<readonly Sample[]>;
  rules(): Promise<readonly Rule[]>;
  close(): Promise<void>;
}

/** Starts Prometheus. @param targets `host:port` of each process's metrics, scraped once per second */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const [program, ...loading] = INSTALLED === null ? await debianProgram(PROGRAM) : ([INSTALLED] as const);
  const { directory, remove } = temporaryDirectory();
  const port = await freePort();
  const file = join(directory, "prometheus.yaml");
  const settings = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: [join(PROJECT_ROOT, "deploy/alerts/sluice.rules.yaml")],
    scrape_configs: [{ job_name: "sluice", static_configs: [{ targets }] }],
  };
  writeFileSync(file, Bun.YAML.stringify(settings, null, 2));
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const start = launchUntil(
    (onLine) => launch({ name: "prometheus", command: program, args: [...loading, ...args], cwd: directory, onLine }),
    (line) => (line.includes("Server is ready to receive web requests") ? true : null),
    30_000,
  );
  const { running } = await start.catch((error: unknown) => {
    remove();
    throw error;
  });
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const body = (await answer.json()) as { data?: unknown; error?: string };
    if (!answer.ok) throw new Error(`${path}: ${body.error}`);
    return body.data;
  };
  return {
    async query(expression) {
      const data = await ask(`query?query=${encodeURIComponent(expression)}`);
      return (data as { result: readonly Sample[] }).result;
    },
    async rules() {
      const { groups } = (await ask("rules?type=alert")) as { groups: readonly { rules: readonly Rule[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
    async close() {
      await running.stop("SIGKILL");
      remove();
    },
  };
}
