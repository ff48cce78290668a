/** Run by environment.test.ts as a process of its own: what it reads of the environment is read when it starts. */
import { allowOutbound } from "#shared/net/allowance.ts";
import { fetchPublic } from "#shared/net/fetch.ts";

const [way, url = "", entry = ""] = process.argv.slice(2);

async function ask(): Promise<string> {
  if (way === "fetch") return (await fetch(url)).text();
  allowOutbound([entry], { warn: () => undefined });
  const request = { signal: new AbortController().signal, bytesMax: 1_000, timeoutMs: 10_000 };
  const { bytes } = await fetchPublic(url, request, () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]));
  return Buffer.from(bytes).toString();
}

process.stdout.write(await ask().catch((error: unknown) => String(error)));
