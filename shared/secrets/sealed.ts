/**
 * Encryption at rest with AES-256-GCM. Each text is bound to its location, so that a copy in another workspace, row or field cannot be
 * decrypted. Format: `v1.<key>.<nonce, ciphertext and tag>`. <key> names the master key, so that old texts stay readable after a key
 * rotation.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** Location to which an encrypted text is bound. */
export interface SealedPlace {
  readonly workspaceId: string;
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

export interface Sealer {
  seal(place: SealedPlace, secret: string): string;
  /** Decrypts a text. @throws Error, without the text, if it belongs to another location, was changed, or its key is unknown */
  open(place: SealedPlace, sealed: string): string;
  /** Returns true if the text was encrypted with the current key. */
  isCurrent(sealed: string): boolean;
  /** Names of the keys that can decrypt. */
  readonly keyIds: readonly string[];
}

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEALING_KEY_BYTES = 32;

/**
 * Creates the encryption for these keys.
 * @param keys keys of 32 bytes; the first one encrypts, all of them decrypt
 */
export function createSealer(keys: readonly [Uint8Array, ...Uint8Array[]]): Sealer {
  const known = new Map(keys.map((key) => [sealingKeyId(key), key]));
  const current = sealingKeyId(keys[0]);
  return {
    keyIds: [...known.keys()],
    isCurrent: (sealed) => keyIdOf(sealed) === current,
    seal(place, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keys[0], nonce).setAAD(placeBytes(place, current));
      const bytes = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${current}.${bytes.toString("base64url")}`;
    },
    open(place, sealed) {
      const id = keyIdOf(sealed);
      const key = known.get(id);
      if (key === undefined) throw new Error(`a secret is sealed with the key ${id}, which is not set`);
      const bytes = Buffer.from(sealed.slice(VERSION.length + id.length + 2), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error("a sealed secret is cut off");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(placeBytes(place, id))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
          "utf8",
        );
      } catch (error) {
        throw new Error(`the sealed ${place.field} of ${place.table} ${place.row} is not what was kept there`, {
          cause: error,
        });
      }
    },
  };
}

/** Returns the name of a master key. The name reveals nothing about the key. */
export function sealingKeyId(key: Uint8Array): string {
  return createHash("sha256").update("sluice sealing key").update(key).digest("hex").slice(0, 8);
}

/** Returns the name of the key that encrypted a text; empty if the text is not encrypted. */
export function keyIdOf(sealed: string): string {
  const [version, id = ""] = sealed.split(".", 2);
  return version === VERSION ? id : "";
}

function placeBytes({ workspaceId, table, row, field }: SealedPlace, keyId: string): Uint8Array {
  return Buffer.from(JSON.stringify([VERSION, keyId, workspaceId, table, row, field]));
}
