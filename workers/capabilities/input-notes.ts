/** Sentences about parts of inputs that a run did not read. The output lists them with the name of the input. */
import type { InputFile } from "./define.ts";

const notes = new WeakMap<InputFile, Set<string>>();

/** Adds a sentence about an input, once. */
export function noteInput(file: InputFile, sentence: string): void {
  notes.set(file, (notes.get(file) ?? new Set()).add(sentence));
}

export function notesAbout(file: InputFile): readonly string[] {
  return [...(notes.get(file) ?? [])];
}
