// @ts-check
/**
 * Starts the three servers that Sluice needs: Postgres, NATS and an object store. If the address of a server is configured, Sluice uses
 * that server instead of starting one.
 */
import { join } from "node:path";
import { atLeast, NATS_FLOOR, serverVersion, startNats } from "../embedded/nats.mjs";
import { makeNatsLogins } from "../embedded/nats-logins.mjs";
import { StartFault } from "../embedded/fault.mjs";
import { startPostgres } from "../embedded/postgres.mjs";
import { S3_ACCOUNT, startS3 } from "../embedded/s3.mjs";
import { rememberedPorts } from "../embedded/settings.mjs";

/** Time for a server to stop, in milliseconds. It is enough for the last checkpoint of Postgres. */
const GRACE_MS = 20_000;

/**
 * Servers of the stack, and the variables with which roles connect to them.
 * @typedef {object} Services
 * @property {Record<string, string>} env variables for every role
 * @property {readonly string[]} started names of the servers that were started here
 * @property {string | undefined} natsUrl address of the embedded NATS server, where batch publishers log in; undefined if the operator's
 * own server is used
 * @property {(user: import("../embedded/nats-logins.mjs").NatsUser) => Record<string, string>} loginOf returns the additional variables of
 * a role with that NATS user
 */

/**
 * Starts the servers that are not configured.
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.bun
 * @param {() => Promise<string>} options.natsProgram returns the path of a nats-server program
 * @param {import("../embedded/settings.mjs").Settings} options.settings
 * @param {import("./children.mjs").Children} options.children
 * @param {import("./log.mjs").Log} options.log
 * @returns {Promise<Services>} resolves when all three servers accept connections
 */
export async function startServices({ root, bun, natsProgram, settings, children, log }) {
  const { dataDir } = settings;
  const ports = await rememberedPorts(dataDir, /** @type {const} */ (["postgres", "nats", "natsMonitor", "s3"]));
  const relay = (/** @type {string} */ role, /** @type {RegExp} */ worthSaying) => (/** @type {string} */ line) => {
    if (worthSaying.test(line) && !children.stopping()) log.relay(role, line, "stderr");
  };

  const postgres = async () => {
    if (settings.databaseUrl !== undefined) return settings.databaseUrl;
    const start = () =>
      startPostgres({
        directory: join(dataDir, "postgres"),
        port: ports.postgres,
        onCreate: () => log.notify("creating the database"),
        onLine: relay("postgres", / (WARNING|FATAL|PANIC): /),
      });
    return (await children.add("postgres", start, GRACE_MS)).url;
  };

  const nats = async () => {
    if (settings.natsUrl !== undefined) {
      await requireNewEnough(settings.natsUrl);
      const given = settings.natsUrl;
      return { natsUrl: undefined, loginOf: () => ({ NATS_URL: given }) };
    }
    const [binary, { serverEnv, authEnv, urlFor }] = await Promise.all([natsProgram(), makeNatsLogins()]);
    // A refused login of a publisher is no fault of the server.
    const onLine = relay("nats", / \[(WRN|ERR|FTL)\] (?!.*(Plaintext passwords|authentication error|Auth callout))/);
    const config = { file: join(root, "deploy/nats/server.conf"), env: serverEnv, monitorPort: ports.natsMonitor };
    const start = () => startNats({ binary, directory: join(dataDir, "nats"), port: ports.nats, onLine, config });
    const { url } = await children.add("nats", start, GRACE_MS);
    /** @type {Services["loginOf"]} */
    const loginOf = (user) => ({ NATS_URL: urlFor(user, url), ...(user === "auth" ? authEnv : {}) });
    return { natsUrl: url, loginOf };
  };

  const storage = async () => {
    if (settings.s3Endpoint !== undefined) return {};
    const start = () =>
      startS3({
        bun,
        root,
        directory: join(dataDir, "s3"),
        port: ports.s3,
        buckets: [settings.bucket],
        onLine: (line) => (line === "ready" ? undefined : log.relay("s3", line, "stderr")),
      });
    return {
      S3_ENDPOINT: (await children.add("s3", start, GRACE_MS)).url,
      AWS_ACCESS_KEY_ID: S3_ACCOUNT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_ACCOUNT.secretAccessKey,
      AWS_REGION: S3_ACCOUNT.region,
      SLUICE_S3_BUCKET: settings.bucket,
    };
  };

  const [databaseUrl, queue, storageEnv] = await Promise.all([postgres(), nats(), storage()]);
  const started = [
    ...(settings.databaseUrl === undefined ? ["Postgres"] : []),
    ...(settings.natsUrl === undefined ? ["NATS"] : []),
    ...(settings.s3Endpoint === undefined ? ["object store"] : []),
  ];
  return { env: { DATABASE_URL: databaseUrl, ...storageEnv }, started, ...queue };
}

/**
 * Checks that the operator's NATS server has a supported version.
 * @param {string} url
 * @throws {StartFault} if the version is too old
 */
async function requireNewEnough(url) {
  const version = await serverVersion(url);
  if (atLeast(version, NATS_FLOOR)) return;
  throw new StartFault(`The NATS server at NATS_URL is version ${version}, and Sluice needs ${NATS_FLOOR} or newer.`);
}
