// @ts-check

/**
 * Returns the text that is printed when all processes run.
 * @param {object} stack
 * @param {string} stack.host host on which the ingress listens
 * @param {number} stack.port
 * @param {string | undefined} stack.publicUrl address at which browsers reach the service, if it is configured
 * @param {string | null} stack.code sign-in code of the console; null if the link has none
 * @param {string} stack.adminHost
 * @param {number} stack.adminPort
 * @param {string} stack.key
 * @param {string} stack.workspace name of the key's workspace
 * @param {string | undefined} stack.natsUrl address of the embedded NATS server; undefined if the operator's own server is used
 * @param {string} stack.logFile
 * @param {readonly string[]} stack.parts names of what runs
 * @param {readonly string[]} stack.missing a sentence for each feature that this machine lacks
 * @returns {string} at most eleven lines, and one for each missing feature
 */
export function welcome(stack) {
  const { host, port, publicUrl, code, adminHost, adminPort, key, workspace, natsUrl, logFile, parts, missing } = stack;
  const base = baseUrlOf(host, port);
  const body = `{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}`;
  const facts = {
    Console: `${publicUrl ?? base.replace(/\/v1$/, "")}/console${code === null ? "" : `#code=${code}`}`,
    API: `${base}${isLoopback(host) ? " (this machine only; SLUICE_HOST=0.0.0.0 opens it to others)" : ""}`,
    Key: `${key} (workspace ${workspace})`,
    Docs: base.replace(/\/v1$/, "/docs"),
    Metrics: `http://${reachable(adminHost)}:${adminPort}/metrics`,
    ...(natsUrl === undefined ? {} : { Batch: natsUrl }),
    Log: logFile,
  };
  return [
    `Sluice is running: ${parts.join(", ")}. Press Ctrl-C to stop it.`,
    ...Object.entries(facts).map(([name, value]) => `  ${name.padEnd(8)} ${value}`),
    ...missing.map((sentence) => `  Missing  ${sentence}`),
    "Try it in another terminal; `npm run demo` calls every kind of model:",
    `curl ${base}/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`,
  ].join("\n");
}

/**
 * Returns the API address for clients on this machine.
 * @param {string} host host on which the ingress listens
 * @param {number} port
 * @returns {string} ends in /v1
 */
export function baseUrlOf(host, port) {
  return `http://${reachable(host)}:${port}/v1`;
}

/**
 * Returns true if the host is only reachable from this machine.
 * @param {string} host
 */
export function isLoopback(host) {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/**
 * Returns the address that clients on this machine call, for the host on which the service listens.
 * @param {string} host
 * @returns {string}
 */
function reachable(host) {
  if (host === "0.0.0.0" || host === "::" || host === "") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
