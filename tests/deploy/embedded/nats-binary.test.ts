/** The nats-server of `npm start` and `npm test` on systems that have none: Ubuntu, Fedora, macOS, and Debian without its archive. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

import { openProxy, openReleasePage, type Proxy, type ReleasePage, VERSION } from "./release-page.ts";

/** The start scripts run on Node, whose clients of HTTP and TLS differ from Bun's. */
const SCRIPT = `
import { natsBinary } from ${JSON.stringify(join(PROJECT_ROOT, "deploy/embedded/nats-binary.mjs"))};
const lines = [];
const end = (result) => process.stdout.write(JSON.stringify({ lines, ...result }));
try {
  end({ path: await natsBinary({ ...JSON.parse(process.argv.at(-1)), progress: (line) => lines.push(line) }) });
} catch (error) {
  if (error.name !== "StartFault") throw error;
  end({ fault: error.message });
}`;
const LIMITS = { deadlineMs: 30_000, idleMs: 10_000, attempts: 3, retryMs: 1 };

interface Found {
  readonly path?: string;
  readonly fault?: string;
  readonly lines: readonly string[];
}

const folders = temporaryDirectory();
let page: ReleasePage;
let proxy: Proxy;
let nats: string;
beforeAll(async () => {
  nats = await natsServerBinary();
  page = await openReleasePage(nats, folders.directory);
  proxy = await openProxy();
});
afterAll(() => {
  page.close();
  proxy.close();
  folders.remove();
});

let root = "";
let cache = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ directory: root, remove } = temporaryDirectory());
  cache = join(root, "cache");
  page.requests();
});
afterEach(() => remove());

