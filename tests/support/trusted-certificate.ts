/** Creates a certificate for local servers of one test or run, as PEM files, and the environment for processes that trust it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { selfSigned } from "../shared/net/certificate.ts";

export interface TrustedCertificate {
  /** PEM text of the private key. */
  readonly key: string;
  /** PEM text of the certificate. */
  readonly cert: string;
  /** Path of the file that contains `key`. */
  readonly keyFile: string;
  /** Path of the file that contains `cert`. */
  readonly certFile: string;
  /** Environment variables that make a process of Node or Bun trust the certificate. Both read them when they start. */
  readonly trust: { readonly NODE_EXTRA_CA_CERTS: string };
}

/** Creates a certificate for servers on 127.0.0.1 and writes its files to `directory`. */
export function createCertificate(directory: string): TrustedCertificate {
  const { key, cert } = selfSigned("127.0.0.1");
  const [keyFile, certFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  writeFileSync(keyFile, key);
  writeFileSync(certFile, cert);
  return { key, cert, keyFile, certFile, trust: { NODE_EXTRA_CA_CERTS: certFile } };
}
