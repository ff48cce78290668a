/**
 * Encryption at rest with AES-256-GCM. Each text is bound to its location, so that a copy in another workspace, row or field cannot be
 * decrypted. Format: `v1.<key>.<nonce, ciphertext and tag>`. <key> names the master key, so that old texts stay readable after a key
 * rotation.
 *
 * Processes without a master key encrypt with its public key (X25519). Format: `v2.<key>.<public key of the text, nonce, ciphertext and
 * tag>`. Only processes with the master key decrypt these texts. Such a text does not prove who encrypted it, so it is accepted for kept
 * bodies only.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";

import type { PublicKey } from "#shared/database/service-secrets.ts";

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
  /** Public key of the current key, for `createPublicSealer`. */
  readonly publicKey: PublicKey;
}

const VERSION = "v1";
const PUBLIC_VERSION = "v2";
/** Tables with texts of processes without the master key. */
const PUBLIC_TABLES: ReadonlySet<string> = new Set(["kept_body"]);
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
    get publicKey() {
      return { id: current, bytes: publicBytesOf(createPublicKey(privateKeyOf(keys[0]))) };
    },
    seal(place, secret) {
      return `${VERSION}.${current}.${encrypt(keys[0], placeBytes(place, current), secret).toString("base64url")}`;
    },
    open(place, sealed) {
      const id = keyIdOf(sealed);
      const key = known.get(id);
      if (key === undefined) throw new Error(`a secret is sealed with the key ${id}, which is not set`);
      const isPublic = sealed.startsWith(PUBLIC_VERSION);
      // Everybody who reads the database can encrypt with the public key. Elsewhere, such a text would be a forgery.
      if (isPublic && !PUBLIC_TABLES.has(place.table)) throw notKept(place);
      const version = isPublic ? PUBLIC_VERSION : VERSION;
      const text = Buffer.from(sealed.slice(version.length + id.length + 2), "base64url");
      const bytes = isPublic ? text.subarray(PUBLIC_KEY_BYTES) : text;
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error("a sealed secret is cut off");
      try {
        const textKey = isPublic ? receivedKey(key, text.subarray(0, PUBLIC_KEY_BYTES)) : key;
        const decipher = createDecipheriv("aes-256-gcm", textKey, bytes.subarray(0, NONCE_BYTES))
          .setAAD(placeBytes(place, id, version))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
          "utf8",
        );
      } catch (error) {
        throw notKept(place, error);
      }
    },
  };
}

/**
 * Creates the encryption for processes without the master key.
 * @param publicKey `publicKey` of the sealer that decrypts
 */
export function createPublicSealer({ id, bytes }: PublicKey): Pick<Sealer, "seal"> {
  const receiver = Buffer.from(bytes);
  return {
    seal(place, secret) {
      const own = generateKeyPairSync("x25519");
      const sender = publicBytesOf(own.publicKey);
      const key = textKeyOf(own.privateKey, receiver, { sender, receiver });
      const bytes = Buffer.concat([sender, encrypt(key, placeBytes(place, id, PUBLIC_VERSION), secret)]);
      return `${PUBLIC_VERSION}.${id}.${bytes.toString("base64url")}`;
    },
  };
}

function notKept({ field, table, row }: SealedPlace, cause?: unknown): Error {
  return new Error(`the sealed ${field} of ${table} ${row} is not what was kept there`, { cause });
}

function encrypt(key: Uint8Array, place: Uint8Array, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(place);
  return Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

const PUBLIC_KEY_BYTES = 32;
/** Bytes before the key in its DER encoding (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b656e032100", "hex");

/** Derives the private key of a master key. */
function privateKeyOf(master: Uint8Array): KeyObject {
  const bytes = hkdfSync("sha256", master, "", "sluice public sealing", SEALING_KEY_BYTES);
  return createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, Buffer.from(bytes)]), format: "der", type: "pkcs8" });
}

function publicBytesOf(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES);
}

/** Returns the key of a text that was encrypted with the public key of `master`. */
function receivedKey(master: Uint8Array, sender: Buffer): Uint8Array {
  const own = privateKeyOf(master);
  return textKeyOf(own, sender, { sender, receiver: publicBytesOf(createPublicKey(own)) });
}

function textKeyOf(
  own: KeyObject,
  other: Buffer,
  { sender, receiver }: { readonly sender: Buffer; readonly receiver: Buffer },
): Uint8Array {
  const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, other]), format: "der", type: "spki" });
  const secret = diffieHellman({ privateKey: own, publicKey });
  const salt = Buffer.concat([sender, receiver]);
  return Buffer.from(hkdfSync("sha256", secret, salt, "sluice public sealing", SEALING_KEY_BYTES));
}

/** Returns the name of a master key. The name reveals nothing about the key. */
export function sealingKeyId(key: Uint8Array): string {
  return createHash("sha256").update("sluice sealing key").update(key).digest("hex").slice(0, 8);
}

/** Returns the name of the key that encrypted a text; empty if the text is not encrypted. */
export function keyIdOf(sealed: string): string {
  const [version, id = ""] = sealed.split(".", 2);
  return version === VERSION || version === PUBLIC_VERSION ? id : "";
}

function placeBytes(
  { workspaceId, table, row, field }: SealedPlace,
  keyId: string,
  version: string = VERSION,
): Uint8Array {
  return Buffer.from(JSON.stringify([version, keyId, workspaceId, table, row, field]));
}
