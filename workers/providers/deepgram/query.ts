/** Deepgram is steered by the query: its bodies are audio or text. */

/** One pair for each member, lists as repeated ones; what is undefined or null is left out. */
export function queryOf(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) query.append(name, String(item));
    }
  }
  return query.toString();
}
