/**
 * The protocol's own suite: what it asks of servers of each revision, and against what it is asked here. It knows no keys and calls tools,
 * resources and prompts by names of its own, so that some of it is asked of the service and some of its fixtures behind the same entry.
 */
import { join } from "node:path";

import { expect } from "bun:test";

import { run } from "#deploy/embedded/process.mjs";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

const SUITE = join(PROJECT_ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

type Side = "service" | "fixtures";

const NO_SESSION = "asks its client in the middle of a call, which earlier revisions do within a session; none is kept";
const OWN_TASKS = "calls tools of its own that make its tasks; tasks of the service are its jobs and runs: tasks.ts";

/** Sides that are asked each scenario; or why none is. */
const SCENARIOS: Readonly<Record<string, Readonly<Record<string, readonly Side[] | string>>>> = {
  "2026-07-28": {
    ...each(["service", "fixtures"], "server-stateless tools-list server-sse-multiple-streams resources-list caching"),
    ...each(["service", "fixtures"], "sep-2164-resource-not-found http-header-validation"),
    ...each(["service"], "dns-rebinding-protection"),
    ...each(["fixtures"], "completion-complete tools-call-simple-text tools-call-image tools-call-audio"),
    ...each(["fixtures"], "tools-call-embedded-resource tools-call-mixed-content tools-call-error"),
    ...each(["fixtures"], "tools-call-with-progress resources-read-text resources-read-binary"),
    ...each(["fixtures"], "resources-templates-read prompts-list prompts-get-simple prompts-get-with-args"),
    ...each(["fixtures"], "prompts-get-embedded-resource prompts-get-with-image json-schema-2020-12"),
    ...each(["fixtures"], "input-required-result-basic-elicitation input-required-result-basic-sampling"),
    ...each(["fixtures"], "input-required-result-basic-list-roots input-required-result-request-state"),
    ...each(["fixtures"], "input-required-result-multiple-input-requests input-required-result-multi-round"),
    ...each(["fixtures"], "input-required-result-missing-input-response input-required-result-non-tool-request"),
    ...each(["fixtures"], "input-required-result-result-type input-required-result-unsupported-methods"),
    ...each(["fixtures"], "input-required-result-tampered-state input-required-result-capability-check"),
    ...each(["fixtures"], "input-required-result-ignore-extra-params input-required-result-validate-input"),
    ...each("needs a tool that mirrors a param in a header, which none of the service does", "http-custom-header-server-validation"), // prettier-ignore
    ...each(OWN_TASKS, "tasks-lifecycle tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal"),
    ...each(OWN_TASKS, "tasks-mrtr-input tasks-request-headers tasks-dispatch-and-envelope"),
    ...each(OWN_TASKS, "tasks-status-notifications tasks-required-task-error tasks-mrtr-composition"),
  },
  "2025-11-25": {
    ...each(["service", "fixtures"], "server-initialize ping tools-list resources-list"),
    ...each(["service"], "dns-rebinding-protection"),
    ...each(["fixtures"], "logging-set-level completion-complete tools-call-simple-text tools-call-image"),
    ...each(["fixtures"], "tools-call-audio tools-call-embedded-resource tools-call-mixed-content"),
    ...each(["fixtures"], "tools-call-with-logging tools-call-error tools-call-with-progress"),
    ...each(["fixtures"], "resources-read-text resources-read-binary resources-templates-read"),
    ...each(["fixtures"], "resources-subscribe resources-unsubscribe prompts-list prompts-get-simple"),
    ...each(["fixtures"], "prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image"),
    ...each(["fixtures"], "json-schema-2020-12"),
    ...each(NO_SESSION, "tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults"),
    ...each(NO_SESSION, "elicitation-sep1330-enums"),
    ...each("needs a session", "server-session-lifecycle server-sse-polling server-sse-multiple-streams"),
  },
};

export const REVISIONS = Object.keys(SCENARIOS);

function each<T>(told: T, names: string): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, told]));
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/**
 * Asks a server all that its revision requires, and what is not scored: the scenarios of its side pass, and those of the table are all that there are.
 * @param except checks that fail here, by their ids
 */
export async function expectConformance(
  url: string,
  revision: string,
  side: Side,
  except: ReadonlySet<string>,
): Promise<void> {
  const faultsOf = async (): Promise<object> => {
    const faults: Record<string, unknown> = {};
    for (const [scenario, checks] of await ask(url, revision)) {
      const wanted = SCENARIOS[revision]?.[scenario];
      if (wanted === undefined) faults[scenario] = "is not in the table";
      if (typeof wanted === "string" || wanted?.includes(side) !== true) continue;
      // Some checks need a tool of the suite's own.
      const failed = checks.filter(({ id, status, errorMessage = "" }) => status === "FAILURE" && !except.has(id) && !errorMessage.startsWith("Not testable")); // prettier-ignore
      if (failed.length > 0 || !checks.some(({ status }) => status === "SUCCESS")) faults[scenario] = failed;
    }
    return faults;
  };
  // It waits for half a second at most, which passes at times on a busy machine.
  const first = await faultsOf();
  expect(Object.keys(first).length === 0 ? first : await faultsOf()).toEqual({});
}

/** Checks by their scenario; each that stands in the table has some. */
async function ask(url: string, revision: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const { directory, remove } = temporaryDirectory();
  const args = ["server", "--url", url, "--requirements", revision, "-o", directory];
  const env = { PATH: "/usr/bin:/bin", HOME: directory };
  await run({ name: "conformance", command: process.execPath, args: [SUITE, ...args], cwd: directory, env });
  const made = new Map<string, readonly Check[]>();
  for (const file of await Array.fromAsync(new Bun.Glob("*/checks.json").scan({ cwd: directory }))) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(file)?.[1] ?? file;
    made.set(scenario, (await Bun.file(join(directory, file)).json()) as Check[]);
  }
  remove();
  const missing = Object.keys(SCENARIOS[revision] ?? {}).filter((scenario) => !made.has(scenario));
  expect(missing).toEqual([]);
  return made;
}