function put(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Runs the search on a made-up machine without nats-server. `path` are folders of PATH before those of Node and the system. */
async function find(
  options: object,
  settings: Readonly<Record<string, string>>,
  path: readonly string[] = [],
): Promise<Found> {
  const node = Bun.which("node") ?? "node";
  const args = [
    "--input-type=module",
    "-e",
    SCRIPT,
    JSON.stringify({ caches: [cache], root, limits: LIMITS, ...options }),
  ];
  const env = { PATH: [...path, "/usr/bin", "/bin"].join(":"), NODE_EXTRA_CA_CERTS: page.certificate, ...settings };
  const { code, stdout, stderr } = await run({ name: "node", command: node, args, cwd: root, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Found;
}

/** A program that reports a version, as nats-server does. */
function fakeServer(folder: string, version: string): string {
  const file = put(`${folder}/nats-server`, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(file, 0o755);
  return file;
}

async function versionOf(program: string | undefined): Promise<string> {
  const args = ["--version"];
  return (await run({ name: "nats-server", command: program ?? "", args, cwd: "/" })).stdout;
}

const MACHINES = [
  { name: "Ubuntu on x64", release: 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n', platform: "linux", arch: "x64", system: "linux-amd64", isPinned: true }, // prettier-ignore
  { name: "Fedora on arm64", release: 'NAME="Fedora Linux"\nID=fedora\n', platform: "linux", arch: "arm64", system: "linux-arm64", isPinned: true }, // prettier-ignore
  { name: "macOS on arm64", release: undefined, platform: "darwin", arch: "arm64", system: "darwin-arm64", isPinned: false }, // prettier-ignore
];

describe.each(MACHINES)("$name", ({ release, platform, arch, system, isPinned }) => {
  const archive = `nats-server-v${VERSION}-${system}.tar.gz`;
  const machine = { platform, arch };
  /** The archives of the tests have digests of their own; macOS reads them from the page. */
  const published = (): object => (isPinned ? { release: { version: VERSION, digests: page.digestsOf("good") } } : {});
  beforeEach(() => {
    if (release !== undefined) put("etc/os-release", release);
  });

  test("downloads the official release once, through a redirect", async () => {
    const settings = { NATS_RELEASES_URL: page.address("good") };
    const found = await find({ ...machine, ...published() }, settings);
    expect(found).toEqual({
      path: join(cache, `nats-server-${arch}`),
      lines: [`downloading nats-server ${VERSION} from ${page.address("good")}/v${VERSION}/${archive}`],
    });
    expect(page.requests()).toEqual([
      ...(isPinned ? [] : [`/good/v${VERSION}/SHA256SUMS`]),
      `/good/v${VERSION}/${archive}`,
      `/good/asset/${archive}`,
    ]);
    expect(await versionOf(found.path)).toBe(await versionOf(nats));
    expect(readdirSync(cache)).toEqual([`nats-server-${arch}`]);
    expect(await find({ ...machine, ...published() }, settings)).toEqual({ ...found, lines: [] });
    expect(page.requests()).toEqual([]);
  });

  test("discards an archive with a wrong digest", async () => {
    // The digest is that of the real release where one is pinned.
    const { fault } = await find(machine, { NATS_RELEASES_URL: page.address("old") });
    expect(fault).toMatch(
      new RegExp(`/old/v${VERSION}/${archive} has the SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64};`),
    );
    expect(existsSync(cache)).toBe(false);
  });

  test("tries a download that is cut three times", async () => {
    const { fault } = await find({ ...machine, ...published() }, { NATS_RELEASES_URL: page.address("cut") });
    expect(fault).toMatch(/could not be downloaded \(the connection closed after \d+ of \d+ bytes, 3 attempts\)\./);
    expect(page.requests().filter((path) => path.includes("/asset/"))).toHaveLength(3);
    expect(existsSync(cache)).toBe(false);
  });

  test("prints an instruction without a network", async () => {
    const settings = { NATS_RELEASES_URL: `https://localhost:${await freePort()}` };
    const { fault } = await find({ ...machine, ...published() }, settings);
    expect(fault).toContain(" could not be downloaded (connect ECONNREFUSED ");
    expect(fault).toContain("3 attempts). Check the network and HTTPS_PROXY, or name a mirror in NATS_RELEASES_URL.");
    expect(fault).toEndWith(
      "install nats-server 2.11 or newer on PATH (for example `brew install nats-server`), or set NATS_URL.",
    );
  });

  test("downloads through a proxy", async () => {
    const before = proxy.seen.length;
    const settings = {
      NATS_RELEASES_URL: page.address("good"),
      HTTPS_PROXY: `http://me:s%40fe@localhost:${proxy.port}`,
    };
    const { path } = await find({ ...machine, ...published() }, settings);
    expect(path).toBe(join(cache, `nats-server-${arch}`));
    const { host } = new URL(page.address("good"));
    // One connection for each request: the list of digests, the page, what it redirects to.
    const requests = isPinned ? 2 : 3;
    expect(proxy.seen.slice(before)).toEqual(Array<string>(requests).fill(`CONNECT ${host} HTTP/1.1 me:s@fe`));
  });
});

describe("a download", () => {
  const machine = { platform: "linux", arch: "x64" };
  const trusting = (): object => ({ ...machine, release: { version: VERSION, digests: page.digestsOf("good") } });

  test.each([
    ["sends nothing", "silent", { idleMs: 50 }, "no byte for 0.05 s, 3 attempts"],
    ["never ends", "slow", { deadlineMs: 300 }, "not finished after 0.3 s"],
    ["is too large", "endless", {}, "larger than 67108864 bytes"],
    ["does not exist", "missing", {}, "answered 404"],
    ["is refused for now", "busy", {}, "answered 503, 3 attempts"],
    ["leaves TLS", "plain", {}, "redirects to 127.0.0.1:9 without TLS"],
  ] as const)("that %s fails with the reason", async (_title, kind, limits, reason) => {
    const options = { ...trusting(), limits: { ...LIMITS, ...limits } };
    const { fault } = await find(options, { NATS_RELEASES_URL: page.address(kind) });
    expect(fault).toContain(`${reason})`);
  });

  test("bypasses the proxy for hosts of NO_PROXY", async () => {
    const before = proxy.seen.length;
    const settings = { NATS_RELEASES_URL: page.address("good"), https_proxy: `localhost:${proxy.port}` };
    expect((await find(trusting(), { ...settings, NO_PROXY: "example.com, localhost" })).fault).toBeUndefined();
    expect(proxy.seen.slice(before)).toEqual([]);
  });

  test("from a mirror without TLS uses HTTP_PROXY, and requires a pinned digest", async () => {
    const port = await freePort();
    const mirror = Bun.serve({
      port,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        return fetch(`${page.address("good")}${pathname}`, { tls: { rejectUnauthorized: false } });
      },
    });
    const before = proxy.seen.length;
    const settings = {
      NATS_RELEASES_URL: `http://mirror.test:${port}`,
      HTTP_PROXY: `http://me:x@localhost:${proxy.port}`,
    };
    try {
      expect((await find(trusting(), settings)).path).toBe(join(cache, "nats-server-x64"));
      expect(proxy.seen.slice(before)).toEqual([
        `GET http://mirror.test:${port}/v${VERSION}/nats-server-v${VERSION}-linux-amd64.tar.gz HTTP/1.1 me:x`,
      ]);
      const { fault } = await find({ platform: "darwin", arch: "arm64" }, settings);
      expect(fault).toStartWith("NATS_RELEASES_URL must begin with https: for ");
    } finally {
      await mirror.stop(true);
    }
  });

  test("fails if the release does not list the archive, or has none for the system", async () => {
    const settings = { NATS_RELEASES_URL: page.address("unlisted") };
    expect((await find({ platform: "darwin", arch: "x64" }, settings)).fault).toContain(
      `/SHA256SUMS does not list nats-server-v${VERSION}-darwin-amd64.tar.gz.`,
    );
    expect((await find({ platform: "freebsd", arch: "x64" }, settings)).fault).toStartWith(
      "There is no packaged nats-server for freebsd-x64.",
    );
  });

  test("through a proxy checks the certificate for the address of the server, not for the name of the proxy", async () => {
    const settings = {
      NATS_RELEASES_URL: page.address("good").replace("localhost", "127.0.0.1"),
      HTTPS_PROXY: `http://me:x@localhost:${proxy.port}`,
    };
    expect((await find(trusting(), settings)).fault).toContain("IP: 127.0.0.1 is not in the cert's list");
    expect(page.requests()).toEqual([]);
  });

  test("sends a password unchanged if its percent sign encodes nothing", async () => {
    const before = proxy.seen.length;
    const settings = {
      NATS_RELEASES_URL: page.address("good").replace("//", "//me:50%@"),
      HTTPS_PROXY: `http://me:50%@localhost:${proxy.port}`,
    };
    expect((await find(trusting(), settings)).fault).toBeUndefined();
    expect(proxy.seen.slice(before).map((line) => line.split(" ").at(-1))).toEqual(["me:50%", "me:50%"]);
    expect(page.credentials()).toEqual(["me:50%", "me:50%"]);
  });

  test("fails with the rejection of the proxy, or with the error in its address", async () => {
    const refused = { NATS_RELEASES_URL: page.address("good"), HTTPS_PROXY: `http://localhost:${proxy.port}` };
    expect((await find(trusting(), refused)).fault).toContain(
      `the proxy localhost:${proxy.port} answered 407 to CONNECT`,
    );
    expect((await find(trusting(), { ...refused, HTTPS_PROXY: "socks5://me:secret@localhost" })).fault).toBe(
      'HTTPS_PROXY must be an address such as http://proxy:3128, got "socks5://localhost".',
    );
    expect(page.requests()).toEqual([]);
  });

  test.each([
    ["old", "The fetched nats-server cannot be used (", ": it is version 2.10.0)"],
    ["empty", "https://localhost", " contains no file nats-server."],
  ] as const)("of an archive that is %s leaves no files", async (kind, start, reason) => {
    const release = { version: VERSION, digests: page.digestsOf(kind) };
    const { fault } = await find({ ...machine, release }, { NATS_RELEASES_URL: page.address(kind) });
    expect(fault).toStartWith(start);
    expect(fault).toContain(reason);
    expect(existsSync(cache) ? readdirSync(cache) : []).toEqual([]);
  });

  test("does not show the password of a mirror", async () => {
    const settings = { NATS_RELEASES_URL: page.address("missing").replace("//", "//me:secret@") };
    const found = await find(trusting(), settings);
    expect(found.fault).toContain("answered 404");
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("is stored in the next folder if the first is not writable", async () => {
    const caches = [join(put("file", ""), "cache"), cache];
    const settings = { NATS_RELEASES_URL: page.address("good") };
    expect((await find({ ...trusting(), caches }, settings)).path).toBe(join(cache, "nats-server-x64"));
    const { fault } = await find({ ...trusting(), caches: caches.slice(0, 1) }, settings);
    expect(fault).toStartWith("The fetched nats-server cannot be used (");
  });
});

describe("a nats-server on PATH", () => {
  const nowhere = { NATS_RELEASES_URL: "http://127.0.0.1:9" };

  test("is used silently if it is new enough", async () => {
    const own = fakeServer("tools", "2.11.0");
    expect(await find({}, nowhere, [dirname(own)])).toEqual({ path: own, lines: [] });
  });

  test("is skipped with one line if it is too old", async () => {
    const old = fakeServer("old", "2.10.27");
    mkdirSync(cache);
    const kept = join(cache, `nats-server-${process.arch}`);
    symlinkSync(nats, kept);
    expect(await find({}, nowhere, [dirname(old)])).toEqual({
      path: kept,
      lines: [`not using ${old} (version 2.10.27): Sluice needs nats-server 2.11 or newer; using ${kept} instead`],
    });
    const own = fakeServer("tools", "2.12.1");
    expect(await find({}, nowhere, [dirname(old), dirname(own)])).toEqual({
      path: own,
      lines: [`not using ${old} (version 2.10.27): Sluice needs nats-server 2.11 or newer; using ${own} instead`],
    });
  });

  test("is skipped if it does not report its version in time", async () => {
    const hanging = put("hanging/nats-server", "#!/bin/sh\nexec sleep 60\n");
    chmodSync(hanging, 0o755);
    const own = fakeServer("tools", "2.12.1");
    expect(await find({ versionMs: 300 }, nowhere, [dirname(hanging), dirname(own)])).toEqual({
      path: own,
      lines: [
        `not using ${hanging} (its version is unknown): Sluice needs nats-server 2.11 or newer; using ${own} instead`,
      ],
    });
  });

  test("is named in the error if it is too old and no other is available", async () => {
    const old = fakeServer("old", "2.10.27");
    const { fault, lines } = await find({ platform: "linux", arch: "x64" }, nowhere, [dirname(old)]);
    expect(fault).toEndWith(` (not using ${old} (version 2.10.27): Sluice needs nats-server 2.11 or newer)`);
    expect(lines).toHaveLength(1);
  });
});

test.skipIf(Bun.which("apt-get") === null)(
  "Debian uses the release if its archive fails, and prints the reason",
  async () => {
    put("etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n");
    put("usr/share/keyrings/debian-archive-keyring.gpg", "");
    const closed = await freePort();
    put("etc/apt/sources.list", `deb http://127.0.0.1:${closed}/debian bookworm main\n`);
    const release = { version: VERSION, digests: page.digestsOf("good") };
    const options = { platform: "linux", arch: "x64", release };
    const { path, lines } = await find(options, { NATS_RELEASES_URL: page.address("good") });
    expect(path).toBe(join(cache, "nats-server-x64"));
    expect(lines).toEqual([
      "fetching nats-server from this machine's Debian mirror (release forky)",
      expect.stringMatching(
        /^nats-server cannot be taken from the Debian archive \(.*127\.0\.0\.1.*\)\. The official release is used instead\.$/,
      ),
      `downloading nats-server ${VERSION} from ${page.address("good")}/v${VERSION}/nats-server-v${VERSION}-linux-amd64.tar.gz`,
    ]);
  },
);
