/** deploy/Dockerfile, read by a library, and its steps done in plain folders: an image without an engine that builds images. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import {
  type Copy,
  DockerfileParser,
  type Instruction,
  type JSONInstruction,
  type PropertyInstruction,
} from "dockerfile-ast";

import { run } from "#deploy/embedded/process.mjs";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const DOCKERFILE = join(PROJECT_ROOT, "deploy/Dockerfile");

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Facts that the image carries beside its files. */
interface ImageSettings {
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly entrypoint: readonly string[];
}

/** Returns the stages in order; the last one is the image. */
export function readStages(): readonly Stage[] {
  const file = DockerfileParser.parse(readFileSync(DOCKERFILE, "utf8"));
  const defaults = new Map(
    file.getInitialARGs().map((arg) => [arg.getProperty()?.getName(), arg.getProperty()?.getValue()]),
  );
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const instruction of file.getInstructions()) {
    if (instruction.getKeyword() === "FROM") {
      const [image = "", , name = ""] = instruction.getArguments().map((argument) => argument.getValue());
      const variable = /^\$\{(\w+)\}$/.exec(image)?.[1];
      stages.push({ name, base: variable === undefined ? image : (defaults.get(variable) ?? ""), instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

export function settingsOf({ instructions }: Stage): ImageSettings {
  const properties = (keyword: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      ofKind<PropertyInstruction>(instructions, keyword).flatMap((one) =>
        one.getProperties().map((property) => [property.getName(), property.getValue() ?? ""]),
      ),
    );
  const last = (keyword: string): string => ofKind(instructions, keyword).at(-1)?.getArgumentsContent() ?? "";
  return {
    environment: properties("ENV"),
    labels: properties("LABEL"),
    user: last("USER"),
    workdir: last("WORKDIR"),
    entrypoint: ofKind<JSONInstruction>(instructions, "ENTRYPOINT").flatMap((one) =>
      one.getJSONStrings().map((text) => text.getJSONValue()),
    ),
  };
}

/** Returns what COPY takes from the project, in all stages. */
export function copiedPaths(): readonly string[] {
  return readStages().flatMap(({ instructions }) =>
    ofKind<Copy>(instructions, "COPY").flatMap((copy) => (copy.getFromFlag() ? [] : sourcesOf(copy).sources)),
  );
}

/**
 * Does the steps of every stage below `root`, each in a folder of its own, and returns that of the image. What needs the base image's
 * package archive is left out.
 * @param programs folder with the programs of the base image that this system lacks
 * @throws Error when a command fails, or a step is of a kind that is not known here
 */
export async function replay(root: string, programs: string): Promise<string> {
  const folders = new Map<string, string>();
  let last = root;
  for (const [index, stage] of readStages().entries()) {
    last = join(root, `stage-${index}`);
    folders.set(stage.name, last);
    await replayStage(stage, { folder: last, folders, programs });
  }
  return last;
}

interface Replay {
  readonly folder: string;
  /** Those of the stages before, by name. */
  readonly folders: ReadonlyMap<string, string>;
  readonly programs: string;
}

async function replayStage({ instructions }: Stage, { folder, folders, programs }: Replay): Promise<void> {
  let workdir = folder;
  const variables: Record<string, string> = {};
  for (const instruction of instructions) {
    const keyword = instruction.getKeyword();
    if (keyword === "WORKDIR") {
      workdir = join(folder, instruction.getArgumentsContent() ?? "");
      mkdirSync(workdir, { recursive: true });
    } else if (keyword === "ARG" || keyword === "ENV") {
      for (const property of (instruction as PropertyInstruction).getProperties()) {
        variables[property.getName()] = property.getValue() ?? "";
      }
    } else if (keyword === "COPY") {
      const copy = instruction as Copy;
      const from = copy.getFromFlag()?.getValue();
      const source = from == null ? PROJECT_ROOT : folders.get(from);
      if (source === undefined) throw new Error(`there is no stage ${from}`);
      const { sources, target } = sourcesOf(copy);
      for (const name of sources) {
        const path = join(workdir, target.endsWith("/") ? join(target, basename(name)) : target);
        if (!existsSync(join(source, name))) throw new Error(`COPY finds no ${name}`);
        mkdirSync(dirname(path), { recursive: true });
        // What comes from an earlier stage is a gigabyte of packages, which nothing else takes from there.
        await runIn(workdir, [...(from == null ? ["cp", "-a"] : ["mv"]), join(source, name), path]);
      }
    } else if (keyword === "RUN") {
      const command = (instruction.getArgumentsContent() ?? "").replaceAll(/\\\n/g, " ");
      if (command.includes("apt-get")) continue;
      const env = { ...process.env, ...variables, PATH: `${programs}:/usr/bin:/bin:/usr/sbin:/sbin` };
      await runIn(workdir, ["sh", "-ec", command], env);
    } else if (!["LABEL", "USER", "EXPOSE", "ENTRYPOINT", "CMD"].includes(keyword)) {
      throw new Error(`a step of kind ${keyword} is not known`);
    }
  }
}

async function runIn(
  cwd: string,
  [command = "", ...args]: readonly string[],
  env: Record<string, string | undefined> = process.env,
): Promise<void> {
  const { code, stderr } = await run({ name: command, command, args, cwd, env });
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed: ${stderr.slice(-1_000)}`);
}

function sourcesOf(copy: Copy): { readonly sources: readonly string[]; readonly target: string } {
  const paths = copy.getArguments().map((argument) => argument.getValue());
  return { sources: paths.slice(0, -1), target: paths.at(-1) ?? "" };
}

function ofKind<T extends Instruction = Instruction>(instructions: readonly Instruction[], keyword: string): T[] {
  return instructions.filter((instruction) => instruction.getKeyword() === keyword) as T[];
}
