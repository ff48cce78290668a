// @ts-check
/** Finds the Debian mirror that apt uses on this machine, and downloads packages from it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartFault } from "./fault.mjs";
import { findOnPath, run } from "./process.mjs";

/** Keyring with which Debian packages are verified. It is fixed because apt does not report the keyring of an index (`Signed-By`). */
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Returns true if this system is Debian itself, not a derivative.
 * @param {string} [root] "/" except in tests
 * @returns {boolean}
 */
export function isDebian(root = "/") {
  return osRelease(root, "ID") === "debian";
}

/**
 * Returns a value of the file os-release (os-release(5)): a system without it in `etc` has it in `usr/lib`.
 * @param {string} root
 * @param {"ID" | "VERSION_CODENAME"} name
 * @returns {string | undefined}
 */
function osRelease(root, name) {
  const text = ["etc", "usr/lib"].map((folder) => readOr(join(root, folder, "os-release"))).find((one) => one !== "");
  return new RegExp(`^${name}=(["']?)([\\w.-]+)\\1\\s*$`, "m").exec(text ?? "")?.[2];
}

/**
 * Returns the addresses from which apt installs this machine's own Debian release. They may include a foreign archive with the suite name
 * of a Debian release; the keyring then rejects that archive.
 * @param {string} [root] "/" except in tests
 * @returns {Promise<{ uris: readonly string[], keyring: string } | null>} null on another system, or without apt, dpkg or the keyring
 */
export async function debianArchive(root = "/") {
  if (!isDebian(root) || findOnPath("apt-get") === null || findOnPath("dpkg") === null) return null;
  const suites = [osRelease(root, "VERSION_CODENAME"), "oldstable", "stable", "testing", "unstable", "sid"];
  // With release info, apt leaves out indexes that it has not downloaded, and images have downloaded none.
  const options = ["-o", `Dir=${root}`, "--no-release-info", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)"];
  const args = ["indextargets", ...options, "Created-By: Packages"];
  const { stdout } = await aptGet("/", args);
  const uris = stdout.split("\n").flatMap((line) => {
    const [suite, component, uri] = line.split(" ");
    return uri !== undefined && component === "main" && suites.includes(suite) ? [uri] : [];
  });
  if (uris.length === 0 || !existsSync(join(root, KEYRING))) return null;
  return { uris: [...new Set(uris)], keyring: KEYRING };
}

/**
 * Downloads packages, unpacks them into one temporary folder and passes the folder to `use`; afterwards the folder is removed. apt verifies
 * the archive's signature and the packages' digests. Its lists, cache and settings are in a private folder, so that this needs neither root
 * nor a change of the system.
 * @template T
 * @param {object} wanted
 * @param {string} wanted.release Debian release that contains the packages; this machine may run another release
 * @param {readonly string[]} wanted.packages errors name the first package
 * @param {string | undefined} [wanted.root] "/" except in tests
 * @param {(folder: string) => Promise<T>} use
 * @returns {Promise<T>}
 * @throws {StartFault} if the packages cannot be downloaded
 */
export async function unpackFromDebian({ release, packages, root }, use) {
  const fault = (/** @type {string} */ reason) =>
    new StartFault(`${packages[0]} cannot be taken from the Debian archive (${reason.slice(0, 300)}).`);
  const archive = await debianArchive(root);
  if (archive === null) throw fault("this system is set up for none");
  const { folder: work, runApt, remove } = openAptFolder(archive, "deb", release);
  try {
    // An update succeeds with warnings when one of several archives fails.
    const updated = await runApt(["update"]);
    const downloaded = await runApt(["download", ...packages]);
    if (downloaded.code !== 0) {
      throw fault(complaint(updated.stderr) ?? complaint(downloaded.stderr) ?? "apt-get failed");
    }
    for (const packed of readdirSync(work).filter((name) => name.endsWith(".deb"))) {
      const args = ["-x", join(work, packed), join(work, "out")];
      const { code, stderr } = await run({ name: "dpkg", command: "dpkg", args, cwd: work });
      if (code !== 0) throw fault(`${packed} cannot be unpacked: ${stderr}`);
    }
    return await use(join(work, "out"));
  } finally {
    remove();
  }
}

/**
 * Creates a folder with settings, lists and a cache of its own for apt, and an empty folder `out` for unpacked files.
 * @param {{ uris: readonly string[], keyring: string }} archive
 * @param {"deb" | "deb-src"} kind binary or source packages
 * @param {string} release
 * @returns {{ folder: string, runApt: (args: readonly string[]) => ReturnType<typeof aptGet>, remove: () => void }}
 */
export function openAptFolder({ uris, keyring }, kind, release) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-debian-"));
  for (const name of ["lists/partial", "cache/archives/partial", "out"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  const lines = uris.map((uri) => `${kind} [signed-by=${keyring}] ${uri} ${release} main\n`);
  writeFileSync(join(folder, "sources.list"), lines.join(""));
  const settings = privateSettings(folder);
  return {
    folder,
    runApt: (args) => aptGet(folder, [...settings, ...args]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Returns arguments that make apt-get use only a private folder.
 * @param {string} work folder for the sources, lists and cache
 * @returns {string[]} arguments of apt-get
 */
function privateSettings(work) {
  const settings = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": join(work, "lists"),
    "Dir::Cache": join(work, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "20",
    "Acquire::https::Timeout": "20",
    // apt's unprivileged download account cannot enter the private folder.
    ...(process.getuid?.() === 0 ? { "APT::Sandbox::User": "root" } : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

/**
 * Runs apt-get quietly, with English messages.
 * @param {string} cwd
 * @param {readonly string[]} args
 */
function aptGet(cwd, args) {
  const env = { ...process.env, LC_ALL: "C" };
  return run({ name: "apt-get", command: "apt-get", args: ["-qq", ...args], cwd, env });
}

/**
 * Returns the first error or warning in the output of apt-get.
 * @param {string} output
 * @returns {string | undefined} undefined if there is none
 */
function complaint(output) {
  return output.split("\n").find((line) => /^[EW]: /.test(line));
}

/**
 * Returns the text of a file; empty if it cannot be read.
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
