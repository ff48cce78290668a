/**
 * An entry of the roles of any checkout that asks the load runs' upstream over TLS. Checkouts from before TLS write a plain address into
 * their catalogue, and pass none of our environment to their roles. They do start the roles from the program named by TEST_ENTRY.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { BUN } from "../support/infrastructure.ts";

/**
 * Writes a program to `directory` that trusts the certificate, replaces the upstream's plain address in the catalogue, and becomes the
 * entry of the checkout at `folder`. Returns its path.
 */
export function writeEntryOverTls(directory: string, folder: string, port: number, certFile: string): string {
  const path = join(directory, `entry-${Bun.hash(folder).toString(36)}`);
  const script = `#!/bin/sh
export NODE_EXTRA_CA_CERTS=${quote(certFile)}
if [ -n "$SLUICE_CATALOGUE" ]; then
  catalogue=${quote(directory)}"/catalogue-$$.yaml"
  sed 's#http://127.0.0.1:${port}/#https://127.0.0.1:${port}/#' "$SLUICE_CATALOGUE" >"$catalogue" || exit 1
  export SLUICE_CATALOGUE="$catalogue"
fi
exec ${quote(BUN)} ${quote(`${folder}/deploy/sluice.ts`)} "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

/** Returns the text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
