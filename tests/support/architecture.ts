/**
 * Architecture rules that neither compiler nor linter checks, such as allowed imports and code that only one file may contain. The
 * functions take a map of file names to sources, so that each rule can be tested with a violation.
 */

export type Sources = ReadonlyMap<string, string>;

export interface Violation {
  readonly rule: string;
  readonly file: string;
  readonly what: string;
}

type Layer = "schemas" | "shared" | "ingress" | "workers" | "deploy" | "tests";

/** For each layer, the other layers that it may import. */
const MAY_IMPORT: Readonly<Record<Layer, readonly Layer[]>> = {
  schemas: [],
  shared: ["schemas"],
  ingress: ["schemas", "shared"],
  workers: ["schemas", "shared"],
  deploy: ["schemas", "shared", "ingress", "workers"],
  tests: ["schemas", "shared", "ingress", "workers", "deploy"],
};

export const LAYERS = Object.keys(MAY_IMPORT) as readonly Layer[];

/** Names allowed in the root folder of the project. */
export const ROOT_ENTRIES: ReadonlySet<string> = new Set([
  ...LAYERS,
  ".ci",
  ".git",
  ".github",
  ".gitignore",
  ".dockerignore",
  ".gitattributes",
  ".oxfmtrc.json",
  ".oxlintrc.json",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "NOTICE",
  "README.md",
  "bun.lock",
  "bunfig.toml",
  "knip.json",
  "lefthook.yml",
  "node_modules",
  "package.json",
  "tsconfig.json",
]);

export const LINES_MAX = 600;
/** Maximum lines of a test file. It is higher than for other files, because a long table of test inputs is still one idea. */
export const TEST_LINES_MAX = 800;
export const LINES_WARNED = 300;

/** A rule about code that only some files may contain. `where` selects the files to check, `allowed` the exempt ones. */
interface Privilege {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly where: (file: string) => boolean;
  readonly allowed: (file: string) => boolean;
  /** True if the rule also checks comments. Other rules check only code. */
  readonly readsComments?: true;
}

const inTests = (file: string): boolean => file.startsWith("tests/");
/** Returns true for a start script. It runs on bare Node, before anything of the project can be imported. */
const isStartScript = (file: string): boolean => file.startsWith("deploy/") && file.endsWith(".mjs");
/** Returns true for code that runs in a browser, whose pages also show programs to their readers. */
const isOfConsole = (file: string): boolean => file.startsWith("ingress/console/web/");
const isProduct = (file: string): boolean => !inTests(file) && !isStartScript(file);

/** Modules of `shared` whose state belongs to the process, regardless of its roles (decision 0072). */
const PROCESS_STATE: ReadonlySet<string> = new Set([
  "shared/calls/admit.ts",
  "shared/calls/audio/probe-recording.ts",
  "shared/calls/audio/receive.ts",
  "shared/calls/capabilities/probe-inputs.ts",
  "shared/base/clock.ts",
  "shared/base/failpoint.ts",
  "shared/files/links.ts",
  "shared/files/memory.ts",
  "shared/base/logger.ts",
  "shared/net/allowance.ts",
  "shared/queue/connection.ts",
  "shared/queue/tick-end.ts",
  "shared/storage/objects.ts",
  "shared/tokens/tokenizer.ts",
  "shared/tracing/otel.ts",
  "shared/tracing/tracing.ts",
]);

