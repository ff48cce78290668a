/** The shape of a call of the demonstration, and of its outcome. */
import type { Client, Receipt } from "./client.ts";

export interface Artifact {
  /** Name within the results' folder. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Words below it on the page, where the call's text does not say them. */
  readonly caption?: string;
}

export interface Outcome {
  /** The calls it took that cost something. */
  readonly receipts: readonly Receipt[];
  readonly artifacts: readonly Artifact[];
  /** In the file store, for a later call to go by. */
  readonly fileId?: string;
  /** Text about it on the page of results. */
  readonly text?: string;
}

/** A call that this place cannot show: the service did what it can. */
export interface Skipped {
  /** Why, for one line. */
  readonly skipped: string;
}

export interface Call {
  /** Kebab-case; names its artifacts and is what `--model` goes by. */
  readonly name: string;
  /** For a heading. */
  readonly title: string;
  readonly model: string;
  run(stage: Stage): Promise<Outcome | Skipped>;
}

export interface Stage {
  readonly client: Client;
  /** The call's own, or the one named instead. */
  readonly model: string;
  /** Shown while it is waited for. */
  readonly tell: (detail: string) => void;
  /** Outcome of an earlier call. @throws Error when it failed */
  made(name: string): Outcome;
}

/** The first artifact of an earlier call. @throws Error when that call failed */
export function artifactOf(stage: Stage, name: string): Artifact {
  const [artifact] = stage.made(name).artifacts;
  if (artifact === undefined) throw new Error(`the call "${name}" made nothing`);
  return artifact;
}

/** @throws Error when that call failed or kept nothing */
export function fileIdOf(stage: Stage, name: string): string {
  const { fileId } = stage.made(name);
  if (fileId === undefined) throw new Error(`what the call "${name}" made is not in the file store`);
  return fileId;
}

export function textArtifact(file: string, text: string): Artifact {
  return { file, bytes: new TextEncoder().encode(text.endsWith("\n") ? text : `${text}\n`) };
}
