/**
 * Writes the software bill of materials of the npm packages that bun.lock pins, as CycloneDX 1.6 in JSON. Options: `--out <file>` instead
 * of stdout, and `--production` for only the packages in the container image. The same lock file gives the same bytes.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { Enums, Models, Serialize, Spec, SPDX } from "@cyclonedx/cyclonedx-library";

import { reasonOf } from "./embedded/fault.mjs";

const ROOT = join(import.meta.dir, "..");

interface Requires {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly workspaces: { readonly "": Requires & { readonly devDependencies?: Readonly<Record<string, string>> } };
  /**
   * Installed packages by their path below node_modules; `a/b` is package b inside a. Values: `name@version`, registry, facts and integrity
   * hash.
   */
  readonly packages: Readonly<
    Record<string, readonly [id: string, registry: string, facts: Requires, integrity: string]>
  >;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/**
 * Returns the licence of an installed package by its path in the lock file; undefined if the package is not installed or states no licence.
 */
export type LicenseOf = (place: string) => Promise<string | undefined>;

export interface Options {
  /** True when packages that only development needs are left out. */
  readonly isProduction: boolean;
  readonly licenseOf: LicenseOf;
}

/** Returns the bill of materials as JSON text. @throws Error for a text that is not a lock file of Bun */
export async function billOfMaterials(
  lockText: string,
  root: Manifest,
  { isProduction, licenseOf }: Options,
): Promise<string> {
  const lock = parseLock(lockText);
  const own = lock.workspaces[""];
  const required = closure(lock, Object.keys(own.dependencies ?? {}), ["dependencies", "peerDependencies"]);
  const optional = closure(lock, Object.keys({ ...own.dependencies, ...own.optionalDependencies }), ALL);
  const everything = closure(
    lock,
    Object.keys({ ...own.dependencies, ...own.optionalDependencies, ...own.devDependencies }),
    ALL,
  );
  const bom = new Models.Bom({ serialNumber: serialOf(lockText, isProduction) });
  const application = new Models.Component(Enums.ComponentType.Application, root.name, {
    version: root.version,
    description: root.description,
    bomRef: `${root.name}@${root.version}`,
    licenses: new Models.LicenseRepository([licenseModel(root.license)]),
  });
  bom.metadata.component = application;
  bom.metadata.lifecycles.add(Enums.LifecyclePhase.PreBuild);
  const components = new Map<string, Models.Component>();
  for (const place of isProduction ? optional : everything) {
    const [id, , , integrity] = lock.packages[place] ?? [""];
    const known = components.get(id);
    const scope = required.has(place)
      ? Enums.ComponentScope.Required
      : optional.has(place)
        ? Enums.ComponentScope.Optional
        : Enums.ComponentScope.Excluded;
    const license = await licenseOf(place);
    if (known === undefined) {
      components.set(id, componentOf(id, integrity, scope, license));
      continue;
    }
    // One package may lie in several places, of which some are not installed: the strongest scope counts.
    if (strength(scope) > strength(known.scope)) known.scope = scope;
    if (license !== undefined && known.licenses.size === 0) known.licenses.add(licenseModel(license));
  }
  for (const component of components.values()) bom.components.add(component);
  const link = (from: Models.Component, place: string, names: readonly string[]): void => {
    for (const name of names) {
      const target = components.get(lock.packages[resolve(lock, place, name) ?? ""]?.[0] ?? "");
      if (target !== undefined) from.dependencies.add(target.bomRef);
    }
  };
  link(application, "", Object.keys({ ...own.dependencies, ...own.optionalDependencies, ...own.devDependencies }));
  for (const [place, [id, , facts]] of Object.entries(lock.packages)) {
    const component = components.get(id);
    if (component !== undefined)
      link(
        component,
        place,
        ALL.flatMap((kind) => Object.keys(facts[kind] ?? {})),
      );
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })}\n`;
}

const ALL = ["dependencies", "peerDependencies", "optionalDependencies"] as const;

/** Parses bun.lock, which is JSON with trailing commas. */
function parseLock(text: string): Lock {
  const json = text.replaceAll(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part === "," ? "" : part));
  const lock = JSON.parse(json) as Partial<Lock>;
  if (lock.workspaces?.[""] === undefined || lock.packages === undefined)
    throw new Error("this is no lock file of Bun: it has no workspaces or packages");
  return lock as Lock;
}

/** Returns the paths of the named packages and of all packages that they need, directly or indirectly. */
function closure(lock: Lock, names: readonly string[], kinds: readonly (keyof Requires)[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = names.flatMap((name) => resolve(lock, "", name) ?? []);
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (found.has(place)) continue;
    found.add(place);
    const at = place;
    const facts = lock.packages[place]?.[2] ?? {};
    waiting.push(
      ...kinds.flatMap((kind) => Object.keys(facts[kind] ?? {}).flatMap((name) => resolve(lock, at, name) ?? [])),
    );
  }
  return found;
}

/**
 * Returns the path at which the package at `place` finds a dependency. Searches below the package itself, then below each package around
 * it, then at the top level.
 */
function resolve({ packages }: Pick<Lock, "packages">, place: string, name: string): string | undefined {
  for (let parents = namesIn(place); ; parents = parents.slice(0, -1)) {
    const candidate = [...parents, name].join("/");
    if (Object.hasOwn(packages, candidate)) return candidate;
    if (parents.length === 0) return undefined;
  }
}

/** Splits a package path into package names: `@a/b/c` → `@a/b`, `c`. */
function namesIn(place: string): string[] {
  return place.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];
}

function componentOf(
  id: string,
  integrity: string | undefined,
  scope: Enums.ComponentScope,
  license: string | undefined,
): Models.Component {
  const at = id.lastIndexOf("@");
  const [whole, version] = [id.slice(0, at), id.slice(at + 1)];
  const [group, name] = whole.startsWith("@") ? whole.split("/") : [undefined, whole];
  const purl = `pkg:npm/${group === undefined ? "" : `${encodeURIComponent(group)}/`}${name}@${encodeURIComponent(version)}`;
  const [, algorithm, digest = ""] = /^(sha\d+)-([A-Za-z0-9+/=]+)$/.exec(integrity ?? "") ?? [];
  const component = new Models.Component(Enums.ComponentType.Library, name ?? whole, {
    ...(group !== undefined && { group }),
    version,
    scope,
    bomRef: purl,
    licenses: new Models.LicenseRepository(license === undefined ? [] : [licenseModel(license)]),
    hashes: new Models.HashDictionary(
      algorithm === "sha512" ? [[Enums.HashAlgorithm["SHA-512"], Buffer.from(digest, "base64").toString("hex")]] : [],
    ),
  });
  component.purl = purl;
  return component;
}

function licenseModel(text: string): Models.License {
  const id = SPDX.fixupSpdxId(text);
  if (id !== undefined) return new Models.SpdxLicense(id);
  return / (AND|OR|WITH) /.test(text) && !/SEE LICENSE/i.test(text)
    ? new Models.LicenseExpression(text)
    : new Models.NamedLicense(text);
}

function strength(scope: Enums.ComponentScope | undefined): number {
  return [Enums.ComponentScope.Excluded, Enums.ComponentScope.Optional, Enums.ComponentScope.Required].indexOf(
    scope ?? Enums.ComponentScope.Excluded,
  );
}

/** Returns the serial number of the document: a UUID derived from its content. */
function serialOf(lockText: string, isProduction: boolean): string {
  const hex = createHash("sha256").update(`${isProduction}\n${lockText}`).digest("hex");
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns a function that reads a package's licence from its manifest below `root`/node_modules. */
export function installedLicenses(root: string): LicenseOf {
  return async (place) => {
    const path = join(root, "node_modules", namesIn(place).join("/node_modules/"), "package.json");
    if (!existsSync(path)) return undefined;
    const { license, licenses } = JSON.parse(await readFile(path, "utf8")) as { license?: unknown; licenses?: unknown };
    const [first] = [license ?? licenses].flat<unknown[]>();
    const text = typeof first === "string" ? first : (first as { type?: unknown } | undefined)?.type;
    return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { out: { type: "string" }, production: { type: "boolean", default: false } },
  });
  const [lock, manifest] = await Promise.all(
    ["bun.lock", "package.json"].map((name) => readFile(join(ROOT, name), "utf8")),
  );
  const options = { isProduction: values.production, licenseOf: installedLicenses(ROOT) };
  const text = await billOfMaterials(lock ?? "", JSON.parse(manifest ?? "") as Manifest, options);
  if (values.out === undefined) process.stdout.write(text);
  else await writeFile(values.out, text);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`sluice: the bill of materials was not written: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  });
}
