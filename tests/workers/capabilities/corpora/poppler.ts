/** Programs of poppler, from the Debian archive: the judges of PDF corpora. */
import { existsSync } from "node:fs";

import { debianProgram } from "#tests/support/debian-program.ts";

const LIBRARIES = "libassuan9 libbrotli1 libbz2-1.0 libc6 libcom-err2 libcurl3t64-gnutls libdeflate0 libexpat1 libffi8 libfontconfig1 libfreetype6 libgcc-s1 libgmp10 libgnutls30t64 libgpg-error0 libgpgme11t64 libgpgmepp6t64 libgssapi-krb5-2 libhogweed6t64 libidn2-0 libjbig0 libjpeg62-turbo libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 liblcms2-2 libldap2 liblerc4 liblzma5 libnettle8t64 libnghttp2-14 libnghttp3-9 libngtcp2-16 libngtcp2-crypto-gnutls8 libnspr4 libnss3 libopenjp2-7 libp11-kit0 libpng16-16t64 libpoppler147 libpsl5t64 librtmp1 libsasl2-2 libsharpyuv0 libssh2-1t64 libssl3t64 libstdc++6 libtasn1-6 libtiff6 libunistring5 libwebp7 libzstd1 zlib1g".split(" "); // prettier-ignore

/** Path of the package's programs, of which `debianProgram` takes one. */
const PROGRAMS = "usr/bin";
const packages = { release: "trixie", packages: ["poppler-utils", ...LIBRARIES] };

type Name = "pdfimages" | "pdfinfo" | "pdftotext";

const DATA = "/usr/share/poppler";
/**
 * Hides the encodings of the package poppler-data, where this machine has it. With them, poppler reads more CJK texts, and the counts of the
 * corpora would depend on the machine.
 */
const WITHOUT_DATA = existsSync(DATA)
  ? ["unshare", "--map-root-user", "--mount", "sh", "-c", `mount -t tmpfs none ${DATA} && exec "$0" "$@"`]
  : [];

/** Runs one of the programs. @returns undefined when it refuses the file @throws StartFault where there is no Debian archive */
export async function poppler(name: Name, args: readonly string[]): Promise<string | undefined> {
  const command = await debianProgram({ ...packages, path: `${PROGRAMS}/${name}` });
  const { exitCode, stdout } = Bun.spawnSync([...WITHOUT_DATA, ...command, ...args], {
    timeout: 30_000,
    stderr: "ignore",
  });
  return exitCode === 0 ? stdout.toString() : undefined;
}
