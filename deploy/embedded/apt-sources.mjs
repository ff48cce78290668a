// @ts-check
/** The Debian mirror that this machine is set up to use, read from its own apt sources. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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
