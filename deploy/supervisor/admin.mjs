// @ts-check
/** HTTP server on the supervisor's admin port. Returns the metrics, liveness and readiness of all its processes. */
import { createServer, get } from "node:http";
import { StartFault } from "../embedded/fault.mjs";

const ANSWER_WITHIN_MS = 2_000;
/** Maximum size of a process's metrics response, in bytes. A usual response has a few hundred lines. */
const ANSWER_BYTES = 16 * 1_048_576;

/**
 * Starts the HTTP server of the admin port.
 * @param {object} options
 * @param {string} options.host
 * @param {number} options.port 0 for any free port
 * @param {() => import("./children.mjs").ChildState[]} options.states returns the current state of each supervised process
 * @returns {Promise<{ port: number, close(): Promise<void> }>}
 * @throws {StartFault} if another program has taken the port since the settings were read
 */
export async function startAdmin({ host, port, states }) {
  const server = createServer((request, response) => {
    const [path, query = ""] = (request.url ?? "").split("?");
    const answer = path === "/metrics" ? metrics : path === "/readyz" ? ready : path === "/healthz" ? healthy : absent;
    answer(states(), query).then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new StartFault(`The admin port ${port} of ${host} cannot be used (${error.message}); set SLUICE_ADMIN_PORT.`),
      ),
    );
    server.listen({ host, port }, () => resolve(undefined));
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * State of each supervised process.
 * @typedef {import("./children.mjs").ChildState[]} States
 */
/**
 * HTTP response of the admin port.
 * @typedef {{ status: number, type: string, body: string }} Answer
 */

/**
 * Returns the metrics of the supervisor and all its processes.
 * @param {States} states
 * @returns {Promise<Answer>}
 */
async function metrics(states) {
  const own = [
    "# HELP sluice_process_up 1 while a supervised process runs, else 0.",
    "# TYPE sluice_process_up gauge",
    ...states.map(({ name, up }) => `sluice_process_up{name="${name}"} ${up ? 1 : 0}`),
    "# HELP sluice_process_restarts_total Number of restarts of a supervised process.",
    "# TYPE sluice_process_restarts_total counter",
    ...states.map(({ name, restarts }) => `sluice_process_restarts_total{name="${name}"} ${restarts}`),
  ];
  const parts = await Promise.all(
    states.map(async ({ name, adminPort }) => {
      const answer = adminPort === null ? null : await ask(adminPort, "/metrics");
      return { process: name, text: answer?.status === 200 ? answer.body : "" };
    }),
  );
  const body = mergeMetrics([{ process: "supervisor", text: own.join("\n") }, ...parts]);
  return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body };
}

/**
 * Returns the readiness of all processes.
 * @param {States} states
 * @param {string} query query string passed on to each process, such as `require=storage`
 * @returns {Promise<Answer>}
 */
async function ready(states, query) {
  const checks = await Promise.all(
    states.map(async ({ name, up, adminPort }) => {
      const status = adminPort === null ? null : ((await ask(adminPort, `/readyz?${query}`))?.status ?? 0);
      return { name, ok: up && (status === null || status === 200) };
    }),
  );
  const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  const body = failing.length === 0 ? { status: "ready" } : { status: "not ready", failing };
  return { status: failing.length === 0 ? 200 : 503, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

/**
 * Returns the liveness response, which is always 200.
 * @returns {Promise<Answer>}
 */
async function healthy() {
  return { status: 200, type: "application/json", body: '{"status":"ok"}\n' };
}

/**
 * Returns the response to an unknown path.
 * @returns {Promise<Answer>}
 */
async function absent() {
  return { status: 404, type: "text/plain", body: "not found\n" };
}

/** Matches a metric sample with the number of busy slots in one pool of a worker. */
const BUSY_SLOTS = /^sluice_worker_slots_busy\{[^}]*\} (\d+)$/gm;

/**
 * Returns the number of calls and jobs that run in the workers.
 * @param {States} states
 * @returns {Promise<number>}
 */
export async function countRunning(states) {
  const pages = await Promise.all(
    states.map(async ({ adminPort }) => (adminPort === null ? null : await ask(adminPort, "/metrics"))),
  );
  return pages
    .flatMap((page) => [...(page?.body ?? "").matchAll(BUSY_SLOTS)])
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

/**
 * Returns the message that is printed while the stack stops: the running work that it waits for, and the maximum wait.
 * @param {number} running number of running calls and jobs
 * @param {number} graceMs time that each process has to stop, in milliseconds
 * @returns {string}
 */
export function waitingText(running, graceMs) {
  const work = running === 0 ? "the processes" : running === 1 ? "1 job" : `${running} jobs`;
  const most = `at most ${Math.ceil(graceMs / 1_000)} s for each process`;
  return `waiting for ${work} to end (${most}); press Ctrl-C again to stop at once`;
}

/**
 * Sends a GET request to the admin port of a process.
 * @param {number} port
 * @param {string} path
 * @returns {Promise<{ status: number, body: string } | null>} null when no response arrives before the timeout
 */
function ask(port, path) {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        body += chunk;
        if (body.length > ANSWER_BYTES) request.destroy();
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    const timer = setTimeout(() => request.destroy(), ANSWER_WITHIN_MS);
    request.on("error", () => resolve(null));
    request.on("close", () => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}

/**
 * Merges the metrics of several processes. Each metric family appears once with one HELP and one TYPE, and every sample gets a label
 * `process`.
 * @param {readonly { process: string, text: string }[]} parts
 * @returns {string}
 */
export function mergeMetrics(parts) {
  /** @type {Map<string, { help: string | null, type: string | null, samples: string[] }>} */
  const families = new Map();
  const family = (/** @type {string} */ name) => {
    let found = families.get(name);
    if (found === undefined) families.set(name, (found = { help: null, type: null, samples: [] }));
    return found;
  };
  for (const { process, text } of parts) {
    let current = "";
    for (const line of text.split("\n")) {
      const [, keyword, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (keyword !== undefined) {
        current = name;
        if (keyword === "HELP") family(name).help ??= line;
        else family(name).type ??= line;
      } else if (line !== "" && !line.startsWith("#")) {
        const sample = /^[^\s{]+/.exec(line)?.[0] ?? "";
        // Samples of a histogram or summary have the name of the family with a suffix.
        const owner = current !== "" && sample.startsWith(current) ? current : sample;
        family(owner).samples.push(labelled(line, sample, process));
      }
    }
  }
  let merged = "";
  for (const { help, type, samples } of families.values()) {
    for (const line of [help, type, ...samples]) if (line !== null) merged += `${line}\n`;
  }
  return merged;
}

/**
 * Adds the label `process` to a metric sample.
 * @param {string} line
 * @param {string} name
 * @param {string} process
 * @returns {string}
 */
function labelled(line, name, process) {
  const rest = line.slice(name.length);
  if (!rest.startsWith("{")) return `${name}{process="${process}"}${rest}`;
  return `${name}{process="${process}"${rest.startsWith("{}") ? "" : ","}${rest.slice(1)}`;
}
