/**
 * Wire format of NATS' auth callout. The NATS server sends an encrypted login request. It accepts a response that is signed with the
 * issuer's key and encrypted for the server.
 *
 * Signatures and boxes are computed here instead of by @nats-io/nkeys, which only decodes the keys. In plain JavaScript a login took 46 ms
 * of CPU; here it takes 0.2 ms. A single flood of wrong keys would have blocked all other logins.
 */
import { createPrivateKey, sign } from "node:crypto";

import { fromCurveSeed, fromSeed } from "@nats-io/nkeys";
import nacl from "tweetnacl";

import { newId } from "#shared/base/ids.ts";

/** NATS subject of login requests. Only a NATS server can publish there, in the account that the role nats-auth uses. */
export const CALLOUT_SUBJECT = "$SYS.REQ.USER.AUTH";
/** Message header that contains the NATS server's public encryption key. */
export const SERVER_XKEY = "Nats-Server-Xkey";

export interface LoginRequest {
  /** Public key that the NATS server assigned to the connection. It is also the subject of the response. */
  readonly userKey: string;
  readonly serverId: string;
  /** Id of the connection at the NATS server. */
  readonly clientId: number;
  /** IP address of the client, as seen by the NATS server. */
  readonly address: string;
  /** Password or token that the client sent; empty if absent. */
  readonly secret: string;
}

/** Permissions of a logged-in user, in the format of NATS. */
export interface UserClaims {
  readonly name: string;
  /** Account of server.conf that the user belongs to. */
  readonly account: string;
  readonly expiresAtMs: number;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly subscriptionsMax: number;
}

export interface Callout {
  /** Decrypts a login request. @returns undefined if the data is not a request that a server has encrypted for this service */
  open(data: Uint8Array, serverKey: string): LoginRequest | undefined;
  admit(request: LoginRequest, serverKey: string, claims: UserClaims): Uint8Array;
  /** Encrypts a refusal of a login. @param reason written to the NATS server's log, never sent to the client */
  refuse(request: LoginRequest, serverKey: string, reason: string): Uint8Array;
}

/**
 * Maximum size of a login request, in bytes. The client's CONNECT has at most 4 KB, and the server adds data about itself and the client.
 */
const REQUEST_BYTES_MAX = 32 * 1024;
/** Maximum number of NATS servers whose shared keys are cached. Computing a shared key takes a millisecond. */
const SERVERS_MAX = 64;
/** Version prefix `xkv1` of an encrypted message, followed by the nonce. */
const BOX_VERSION = Buffer.from("xkv1");
const BOX_HEAD = BOX_VERSION.length + nacl.box.nonceLength;
const HEADER = encodePart({ typ: "JWT", alg: "ed25519-nkey" });

/** Creates the callout from the seeds of its signing and encryption keys. @throws Error when a seed is damaged */
export function openCallout(seeds: { readonly issuer: string; readonly curve: string }): Callout {
  const issuer = fromSeed(Buffer.from(seeds.issuer)).getPublicKey();
  // Decodes the seed, so that a damaged one fails at startup.
  fromCurveSeed(Buffer.from(seeds.curve)).getPublicKey();
  const signingKey = createPrivateKey({
    format: "jwk",
    key: {
      kty: "OKP",
      crv: "Ed25519",
      d: seedBytes(seeds.issuer).toString("base64url"),
      x: publicBytes(issuer).toString("base64url"),
    },
  });
  const curveSecret = seedBytes(seeds.curve);
  const boxKeys = new Map<string, Uint8Array>();

  /** Returns the shared key of a server; undefined for an invalid public key. */
  const boxKeyFor = (serverKey: string): Uint8Array | undefined => {
    const known = boxKeys.get(serverKey);
    if (known || !/^X[A-Z2-7]{55}$/.test(serverKey)) return known;
    const key = nacl.box.before(publicBytes(serverKey), curveSecret);
    if (boxKeys.size >= SERVERS_MAX) boxKeys.clear();
    boxKeys.set(serverKey, key);
    return key;
  };

  const token = (claims: object): string => {
    const signed = `${HEADER}.${encodePart({ ...claims, iss: issuer, iat: Math.floor(Date.now() / 1_000), jti: newId() })}`;
    return `${signed}.${sign(null, Buffer.from(signed), signingKey).toString("base64url")}`;
  };

  const answer = ({ userKey, serverId }: LoginRequest, serverKey: string, said: object): Uint8Array => {
    const nats = { ...said, type: "authorization_response", version: 2 };
    const key = boxKeyFor(serverKey);
    if (!key) throw new Error("expected to answer a request that was opened");
    const nonce = nacl.randomBytes(nacl.box.nonceLength);
    const plain = Buffer.from(token({ sub: userKey, aud: serverId, nats }));
    return Buffer.concat([BOX_VERSION, nonce, nacl.secretbox(plain, nonce, key)]);
  };

  return {
    open(data, serverKey) {
      const key = data.length > BOX_HEAD && data.length <= REQUEST_BYTES_MAX ? boxKeyFor(serverKey) : undefined;
      if (!key || !BOX_VERSION.equals(data.subarray(0, BOX_VERSION.length))) return undefined;
      // A copy with its own memory, as the library requires.
      const nonce = Uint8Array.from(data.subarray(BOX_VERSION.length, BOX_HEAD));
      const plain = nacl.secretbox.open(Uint8Array.from(data.subarray(BOX_HEAD)), nonce, key);
      return plain ? readRequest(Buffer.from(plain).toString()) : undefined;
    },
    admit(request, serverKey, claims) {
      const nats = {
        pub: { allow: claims.publish },
        sub: { allow: claims.subscribe },
        subs: claims.subscriptionsMax,
        data: -1,
        payload: -1,
        type: "user",
        version: 2,
      };
      const exp = Math.floor(claims.expiresAtMs / 1_000);
      const jwt = token({ name: claims.name, sub: request.userKey, aud: claims.account, exp, nats });
      return answer(request, serverKey, { jwt });
    },
    refuse: (request, serverKey, reason) => answer(request, serverKey, { error: reason }),
  };
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/**
 * Decodes the login request in a JWT without verifying its signature. Only the NATS server can publish in the role's account, so a
 * signature would prove nothing more.
 */
function readRequest(token: string): LoginRequest | undefined {
  const [, part = ""] = token.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    const nats = member(claims, "nats");
    const options = member(nats, "connect_opts");
    const userKey = text(nats, "user_nkey");
    const serverId = text(member(nats, "server_id"), "id");
    if (!/^U[A-Z2-7]{55}$/.test(userKey) || !/^N[A-Z2-7]{55}$/.test(serverId)) return undefined;
    const secret = text(options, "pass") || text(options, "auth_token");
    const client = member(nats, "client_info");
    const clientId = member(client, "id");
    if (typeof clientId !== "number") return undefined;
    return { userKey, serverId, clientId, address: text(client, "host"), secret };
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

/** Returns the 32 bytes of a verified seed, without the two prefix bytes and the checksum. */
const seedBytes = (seed: string): Buffer => base32(seed).subarray(2, 34);
const publicBytes = (key: string): Buffer => base32(key).subarray(1, 33);

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function base32(encoded: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const character of encoded) {
    value = (value << 5) | BASE32.indexOf(character);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
      value &= (1 << bits) - 1;
    }
  }
  return Buffer.from(bytes);
}
