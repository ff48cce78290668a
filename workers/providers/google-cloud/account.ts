/**
 * Reads the service account of a Google Cloud provider from the JSON file of its key. Source: docs.cloud.google.com "Service account
 * credentials".
 */
import { createPrivateKey, type KeyObject } from "node:crypto";

import { parseObject } from "../json.ts";

export interface Account {
  readonly email: string;
  readonly project: string;
  readonly tokenUri: string;
  readonly key: KeyObject;
  /** Id of the key within the account. */
  readonly keyId: string | undefined;
}

/** Format of a project id. Old ids begin with a domain: `example.com:project`. */
const PROJECT = /^[a-z0-9][a-z0-9.:-]{1,100}$/i;

/**
 * Parses the credentials of a service account. Returns undefined without a reason if they are invalid, because a reason could quote a
 * secret.
 */
export function readAccount(credentials: string | undefined): Account | undefined {
  const account = parseObject(credentials ?? "");
  const { type, client_email: email, project_id: project, token_uri: tokenUri, private_key: pem } = account ?? {};
  const keyId = account?.["private_key_id"];
  if (type !== "service_account" || typeof email !== "string" || !/^[^\s@]+@[^\s@]+$/.test(email)) return undefined;
  if (typeof project !== "string" || !PROJECT.test(project)) return undefined;
  if (typeof tokenUri !== "string" || !isWebAddress(tokenUri)) return undefined;
  const key = typeof pem === "string" ? readKey(pem) : undefined;
  return key && { email, project, tokenUri, key, keyId: typeof keyId === "string" ? keyId : undefined };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : undefined;
  } catch {
    return undefined;
  }
}
