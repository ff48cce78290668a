/** Faults of a catalogue, with their places. */

export interface CatalogueFault {
  /** File as named by the operator; for our files, the path from the project's root. */
  readonly file: string;
  /** 1-based; absent if unknown. */
  readonly line?: number;
  /** Path inside the file such as `models[3].pricing.input_per_million`; "" for the file as a whole. */
  readonly place: string;
  /** States the expected and the actual value. */
  readonly message: string;
}

/** The files form no valid catalogue; none of them is used. */
export class CatalogueError extends Error {
  override readonly name = "CatalogueError";
  readonly faults: readonly CatalogueFault[];

  constructor(faults: readonly [CatalogueFault, ...CatalogueFault[]], options?: { cause?: unknown }) {
    const more = faults.length === 1 ? "" : ` (and ${faults.length - 1} more)`;
    super(sentence(faults[0]) + more, options);
    this.faults = faults;
  }
}

/** Returns one line: `file:line: place: message`. */
export function sentence(fault: CatalogueFault): string {
  const line = fault.line === undefined ? "" : `:${fault.line}`;
  const place = fault.place === "" ? "" : `${fault.place}: `;
  return `${fault.file}${line}: ${place}${fault.message}`;
}

/** @throws CatalogueError if there is any fault */
export function throwFaults(faults: readonly CatalogueFault[]): void {
  const [first, ...rest] = faults;
  if (first !== undefined) throw new CatalogueError([first, ...rest]);
}

/** Returns a value for quoting in a fault: short, on one line. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
