/** Builds query strings for Deepgram. Its parameters are in the query string, because its bodies are audio or text. */

/** Returns a query string with one pair per member. A list becomes repeated pairs; undefined and null members are omitted. */
export function queryOf(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) query.append(name, String(item));
    }
  }
  return query.toString();
}
