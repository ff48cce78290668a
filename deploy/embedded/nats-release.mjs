// @ts-check
/** Downloads nats-server from its official release, for systems without a Debian archive. Reasons: deploy/decisions/0101. */
import { createHash } from "node:crypto";
import { posix } from "node:path";
import { gunzipSync } from "node:zlib";
import { download, DownloadError } from "./download.mjs";
import { StartFault } from "./fault.mjs";

/**
 * Version of nats-server to download, with the digests of its archives.
 * @typedef {object} Release
 * @property {string} version
 * @property {Readonly<Record<string, string>>} digests SHA-256 of archives in hexadecimal, by system such as `linux-amd64`
 */

/**
 * Release that is downloaded. Its digests are published in the repository nats-io/nats-docker, which has none for macOS.
 * @type {Release}
 */
const RELEASE = Object.freeze({
  version: "2.14.5",
  digests: Object.freeze({
    "linux-amd64": "5e3b603d47c447bda1f77f9ac16dbf91c90aac4ff3681f8fbbc7201e4ed99355",
    "linux-arm64": "673a98d3faa79dde3f9ebf16d6dfac36a5f694e7ad2015e4954dd7939c85cd4c",
  }),
});
const RELEASES_URL = "https://github.com/nats-io/nats-server/releases/download";
/** Supported systems, by their names in the release. */
const SYSTEMS = new Set(["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"]);
/** Maximum size of each download, in bytes. The actual archive has 7 MB, the program 20 MB. */
const ARCHIVE_BYTES_MAX = 64 * 1024 ** 2;
const PROGRAM_BYTES_MAX = 256 * 1024 ** 2;
const SUMS_BYTES_MAX = 64 * 1024;
const BLOCK = 512;

/**
 * Downloads the release archive, verifies its SHA-256 and returns the nats-server program in it.
 * @param {object} options
 * @param {string} options.platform as in `process.platform`
 * @param {string} options.arch as in `process.arch`
 * @param {import("./proxy.mjs").Environment} options.environment contains NATS_RELEASES_URL and the proxy variables
 * @param {(text: string) => void} options.progress
 * @param {string} options.advice sentence with an alternative, for error messages
 * @param {Release} [options.release]
 * @param {import("./download.mjs").Limits} [options.limits]
 * @returns {Promise<Buffer>}
 * @throws {StartFault}
 */
export async function releasedNats({ platform, arch, environment, progress, advice, release = RELEASE, limits }) {
  const system = `${platform}-${arch === "x64" ? "amd64" : arch}`;
  if (!SYSTEMS.has(system)) throw new StartFault(`There is no packaged nats-server for ${platform}-${arch}. ${advice}`);
  const { version } = release;
  const base = baseOf(environment);
  const archive = `nats-server-v${version}-${system}.tar.gz`;
  // A mirror's address may contain a password.
  const folder = `${base.replace(/\/\/[^/@]*@/, "//")}/v${version}`;
  const fetchFile = async (/** @type {string} */ name, /** @type {number} */ bytesMax) => {
    try {
      return await download(`${base}/v${version}/${name}`, { bytesMax, environment, ...(limits ? { limits } : {}) });
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      throw new StartFault(
        `${folder}/${name} could not be downloaded (${error.message}). Check the network and HTTPS_PROXY, or name a mirror in NATS_RELEASES_URL. ${advice}`,
      );
    }
  };
  progress(`downloading nats-server ${version} from ${folder}/${archive}`);
  const wanted = release.digests[system] ?? (await publishedDigest(folder, archive, advice, fetchFile));
  const bytes = await fetchFile(archive, ARCHIVE_BYTES_MAX);
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== wanted) {
    throw new StartFault(
      `${folder}/${archive} has the SHA-256 ${digest}, expected ${wanted}; the file was discarded. Check what changes downloads on their way (a proxy, a mirror). ${advice}`,
    );
  }
  const program = fileIn(gunzipSync(bytes, { maxOutputLength: PROGRAM_BYTES_MAX }), "nats-server");
  if (program === undefined) throw new StartFault(`${folder}/${archive} contains no file nats-server. ${advice}`);
  return program;
}

/**
 * Returns the base address of releases, from NATS_RELEASES_URL or the default.
 * @param {import("./proxy.mjs").Environment} environment
 * @returns {string} without a slash at its end
 */
function baseOf(environment) {
  const address = environment["NATS_RELEASES_URL"]?.trim() || RELEASES_URL;
  if (URL.canParse(address) && /^https?:/.test(address)) return address.replace(/\/+$/, "");
  const shown = address.replace(/[^/]*@/, "").slice(0, 80);
  throw new StartFault(`NATS_RELEASES_URL must be an address such as ${RELEASES_URL}, got "${shown}".`);
}

/**
 * Returns the archive's SHA-256 from the release's own list. Requires HTTPS, because otherwise an attacker who changes the archive can also
 * change the list.
 * @param {string} folder
 * @param {string} archive
 * @param {string} advice
 * @param {(name: string, bytesMax: number) => Promise<Buffer>} fetchFile
 * @returns {Promise<string>}
 */
async function publishedDigest(folder, archive, advice, fetchFile) {
  if (!folder.startsWith("https:")) {
    throw new StartFault(`NATS_RELEASES_URL must begin with https: for ${archive}, whose SHA-256 is read from there.`);
  }
  const lines = (await fetchFile("SHA256SUMS", SUMS_BYTES_MAX)).toString("utf8").split("\n");
  for (const line of lines) {
    const [digest = "", name] = line.trim().split(/\s+\*?/);
    if (name === archive && /^[0-9a-f]{64}$/.test(digest)) return digest;
  }
  throw new StartFault(`${folder}/SHA256SUMS does not list ${archive}. ${advice}`);
}

/**
 * Returns the content of the first regular file with this name in a tar archive, in any folder; undefined if there is none.
 * @param {Buffer} tar
 * @param {string} wanted
 * @returns {Buffer | undefined}
 */
function fileIn(tar, wanted) {
  const text = (/** @type {number} */ from, /** @type {number} */ to) =>
    tar.toString("latin1", from, to).split("\0", 1)[0];
  for (let at = 0; at + BLOCK <= tar.length;) {
    const size = Number.parseInt(text(at + 124, at + 136) ?? "", 8);
    if (Number.isNaN(size)) return undefined;
    const [begin, end] = [at + BLOCK, at + BLOCK + size];
    const isFile = ["0", ""].includes(text(at + 156, at + 157) ?? "");
    if (isFile && posix.basename(text(at, at + 100) ?? "") === wanted && end <= tar.length)
      return tar.subarray(begin, end);
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}
