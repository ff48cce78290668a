/** The command that turns configurations of other gateways into catalogue files. */
import { readFile, stat, writeFile } from "node:fs/promises";

import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { ADMIN } from "#shared/base/command-lines.ts";

import type { Answer, Command } from "./command.ts";
import { type Imported, importLiteLlm } from "./import-litellm.ts";
import { table } from "./table.ts";

/** Maximum size of a file that is read, in bytes. `importLiteLlm` has a lower limit and reports the size. */
const READ_BYTES_MAX = 64 * 1_048_576;

export const IMPORT_COMMANDS: readonly Command[] = [
  {
    usage: "import litellm <config> [--out <file>]",
    about:
      "Writes the models of a LiteLLM proxy configuration as a catalogue file. Lists what has no counterpart; keys are never copied.",
    needs: "nothing",
    async run(_context, { argument, option }) {
      const file = argument("config");
      const text = await readConfig(file);
      const imported = importLiteLlm({
        file,
        text,
        ours: await loadOurLayers(),
        date: new Date().toISOString().slice(0, 10),
      });
      const out = option("out");
      if (out !== undefined && imported.models.length > 0) await writeNew(out, pageOf(imported, file));
      return answerOf(imported, file, out);
    },
  },
];

async function readConfig(file: string): Promise<string> {
  const found = await stat(file).catch((error: unknown) => unreadable(file, error));
  if (!found.isFile()) unreadable(file, "it is no file");
  if (found.size > READ_BYTES_MAX) unreadable(file, `it has ${found.size} bytes`);
  return readFile(file, "utf8").catch((error: unknown) => unreadable(file, error));
}

function unreadable(file: string, cause: unknown): never {
  throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** Writes a new file. @throws Error when the file already exists */
async function writeNew(out: string, text: string): Promise<void> {
  await writeFile(out, text, { flag: "wx" }).catch((error: unknown) => {
    const isThere = (error as { code?: unknown }).code === "EEXIST";
    const why = isThere
      ? "it exists; name another file, or delete it"
      : error instanceof Error
        ? error.message
        : String(error);
    throw new Error(`${out} cannot be written: ${why}`, { cause: error });
  });
}

function pageOf({ yaml, variables }: Imported, file: string): string {
  const head = [`# Imported from LiteLLM's ${file.replaceAll(/\p{Cc}/gu, "")}: name this file in SLUICE_CATALOGUE.`];
  if (variables.length > 0) head.push(`# Variables to set: ${variables.join(", ")}`);
  return `${head.join("\n")}\n${yaml}\n`;
}

function answerOf(imported: Imported, file: string, out: string | undefined): Answer {
  const { models, providers, variables, chains, notes } = imported;
  const json = {
    out: out ?? null,
    models,
    providers,
    variables,
    chains,
    notes,
    ...(out === undefined && { yaml: imported.yaml }),
  };
  if (models.length === 0)
    return { json, text: `no model of ${file} can be served\n\n${notesTable(imported)}`, exitCode: 1 };
  const commands = chains.map(
    ({ model, fallbacks }) => `  ${ADMIN} fallback-chains set ${model} ${fallbacks.join(" ")} --workspace <workspace>`,
  );
  const parts = [
    out === undefined
      ? pageOf(imported, file).trimEnd()
      : `${out}: ${models.length} models. Check it with ${ADMIN} catalogue check ${out}`,
    ...(variables.length > 0 ? [`Set these variables where the service starts: ${variables.join(", ")}`] : []),
    ...(commands.length > 0
      ? [`Fallback chains belong to workspaces. Set them after prices and keys are set:\n${commands.join("\n")}`]
      : []),
    ...(notes.length > 0 ? [`Not taken over as it stands:\n\n${notesTable(imported)}`] : []),
  ];
  const [first = "", ...rest] = parts;
  // Without --out, the rest is a comment: the whole output is a catalogue file.
  const text = out === undefined ? [first, ...rest.map(commented)].join("\n\n") : parts.join("\n\n");
  return { json, text };
}

function notesTable({ notes }: Imported): string {
  return table(
    ["Line", "Place", "Reason"],
    notes.map(({ line, place, reason }) => [line, place, reason]),
  );
}

function commented(text: string): string {
  return text.replaceAll(/^/gm, "# ").replaceAll(/ +$/gm, "");
}
