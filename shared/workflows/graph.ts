/** Graph of the steps that wait for others. */

/** @param waits id of a step → ids of those that it waits for. @returns ids of steps that wait for one another in a ring, the first of them twice; undefined where none do */
export function findCycle(waits: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  // Iterative: definitions may chain all their steps.
  for (const start of waits.keys()) {
    const path: { readonly id: string; readonly rest: string[] }[] = [];
    const enter = (id: string): void => void path.push({ id, rest: [...(waits.get(id) ?? [])] });
    if (!done.has(start)) enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.rest.pop();
      if (next === undefined) {
        done.add(last.id);
        path.pop();
        continue;
      }
      const from = path.findIndex(({ id }) => id === next);
      if (from !== -1) return [...path.slice(from).map(({ id }) => id), next];
      if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}
