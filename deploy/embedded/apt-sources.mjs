// @ts-check
/** The Debian mirror that this machine is set up to use, read from its own apt sources, and packages from it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartFault } from "./fault.mjs";
import { findOnPath, run } from "./process.mjs";

const DEFAULT_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** @typedef {{ uri: string, suites: string[], components: string[], keyring: string | null }} Source */

/**
 * The mirror that serves this machine's own Debian release, with the keyring that signs it; null elsewhere.
 * @param {string} [root] "/" but in tests
 * @returns {{ uri: string, keyring: string } | null}
 */
export function debianArchive(root = "/") {
  const release = readOr(join(root, "etc/os-release"));
  if (!/^ID="?debian"?$/m.test(release)) return null;
  const codename = /^VERSION_CODENAME="?([\w-]+)"?$/m.exec(release)?.[1];
  const found = sources(root).find(
    ({ suites, components }) =>
      components.includes("main") &&
      suites.some((suite) => suite === codename || ["stable", "testing", "unstable", "sid"].includes(suite)),
  );
  if (found === undefined) return null;
  const keyring = found.keyring ?? DEFAULT_KEYRING;
  return existsSync(join(root, keyring)) ? { uri: found.uri, keyring } : null;
}

/**
 * Downloads packages, unpacks them into one folder and hands that to `use`; afterwards it is removed. apt checks the archive's
 * signature and the packages' digests; its lists, cache and settings for this go to a private folder, so neither root nor a change
 * of the system is needed.
 * @template T
 * @param {object} wanted
 * @param {string} wanted.release Debian release that has them, also where this machine runs another
 * @param {readonly string[]} wanted.packages the first gives its name to faults
 * @param {string} wanted.advice what to do where they cannot be had
 * @param {() => void} [wanted.onFetch] called before the download
 * @param {(folder: string) => Promise<T>} use
 * @returns {Promise<T>}
 * @throws {StartFault} when they cannot be had
 */
export async function unpackFromDebian({ release, packages, advice, onFetch }, use) {
  const archive = debianArchive();
  if (archive === null || findOnPath("apt-get") === null || findOnPath("dpkg") === null) {
    throw new StartFault(
      `No ${packages[0]} was found, and this system has no Debian archive to take it from. ${advice}`,
    );
  }
  onFetch?.();
  const work = mkdtempSync(join(tmpdir(), "sluice-debian-"));
  try {
    for (const folder of ["lists/partial", "cache/archives/partial", "out"]) {
      mkdirSync(join(work, folder), { recursive: true });
    }
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${archive.keyring}] ${archive.uri} ${release} main\n`);
    for (const command of [["update"], ["download", ...packages]]) {
      const reason = await apt(work, command);
      if (reason === null) continue;
      throw new StartFault(
        `${packages[0]} could not be fetched from the Debian mirror (${reason}); check the network, or: ${advice}`,
      );
    }
    for (const packed of readdirSync(work).filter((name) => name.endsWith(".deb"))) {
      const args = ["-x", join(work, packed), join(work, "out")];
      const { code, stderr } = await run({ name: "dpkg", command: "dpkg", args, cwd: work });
      if (code !== 0) throw new StartFault(`${packed} could not be unpacked (${stderr.slice(0, 300)}). ${advice}`);
    }
    return await use(join(work, "out"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * @param {string} work
 * @param {readonly string[]} command
 * @returns {Promise<string | null>} why it failed, null when it did not
 */
async function apt(work, command) {
  const settings = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": join(work, "lists"),
    "Dir::Cache": join(work, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "20",
    "Acquire::https::Timeout": "20",
    "APT::Update::Error-Mode": "any",
    // The unprivileged download account could not enter our private folder.
    ...(process.getuid?.() === 0 ? { "APT::Sandbox::User": "root" } : {}),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const { code, stderr } = await run({
    name: "apt-get",
    command: "apt-get",
    args: ["-qq", ...args, ...command],
    cwd: work,
    env: { ...process.env, LC_ALL: "C" },
  });
  if (code === 0) return null;
  return (stderr.split("\n").find((line) => /^[EW]: /.test(line)) ?? stderr).slice(0, 300);
}

/**
 * Every binary-package source in both notations apt knows.
 * @param {string} root
 * @returns {Source[]}
 */
function sources(root) {
  const folder = join(root, "etc/apt/sources.list.d");
  const files = existsSync(folder)
    ? readdirSync(folder)
        .toSorted()
        .map((name) => join(folder, name))
    : [];
  return [join(root, "etc/apt/sources.list"), ...files].flatMap((file) => {
    if (file.endsWith(".sources")) return stanzas(readOr(file));
    return file.endsWith(".list") ? oneLiners(readOr(file)) : [];
  });
}

/**
 * @param {string} text
 * @returns {Source[]}
 */
function oneLiners(text) {
  return text.split("\n").flatMap((line) => {
    const [, options = "", uri, suite, components] =
      /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line) ?? [];
    if (uri === undefined || suite === undefined || components === undefined) return [];
    const keyring = /signed-by=(\/[^\s,]+)/i.exec(options)?.[1] ?? null;
    return [{ uri, suites: [suite], components: words(components), keyring }];
  });
}

/**
 * @param {string} text
 * @returns {Source[]}
 */
function stanzas(text) {
  const plain = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
  return plain.split(/\n\s*\n/).flatMap((stanza) => {
    /** @type {Map<string, string>} */
    const fields = new Map();
    for (const [, name, value] of stanza.matchAll(/^([\w-]+):((?:.*)(?:\n[ \t].*)*)/gm)) {
      if (name !== undefined && value !== undefined) fields.set(name.toLowerCase(), value.trim());
    }
    const field = (/** @type {string} */ name) => words(fields.get(name) ?? "");
    if (!field("types").includes("deb") || fields.get("enabled") === "no") return [];
    // A key written into the stanza itself spans lines and is no path; the default keyring then has to do.
    const keyring = field("signed-by").find((word) => word.startsWith("/")) ?? null;
    return field("uris").map((uri) => ({ uri, suites: field("suites"), components: field("components"), keyring }));
  });
}

/**
 * @param {string} text
 * @returns {string[]}
 */
function words(text) {
  return text.split(/\s+/).filter((word) => word !== "");
}

/**
 * @param {string} file
 * @returns {string}
 */
function readOr(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
