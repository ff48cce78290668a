// @ts-check

/**
 * Text for the operator when everything is up: the addresses, the key and its workspace, and what to do next.
 * @param {{ host: string, port: number, adminHost: string, adminPort: number, key: string, workspace: string, natsUrl?: string | undefined }} at
 * @returns {string}
 */
export function welcome({ host, port, adminHost, adminPort, key, workspace, natsUrl }) {
  const base = baseUrlOf(host, port);
  const body = `{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}`;
  return `
  Sluice is ready.

  Base URL   ${base}
  Key        ${key}
  Workspace  ${workspace}
  API        ${base.replace(/\/v1$/, "/docs")}${natsUrl === undefined ? "" : `\n  Batch      ${natsUrl}`}
  Metrics    http://${reachable(adminHost)}:${adminPort}/metrics

  A call to paste:

curl ${base}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'

  With the openai package:

const client = new OpenAI({ baseURL: "${base}", apiKey: "${key}" });

  In another terminal, also for the examples of the README:

export SLUICE_KEY=${key}${natsUrl === undefined ? "" : `\nexport SLUICE_NATS=${natsUrl}`}
npm run demo                    # calls every kind of model once
npm run admin -- help           # workspaces, keys, credits

  Ctrl-C stops everything.
`;
}

/**
 * @param {string} host that is listened on
 * @param {number} port
 * @returns {string}
 */
export function baseUrlOf(host, port) {
  return `http://${reachable(host)}:${port}/v1`;
}

/**
 * An address to call for one that is listened on.
 * @param {string} host
 * @returns {string}
 */
function reachable(host) {
  if (host === "0.0.0.0" || host === "::" || host === "") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
