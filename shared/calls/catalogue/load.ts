/** Loads a catalogue from files. The files that ship with the service come first, then operators' files and folders in the given order. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { buildCatalogue } from "./build.ts";
import type { Catalogue, Surroundings } from "#shared/calls/model.ts";
import { CatalogueError } from "./faults.ts";
import { type Layer, OUR_FOLDER, readLayer } from "./layer.ts";
import { mergeLayers } from "./merge.ts";

/** Maximum number of files. It stops the load of a wrong folder. */
const FILES_MAX = 500;
const OUR_FILES = ["presets.yaml", "providers.yaml"];

/** Loads the files that ship with the service from the folder of this module. @throws CatalogueError */
export async function loadOurLayers(): Promise<readonly Layer[]> {
  const models = await listFolder(join(import.meta.dir, "models"));
  const paths = [...OUR_FILES.map((name) => join(import.meta.dir, name)), ...models];
  return Promise.all(
    paths.map(async (path) => readLayer(`${OUR_FOLDER}${path.slice(import.meta.dir.length)}`, await readText(path))),
  );
}

/**
 * Loads the operators' files and returns the catalogue of all layers; later files override earlier ones.
 * @throws CatalogueError if a path cannot be read or a file has a fault
 */
export async function loadCatalogue(
  ours: readonly Layer[],
  paths: readonly string[],
  surroundings: Surroundings,
): Promise<Catalogue> {
  const files = await listCatalogueFiles(paths);
  const theirs = await Promise.all(files.map(async (file) => ({ name: file, text: await readText(file) })));
  return catalogueOf(ours, theirs, surroundings);
}

/** Returns the slugs of the models in operators' files, each once, in the order of the files. @throws CatalogueError */
export async function listModelsIn(paths: readonly string[]): Promise<readonly string[]> {
  const files = await listCatalogueFiles(paths);
  const layers = await Promise.all(files.map(async (file) => readLayer(file, await readText(file))));
  return [...new Set(layers.flatMap(({ content }) => (content.models ?? []).map(({ slug }) => slug)))];
}

export interface CatalogueText {
  /** Name of the file in fault messages. */
  readonly name: string;
  readonly text: string;
}

/** Builds the catalogue from the texts of files, after the layers that ship with the service. @throws CatalogueError */
export function catalogueOf(
  ours: readonly Layer[],
  theirs: readonly CatalogueText[],
  surroundings: Surroundings,
): Catalogue {
  const layers = theirs.map(({ name, text }) => readLayer(name, text));
  return buildCatalogue(mergeLayers([...ours, ...layers]), surroundings);
}

/**
 * Lists the catalogue files: the given files, and the `*.yaml` and `*.yml` files of the given folders, sorted by name and without hidden
 * ones.
 * @throws CatalogueError
 */
export async function listCatalogueFiles(paths: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    paths.map(async (path) => {
      const found = await stat(path).catch((error: unknown) => unreadable(path, error));
      return found.isDirectory() ? listFolder(path) : [path];
    }),
  );
  const files = lists.flat();
  if (files.length > FILES_MAX) unreadable(paths.join(", "), `more than ${FILES_MAX} files`);
  return files;
}

async function listFolder(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => unreadable(folder, error));
  return names
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => unreadable(path, error));
}

function unreadable(file: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new CatalogueError([{ file, place: "", message: `it cannot be read: ${reason}` }], { cause });
}
