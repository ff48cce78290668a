/** One number from a role's page of metrics. */

/** @param labels text that the sample's labels must contain. @throws Error when there is no such sample */
export async function metric(adminUrl: string, name: string, labels = ""): Promise<number> {
  const page = await (await fetch(`${adminUrl}/metrics`)).text();
  for (const [, own = "", value] of page.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"))) {
    if (own.includes(labels)) return Number(value);
  }
  throw new Error(`no sample of ${name} with ${labels || "any labels"}`);
}
