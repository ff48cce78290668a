/** Stand-ins for the images that compose.yaml takes from a registry: no registry can be asked where this is tested. */
import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";
import { postgresBinaries } from "#deploy/embedded/postgres.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { BUN, natsServerBinary } from "#tests/support/infrastructure.ts";

import { readStages } from "../image/dockerfile.ts";
import { type Engine, enginePackages } from "./engine.ts";

const RELEASE = "trixie";
const BASE = "sluice-test-debian";
/** A base of some hundred packages, from a slow mirror. */
const BASE_WITHIN_MS = 900_000;
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** Parts that an image adds to Debian: files by their path in the image, and the lines of its Dockerfile. */
interface StandIn {
  readonly files: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
}

/**
 * Builds the stand-ins under the names by which `deploy/` asks for them.
 * @param folder of the engine
 * @param images of the services of compose.yaml, by the service's name
 */
export async function buildStandIns(
  engine: Engine,
  folder: string,
  images: Readonly<Record<string, string>>,
): Promise<void> {
  copyFileSync(await debianBase(folder), join(folder, "base.tar"));
  await engine.sh(`docker import base.tar ${BASE}`);
  const [bun = ""] = readStages().map(({ base }) => base);
  await build(engine, folder, bun, bunImage());
  const parts = { postgres: postgresImage(), nats: await natsImage(), objects: await objectsImage(folder, bun) };
  for (const [service, part] of Object.entries(parts)) await build(engine, folder, images[service] ?? "", part);
}

async function build(engine: Engine, folder: string, image: string, { files, lines }: StandIn): Promise<void> {
  const context = join(folder, "images", image.replaceAll(/\W/g, "-"));
  const copies = Object.entries(files).map(([path, source], index) => {
    cpSync(source, join(context, String(index)), { recursive: true, verbatimSymlinks: true });
    return `COPY ${index} ${path}`;
  });
  mkdirSync(context, { recursive: true });
  const from = lines[0]?.startsWith("FROM ") === true ? [] : [`FROM ${BASE}`];
  writeFileSync(
    join(context, "Dockerfile"),
    [...from, ...lines.slice(0, 1), ...copies, ...lines.slice(1), ""].join("\n"),
  );
  await engine.sh(`docker build --network host -t ${image} ${context}`, { timeoutMs: 300_000 });
}

/** Returns an archive of a small Debian, made now or by an earlier run. */
async function debianBase(folder: string): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const archive = join(cache, `debian-base-${RELEASE}-${process.arch}.tar`);
  if (existsSync(archive)) return archive;
  const packages = await enginePackages();
  const source = await debianArchive();
  const root = join(folder, "base");
  const script = [
    `debootstrap --variant=minbase --include=ca-certificates --keyring=${source?.keyring} ${RELEASE} ${root} ${source?.uris[0]}`,
    `rm -rf ${root}/var/cache/apt/archives/*.deb ${root}/var/lib/apt/lists/*`,
    `tar -C ${root} -cf ${archive}.${process.pid} .`,
  ].join(" && ");
  const env = {
    ...process.env,
    DEBOOTSTRAP_DIR: join(packages, "usr/share/debootstrap"),
    PATH: `${process.env["PATH"]}:/usr/sbin:/sbin:${join(packages, "usr/sbin")}`,
  };
  // The mounts that it makes end with its namespace.
  const args = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script];
  const made = await run({ name: "debootstrap", command: "unshare", args, cwd: "/", env, timeoutMs: BASE_WITHIN_MS });
  if (made.code !== 0)
    throw new Error(`debootstrap: code ${made.code}\n${made.stdout.slice(-2_000)}\n${made.stderr.slice(-2_000)}`);
  renameSync(`${archive}.${process.pid}`, archive);
  return archive;
}

/** The account of Bun's own image, and the certificates of this machine, whose mirrors may have their own. */
function bunImage(): StandIn {
  return {
    files: { "/usr/local/bin/bun": BUN, ...(existsSync(CERTIFICATES) ? { [CERTIFICATES]: CERTIFICATES } : {}) },
    lines: [`ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, "RUN useradd --uid 1000 --create-home bun"],
  };
}

/** The health checks of two services call it. */
async function wget(): Promise<Readonly<Record<string, string>>> {
  return { "/usr/local/bin/wget": join(await enginePackages(), "usr/bin/busybox") };
}

function postgresImage(): StandIn {
  return {
    files: { "/opt/postgres": postgresBinaries(), "/entrypoint.sh": join(import.meta.dir, "postgres.sh") },
    lines: [
      "ENV LC_ALL=C PATH=/opt/postgres/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && useradd postgres",
      "STOPSIGNAL SIGINT",
      'ENTRYPOINT ["sh", "/entrypoint.sh"]',
    ],
  };
}

async function natsImage(): Promise<StandIn> {
  return {
    files: { "/usr/local/bin/nats-server": await natsServerBinary(), ...(await wget()) },
    lines: ['ENTRYPOINT ["nats-server"]'],
  };
}

/** s3rver in one file, since the image of the roles has none. */
async function objectsImage(folder: string, bun: string): Promise<StandIn> {
  const entrypoints = [join(import.meta.dir, "objects.ts")];
  await Bun.build({ entrypoints, outdir: join(folder, "bundles"), target: "bun", throw: true });
  return {
    files: { "/objects.js": join(folder, "bundles/objects.js"), ...(await wget()) },
    lines: [`FROM ${bun}`, 'ENTRYPOINT ["bun", "/objects.js"]'],
  };
}