const PRIVILEGES: readonly Privilege[] = [
  {
    rule: "only shared/config/config.ts reads the environment",
    pattern:
      /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[\s*["']env["']|\bBun\s*\.\s*env\b|\bimport\.meta\.env\b|\{[^}]*\benv\b[^}]*\}\s*(?:=\s*process\b|from\s*["'](?:node:)?process["'])/,
    where: isProduct,
    // The snippets are programs for readers of the documentation.
    allowed: (file) =>
      isOfConsole(file) ||
      [
        "shared/config/config.ts",
        "ingress/routes/docs/api/snippets.ts",
        "ingress/routes/docs/api/sdk.ts",
        // Defines the variable for the libraries in the bundle.
        "deploy/build-console.ts",
      ].includes(file),
  },
  {
    rule: "only workers/providers/http.ts calls out",
    pattern:
      /(?<![.\w$])fetch\s*\(|\b(?:globalThis|Bun|window|self)\s*\.\s*fetch\b|=\s*fetch\b|\bnew\s+(?:WebSocket|EventSource|XMLHttpRequest)\b/,
    where: isProduct,
    // The exporter sends spans to the operator's own collector. The script runs in browsers and requests its own origin. The
    // snippets are programs for readers of the documentation.
    allowed: (file) =>
      isOfConsole(file) ||
      [
        "workers/providers/http.ts",
        "shared/tracing/exporter.ts",
        "ingress/routes/docs/assets/site.js",
        "ingress/routes/docs/api/snippets.ts",
      ].includes(file),
  },
  {
    rule: "only the runners, the batch intake and the pull loop acknowledge messages",
    pattern: /\.\s*(?:ack|ackAck|nak|term|working)\s*\(/,
    where: isProduct,
    allowed: (file) =>
      [
        "workers/runner/runner.ts",
        "workers/workflows/runner.ts",
        "ingress/nats-intake/intake.ts",
        "shared/queue/pull-loop.ts",
      ].includes(file),
  },
  {
    rule: "a wait for NATS never fails what waits",
    pattern: /\b(?:connection|queue|work|replies)\s*\.\s*(?:flush|rtt)\s*\(/,
    where: isProduct,
    // `shared/process/process.ts` checks that the server responds.
    allowed: (file) =>
      ["shared/queue/connection.ts", "shared/queue/buffered-publisher.ts", "shared/process/process.ts"].includes(file),
  },
  {
    rule: "a doc comment opens with a noun phrase or a verb",
    pattern:
      /^[ \t]*\/\*\*(?:[ \t]|[ \t]*\n[ \t]*\*[ \t]+)(?:What|Of|Who|Whom|Whose|As|Where|Whether|How|When|Since|Which)\b.*/m,
    where: () => true,
    allowed: () => false,
    readsComments: true,
  },
  {
    rule: "roles of one process share no state by accident",
    pattern:
      /^(?:export )?let\b.*|^(?:export )?const \w+(?:: [^=\n]+)? = (?:new (?:Weak)?(?:Map|Set)<[^()]*>\(\)|new FairLimit\(|openRequestLimit\(|\[\];).*/m,
    where: (file) => file.startsWith("shared/"),
    allowed: (file) => PROCESS_STATE.has(file),
  },
  {
    rule: "nothing writes to the console",
    pattern: /(?<![\w/-])console\s*(?:\?\.\s*|\.\s*|\[\s*["'])[a-z]/,
    where: () => true,
    // The linter checks code of the console itself.
    allowed: isOfConsole,
  },
];

/** Modules that only some files may import. The rule includes imports of types. */
const GUARDED_MODULES: readonly Privilege[] = [
  {
    rule: "only shared/database/client.ts names the driver",
    pattern: /^(?:pg|pg-[a-z-]+|postgres)(?:\/|$)/,
    where: isProduct,
    allowed: (file) => file === "shared/database/client.ts",
  },
  {
    rule: "only workers/providers/http.ts calls out",
    pattern: /^(?:node:)?(?:http|https|http2)$|^(?:undici|axios|got|ky|node-fetch|openid-client|ws)(?:\/|$)/,
    where: isProduct,
    // The guard resolves and dials callers' addresses, and these modules call only the guard's resolver. The browser's child has no network
    // and uses its worker through a socket. Operators choose sign-in issuers and providers; the cluster's API has the same name in every
    // cluster.
    allowed: (file) =>
      [
        "workers/providers/http.ts",
        "workers/deletion-cost.ts",
        "shared/net/fetch.ts",
        "workers/capabilities/web/browser.ts",
        "ingress/routes/console/issuer.ts",
      ].includes(file),
  },
  {
    rule: "only shared/storage speaks S3",
    pattern: /^@aws-sdk\//,
    where: isProduct,
    allowed: (file) => file.startsWith("shared/storage/"),
  },
];

/** Checks all sources. Returns every violation of a rule. */
export function violations(sources: Sources): Violation[] {
  const ofFiles = [...sources].flatMap(([file, source]) => {
    if (isGenerated(file)) return importFaults(file, source);
    return [...importFaults(file, source), ...privilegeFaults(file, source), ...shapeFaults(file, source)];
  });
  return [...ofFiles, ...folderFaults(sources)];
}

/**
 * Finds folders that import each other, because neither can be understood alone. A folder and its subfolders count as one. Tests are
 * exempt.
 */
function folderFaults(sources: Sources): Violation[] {
  const crossings = new Map<string, { file: string; what: string }>();
  for (const [file, source] of sources) {
    if (file.startsWith("tests/")) continue;
    const from = folderOf(file);
    for (const specifier of importsOf(source)) {
      const target = resolveImport(file, specifier);
      const to = target === undefined || layerOf(target) === undefined ? from : folderOf(target);
      const isNested = from === to || from.startsWith(`${to}/`) || to.startsWith(`${from}/`);
      if (!isNested) crossings.set(`${from} ${to}`, { file, what: specifier });
    }
  }
  return [...crossings].flatMap(([crossing, fault]) => {
    const [from = "", to = ""] = crossing.split(" ");
    return crossings.has(`${to} ${from}`) ? [{ rule: "no two folders import each other", ...fault }] : [];
  });
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Returns files that are so long that they may contain a second idea, longest first. */
export function longFiles(sources: Sources): string[] {
  return [...sources]
    .map(([file, source]) => ({ file, lines: lineCount(source) }))
    .filter(({ file, lines }) => lines > LINES_WARNED && !isGenerated(file))
    .toSorted((a, b) => b.lines - a.lines)
    .map(({ file, lines }) => `${file} (${lines} lines)`);
}

/** Maximum duration of a test file of the gate without a stated reason, in milliseconds, while three other files run. */
const GATE_FILE_MS_MAX = 20_000;

/** Returns the test files of the gate that take longer than GATE_FILE_MS_MAX. @param durations of a whole run, in milliseconds by file */
export function slowGateFiles(durations: Readonly<Record<string, number>>): string[] {
  const slow = Object.entries(durations).filter(
    ([file, ms]) => ms > GATE_FILE_MS_MAX && !file.endsWith(".nightly.test.ts"),
  );
  return slow.map(([file]) => file).toSorted();
}

/** Generated files in the root that are never committed, in addition to `.sluice…`. */
const WRITTEN: ReadonlySet<string> = new Set(["demo-output", ".last-run.json", ".last-verify.json", ".timings.json"]);

/** Returns entries that are not allowed in the root folder. */
export function strayRootEntries(entries: readonly string[]): string[] {
  return entries.filter((entry) => !ROOT_ENTRIES.has(entry) && !entry.startsWith(".sluice") && !WRITTEN.has(entry));
}

/** Returns the specifiers of all imports and re-exports of a source, including types and dynamic imports. */
export function importsOf(source: string): string[] {
  const code = withoutComments(source);
  const patterns = [
    /\b(?:import|export)\b(?:\s|\{|\*)[^;"'`()]*?\bfrom\s*["']([^"'\n]+)["']/g,
    /\bimport\s*["']([^"'\n]+)["']/g,
    /\b(?:import|require|require\.resolve)\s*\(\s*["'`]([^"'`\n]+)["'`]/g,
  ];
  return patterns.flatMap((pattern) => Array.from(code.matchAll(pattern), (match) => match[1] ?? ""));
}

function importFaults(file: string, source: string): Violation[] {
  const from = layerOf(file);
  return importsOf(source).flatMap((specifier) => {
    const faults: Violation[] = [];
    const target = resolveImport(file, specifier);
    const to = target === undefined ? undefined : layerOf(target);
    if (from !== undefined && to !== undefined && to !== from && !MAY_IMPORT[from].includes(to)) {
      faults.push({ rule: `${from} does not import ${to}`, file, what: specifier });
    }
    // Scripts on bare Node cannot resolve #names before the dependencies are installed.
    if (specifier.startsWith(".") && to !== undefined && to !== from && !file.endsWith(".mjs")) {
      faults.push({ rule: "folders are crossed by #names", file, what: specifier });
    }
    for (const { rule, pattern, where, allowed } of GUARDED_MODULES) {
      if (pattern.test(specifier) && where(file) && !allowed(file)) faults.push({ rule, file, what: specifier });
    }
    return faults;
  });
}

function privilegeFaults(file: string, source: string): Violation[] {
  const code = withoutComments(source);
  return PRIVILEGES.flatMap(({ rule, pattern, where, allowed, readsComments }) => {
    if (!where(file) || allowed(file)) return [];
    const read = readsComments ? source : code;
    const hit = pattern.exec(rule.includes("calls out") ? withoutFetchHandlers(read) : read);
    return hit === null ? [] : [{ rule, file, what: hit[0].trim() }];
  });
}

function shapeFaults(file: string, source: string): Violation[] {
  const faults: Violation[] = [];
  const lines = lineCount(source);
  const max = file.startsWith("tests/") ? TEST_LINES_MAX : LINES_MAX;
  if (lines > max) faults.push({ rule: `no file is longer than ${max} lines`, file, what: `${lines} lines` });
  const name = file.slice(file.lastIndexOf("/") + 1);
  if (!/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name)) {
    faults.push({ rule: "files are named in kebab-case", file, what: name });
  }
  return faults;
}

/** Removes declarations of a server's handler, such as `async fetch(request) {`, because they are not calls of `fetch`. */
function withoutFetchHandlers(code: string): string {
  return code.replaceAll(/^\s*(?:async\s+)?fetch\s*\([^()]*\)\s*(?::[^{}\n]+)?\{/gm, "");
}

/** Removes comments at the start of a line or after a space. Strings that contain `//`, such as URLs, are kept. */
function withoutComments(source: string): string {
  return source.replaceAll(/(^|\s)\/\*[\s\S]*?\*\//g, "$1").replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}

/** Returns the path below the root that an import refers to; undefined for a package. */
export function resolveImport(file: string, specifier: string): string | undefined {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (!specifier.startsWith(".")) return undefined;
  const parts = file.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function layerOf(path: string): Layer | undefined {
  return LAYERS.find((layer) => path === layer || path.startsWith(`${layer}/`));
}

function isGenerated(file: string): boolean {
  return /(?:^|\/)generated\//.test(file);
}

function lineCount(source: string): number {
  return source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
}
