/** Opens the encryption of stored secrets, with the keys from the settings. */
import { randomBytes } from "node:crypto";

import type { Config } from "#shared/config/config.ts";
import type { Queryable } from "#shared/database/client.ts";
import { sealingKeysInUse } from "#shared/database/channel-secrets.ts";
import { serviceSecret } from "#shared/database/service-secrets.ts";

import { createSealer, type Sealer, SEALING_KEY_BYTES } from "./sealed.ts";

/**
 * Opens the encryption. Without SLUICE_SECRETS_KEY, outside production, the key is stored in the database. This is sufficient for
 * evaluation, and the
 * stored key still decrypts when a key is set later.
 * @throws Error naming the missing item: the setting in production, or a key that stored secrets were encrypted with
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
  return sealer;
}
