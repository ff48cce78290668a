/** Query strings for Deepgram, whose parameters are in the query and whose bodies are audio or text. */

/** Returns one pair per member; lists become repeated pairs, and undefined or null members are omitted. */
export function queryOf(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) query.append(name, String(item));
    }
  }
  return query.toString();
}
