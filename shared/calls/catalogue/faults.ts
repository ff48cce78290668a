/** Faults of a catalogue, with their file, line and JSON path. */

export interface CatalogueFault {
  /** Name of the file as the operator wrote it; for files that ship with the service, the path from the project's root. */
  readonly file: string;
  /** Line of the file, from 1; absent if unknown. */
  readonly line?: number;
  /** JSON path inside the file, such as `models[3].pricing.input_per_million`; "" for the file as a whole. */
  readonly place: string;
  /** Sentence with the expected and the actual value. */
  readonly message: string;
}

/** Thrown when the files form no valid catalogue. None of these files is used then. */
export class CatalogueError extends Error {
  override readonly name = "CatalogueError";
  readonly faults: readonly CatalogueFault[];

  constructor(faults: readonly [CatalogueFault, ...CatalogueFault[]], options?: { cause?: unknown }) {
    const more = faults.length === 1 ? "" : ` (and ${faults.length - 1} more)`;
    super(sentence(faults[0]) + more, options);
    this.faults = faults;
  }
}

/** Formats a fault as one line: `file:line: place: message`. */
export function sentence(fault: CatalogueFault): string {
  const line = fault.line === undefined ? "" : `:${fault.line}`;
  const place = fault.place === "" ? "" : `${fault.place}: `;
  return `${fault.file}${line}: ${place}${fault.message}`;
}

/** Throws if the list contains a fault. @throws CatalogueError */
export function throwFaults(faults: readonly CatalogueFault[]): void {
  const [first, ...rest] = faults;
  if (first !== undefined) throw new CatalogueError([first, ...rest]);
}

/** Formats a value for a fault message: JSON on one line, at most 60 characters. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
