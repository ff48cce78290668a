// @ts-check
/** Passwords and keys of the embedded NATS server, generated at each start and kept only in memory. */
import { randomBytes } from "node:crypto";

/** Users of deploy/nats/server.conf. */
const USERS = /** @type {const} */ (["ingress", "worker", "workflow", "janitor", "auth"]);

/** @typedef {typeof USERS[number]} NatsUser */

/**
 * @typedef {object} NatsLogins
 * @property {Record<string, string>} serverEnv variables of deploy/nats/server.conf
 * @property {Record<string, string>} authEnv settings of the role nats-auth
 * @property {(user: NatsUser, url: string) => string} urlFor address with the user's password
 */

/**
 * Generates passwords and keys. Requires the installed packages.
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
