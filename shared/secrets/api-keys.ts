/**
 * Creates and checks API keys. Format: `slk_` + 32 base62 + 6 base62 of the CRC32 of those 32; an operator's token begins with `slo_`. The
 * checksum rejects typos and guesses without a query. Only the SHA-256 of a key is stored.
 */
import { randomBytes, randomInt } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MINTED = /^slk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
const OPERATOR = /^slo_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
/** Matches a key that an operator provides. It never begins with our own prefixes. */
const BOOTSTRAP = /^(?!sl[ko]_)[A-Za-z0-9_-]{20,200}$/;

/** Returns a new API key in clear text, which is displayed only once. */
export function mintKey(): string {
  return `slk_${checkedBody()}`;
}

/** Returns a new token for /operator in clear text, which is displayed only once. */
export function mintOperatorToken(): string {
  return `slo_${checkedBody()}`;
}

/** Returns a new session token in clear text: 256 random bits. The browser stores it. */
export function mintSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Returns false if the text cannot be a session token. */
export function isSessionToken(token: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(token);
}

/** Returns false if the text cannot be one of our API keys. It is then rejected without a query. */
export function isWellFormedKey(key: string): boolean {
  const minted = MINTED.exec(key);
  if (minted) return minted[2] === checksum(minted[1] ?? "");
  return BOOTSTRAP.test(key);
}

/** Returns false if the text cannot be one of our operator tokens. */
export function isOperatorToken(token: string): boolean {
  const [, body = "", check = ""] = OPERATOR.exec(token) ?? [];
  return body !== "" && check === checksum(body);
}

export function isMintedKey(key: string): boolean {
  return MINTED.test(key);
}

export function hashKey(key: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(key).digest();
}

/** Returns the first characters of an API key, by which lists identify it. */
export function keyHint(key: string): string {
  return `${key.slice(0, 8)}…`;
}

function checkedBody(): string {
  let body = "";
  for (let i = 0; i < 32; i++) body += ALPHABET[randomInt(62)];
  return body + checksum(body);
}

function checksum(body: string): string {
  let remainder = Bun.hash.crc32(body);
  let text = "";
  for (let i = 0; i < 6; i++) {
    text = (ALPHABET[remainder % 62] ?? "") + text;
    remainder = Math.floor(remainder / 62);
  }
  return text;
}
