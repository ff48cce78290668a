/**
 * Wire form of NATS' auth callout: the server seals a request that says who wants to log in, and believes an answer that is signed with
 * the issuer's key and sealed for it.
 *
 * Signatures and sealed boxes are made here and not by @nats-io/nkeys, which reads the keys alone: in plain JavaScript a login took
 * 46 ms of the process, and takes 0.2 ms so. (One flood of wrong keys would keep everybody else out.)
 */
import { createPrivateKey, sign } from "node:crypto";

import { fromCurveSeed, fromSeed } from "@nats-io/nkeys";
import nacl from "tweetnacl";

import { newId } from "#shared/ids.ts";

/** Subject on which a server asks, and its account alone. */
export const CALLOUT_SUBJECT = "$SYS.REQ.USER.AUTH";
/** Header of a request with the server's public key for boxes. */
export const SERVER_XKEY = "Nats-Server-Xkey";

export interface LoginRequest {
  /** Public key that the server gave the connection; the answer is about it. */
  readonly userKey: string;
  readonly serverId: string;
  /** The connection's number at that server. */
  readonly clientId: number;
  /** Address of the client, as the server sees it. */
  readonly address: string;
  /** Password or token of the client; empty: none. */
  readonly secret: string;
}

/** Rights of a user, as NATS writes them. */
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
  /** @returns undefined where it is no request of a server that knows our key */
  open(data: Uint8Array, serverKey: string): LoginRequest | undefined;
  admit(request: LoginRequest, serverKey: string, claims: UserClaims): Uint8Array;
  /** @param reason told to the server's log, never to the client */
  refuse(request: LoginRequest, serverKey: string, reason: string): Uint8Array;
}

/** A CONNECT has 4 KB at most, and the server adds facts about itself and the client. */
const REQUEST_BYTES_MAX = 32 * 1024;
/** Servers whose box keys are remembered: a key costs a millisecond. */
const SERVERS_MAX = 64;
/** `xkv1`, which stands before the nonce. */
const BOX_VERSION = Buffer.from("xkv1");
const BOX_HEAD = BOX_VERSION.length + nacl.box.nonceLength;
const HEADER = encodePart({ typ: "JWT", alg: "ed25519-nkey" });

/** @throws Error when a seed is damaged */
export function openCallout(seeds: { readonly issuer: string; readonly curve: string }): Callout {
  const issuer = fromSeed(Buffer.from(seeds.issuer)).getPublicKey();
  // Reads it, so that a damaged one stops the start.
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

  /** @returns undefined where it is no public box key */
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
      // A copy of its own memory, as the library wants it.
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

/** The request in a token. In the role's account the server alone may ask, so its signature would prove nothing more. */
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

/** The 32 bytes of a seed that was checked: two of its kind stand before, a checksum behind. */
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
