// @ts-check
/** Sends GET requests through the proxy configured in HTTPS_PROXY, HTTP_PROXY and NO_PROXY. `fetch` of Node 20 ignores these variables. */
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import tls from "node:tls";
import { StartFault } from "./fault.mjs";

/**
 * Environment variables by name.
 * @typedef {Readonly<Record<string, string | undefined>>} Environment
 */
/**
 * Options of a request. `idleMs` is the maximum time without a received byte, in milliseconds.
 * @typedef {{ environment: Environment, signal: AbortSignal, idleMs: number }} RequestOptions
 */

/** Failure of the connection, the proxy or the server. The message is a reason without a full stop. */
export class RequestError extends Error {
  /** @override */
  name = "RequestError";
}

/**
 * Returns the proxy for an address.
 * @param {URL} url
 * @param {Environment} environment variable names in lower case take precedence, as in curl
 * @returns {URL | null} null for a direct request to the server
 * @throws {StartFault} if the variable contains no valid address
 */
function proxyOf(url, environment) {
  const valueOf = (/** @type {string} */ name) => environment[name.toLowerCase()]?.trim() || environment[name]?.trim();
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const text = valueOf(name);
  if (!text || isExempt(url, valueOf("NO_PROXY") ?? "")) return null;
  const address = text.includes("://") ? text : `http://${text}`;
  if (URL.canParse(address) && /^https?:/.test(address)) return new URL(address);
  const shown = text.replace(/[^/]*@/, "").slice(0, 40);
  throw new StartFault(`${name} must be an address such as http://proxy:3128, got "${shown}".`);
}

/**
 * Returns true if NO_PROXY exempts an address from the proxy.
 * @param {URL} url
 * @param {string} list host names, domains or `*`, each with or without a port, separated by commas
 * @returns {boolean}
 */
function isExempt(url, list) {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => {
    const [, host = "", only = port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (entry === "*") return true;
    return host !== "" && only === port && `.${url.hostname}`.endsWith(`.${host.toLowerCase()}`);
  });
}

/**
 * Sends a GET request, through a proxy if one is configured.
 * @param {URL} url
 * @param {RequestOptions} options
 * @returns {Promise<import("node:http").IncomingMessage>} the response with any status; redirects are not followed
 * @throws {Error} RequestError, or an error of the system with a code
 */
export async function get(url, { environment, signal, idleMs }) {
  const proxy = proxyOf(url, environment);
  const headers = { "user-agent": "sluice", ...credentialsOf(url, "authorization") };
  const target = withoutCredentials(url);
  if (proxy === null) return respond(clientOf(url).get(target, { headers, signal }), "response", idleMs);
  if (url.protocol === "http:") {
    const all = { ...headers, host: url.host, ...credentialsOf(proxy, "proxy-authorization") };
    const options = { path: target.href, headers: all, signal };
    return respond(clientOf(proxy).get(withoutCredentials(proxy), options), "response", idleMs);
  }
  const socket = await openTunnel(proxy, url, signal, idleMs);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // TLS must check the certificate against `host`; without it, Node checks the proxy's name. An IP address is no valid server name (SNI).
  const createConnection = () => tls.connect({ socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
  return respond(https.get(target, { headers, signal, createConnection }), "response", idleMs);
}

/**
 * Opens a tunnel through the proxy with CONNECT.
 * @param {URL} proxy
 * @param {URL} url
 * @param {AbortSignal} signal
 * @param {number} idleMs
 * @returns {Promise<import("node:net").Socket>} a connection to the server of `url`
 */
async function openTunnel(proxy, url, signal, idleMs) {
  const authority = `${url.hostname}:${url.port || 443}`;
  const headers = { host: authority, ...credentialsOf(proxy, "proxy-authorization") };
  const options = { method: "CONNECT", path: authority, headers, signal };
  const request = clientOf(proxy).request(withoutCredentials(proxy), options);
  request.end();
  const response = await respond(request, "connect", idleMs);
  response.socket.setTimeout(0);
  if (response.statusCode === 200) return response.socket;
  response.socket.destroy();
  throw new RequestError(`the proxy ${proxy.host} answered ${response.statusCode} to CONNECT ${authority}`);
}

/**
 * Returns Node's module for the protocol of an address: `https` or `http`.
 * @param {URL} url
 */
function clientOf(url) {
  return url.protocol === "https:" ? https : http;
}

/**
 * Returns an authorization header with the user and password of an address. The header is built here, because Node throws for a percent
 * sign that is not followed by two hexadecimal digits.
 * @param {URL} url
 * @param {"authorization" | "proxy-authorization"} name
 * @returns {Record<string, string>} empty if the address has no user and password
 */
function credentialsOf({ username, password }, name) {
  if (username === "" && password === "") return {};
  const text = `${decoded(username)}:${decoded(password)}`;
  return { [name]: `Basic ${Buffer.from(text).toString("base64")}` };
}

/**
 * Returns an address without its user and password.
 * @param {URL} url
 */
function withoutCredentials(url) {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare;
}

/**
 * Decodes percent-encoded text.
 * @param {string} text
 * @returns {string} the text unchanged if a percent sign is not followed by two hexadecimal digits
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Resolves with the response to a request. Destroys the request or response when no byte has arrived for `idleMs`.
 * @param {import("node:http").ClientRequest} request
 * @param {"response" | "connect"} event
 * @param {number} idleMs
 * @returns {Promise<import("node:http").IncomingMessage>}
 */
function respond(request, event, idleMs) {
  return new Promise((resolve, reject) => {
    /** @type {import("node:http").IncomingMessage | undefined} */
    let response;
    const end = () => (response ?? request).destroy(new RequestError(`no byte for ${idleMs / 1000} s`));
    request.setTimeout(idleMs, end);
    request.on("error", reject);
    request.once(event, (/** @type {import("node:http").IncomingMessage} */ received) => {
      response = received;
      resolve(received);
    });
  });
}
