/** Opens the encryption of stored secrets, with the keys from the settings. */
import { randomBytes } from "node:crypto";

import type { Config } from "#shared/config/config.ts";
import type { Queryable } from "#shared/database/client.ts";
import { sealingKeysInUse } from "#shared/database/channel-secrets.ts";
import { findPublishedKey, publishKey, serviceSecret } from "#shared/database/service-secrets.ts";

import { createPublicSealer, createSealer, type Sealer, SEALING_KEY_BYTES } from "./sealed.ts";

/**
 * Opens the encryption of stored secrets, and publishes its public key, unless a later one is published. Outside production, the encryption
 * key may be generated and stored in the database. This is sufficient for evaluation. The stored key still decrypts after SLUICE_SECRETS_KEY is set.
 * @throws Error that names the missing setting (in production), or the missing key with which stored secrets were encrypted
 */
export async function openSealer(
  config: Pick<Config, "production" | "secretsKeys">,
  database: Queryable,
): Promise<Sealer> {
  const [first, ...rest] = config.secretsKeys;
  if (first === undefined && config.production) {
    throw new Error(
      "SLUICE_SECRETS_KEY is not set; expected 32 random bytes in base64, for example of openssl rand -base64 32",
    );
  }
  const own = config.production ? [] : [await serviceSecret(database, "sealing", randomBytes(SEALING_KEY_BYTES))];
  const [current, ...older] = [...(first === undefined ? [] : [first]), ...rest, ...own];
  if (current === undefined) throw new Error("there is no key to seal secrets with");
  const sealer = createSealer([current, ...older]);
  const missing = (await sealingKeysInUse(database)).filter((id) => !sealer.keyIds.includes(id));
  if (missing.length > 0) {
    throw new Error(
      `stored secrets are sealed with the key ${missing.join(", ")}; add it to SLUICE_SECRETS_KEY_PREVIOUS until admin secrets rotate has run, and an hour longer`,
    );
  }
  await publishKey(database, sealer.publicKey, sealer.keyIds.slice(1));
  return sealer;
}

/**
 * Returns the encryption for processes without the master key. They cannot decrypt.
 * @throws Error if no process with the master key has started yet
 */
export async function publishedSealer(database: Queryable): Promise<Pick<Sealer, "seal">> {
  const key = await findPublishedKey(database);
  if (key === undefined) throw new Error("no process has published a key to encrypt with; start the ingress");
  return createPublicSealer(key);
}
