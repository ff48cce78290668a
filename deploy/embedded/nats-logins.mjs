// @ts-check
/** Passwords and keys of the embedded NATS server, generated at each start and kept only in memory. */
import { randomBytes } from "node:crypto";

/** Users of the NATS server, as defined in deploy/nats/server.conf. */
const USERS = /** @type {const} */ (["ingress", "worker", "workflow", "janitor", "auth"]);

/**
 * Name of a user of the NATS server.
 * @typedef {typeof USERS[number]} NatsUser
 */

/**
 * Passwords and keys, in the forms that the server and its clients need.
 * @typedef {object} NatsLogins
 * @property {Record<string, string>} serverEnv variables of deploy/nats/server.conf
 * @property {Record<string, string>} authEnv settings of the role nats-auth
 * @property {(user: NatsUser, url: string) => string} urlFor returns the server's address with the user's password
 */

/**
 * Generates the passwords and keys of a NATS server. Requires the installed packages.
 * @returns {Promise<NatsLogins>}
 */
export async function makeNatsLogins() {
  const { createAccount, createCurve } = await import("@nats-io/nkeys");
  const issuer = createAccount();
  const curve = createCurve();
  const passwords = new Map(USERS.map((user) => [user, `p${randomBytes(24).toString("hex")}`]));
  return {
    serverEnv: {
      NATS_SERVER_NAME: "sluice",
      NATS_AUTH_ISSUER: issuer.getPublicKey(),
      NATS_AUTH_XKEY: curve.getPublicKey(),
      ...Object.fromEntries([...passwords].map(([user, text]) => [`NATS_${user.toUpperCase()}_PASSWORD`, text])),
    },
    authEnv: {
      SLUICE_NATS_AUTH_SEED: Buffer.from(issuer.getSeed()).toString(),
      SLUICE_NATS_AUTH_XKEY_SEED: Buffer.from(curve.getSeed()).toString(),
    },
    urlFor: (user, url) => url.replace("://", `://${user}:${passwords.get(user)}@`),
  };
}
