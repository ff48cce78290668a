/** The page beside the results: everything to be seen and heard at a glance, without a network. */
import { fileURLToPath } from "node:url";

import { formatCredits } from "#shared/money.ts";

import type { Artifact, Call, Result } from "./calls.ts";

export interface Done {
  readonly call: Call;
  readonly model: string;
  readonly seconds: number;
  /** Nano-credits. */
  readonly credits: bigint;
  readonly result: Result | { readonly fault: string };
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8886; padding: 1rem 0; }
h2 { font-size: 1.1rem; margin: 0; }
small { color: #888; }
img, video { display: block; max-width: min(100%, 32rem); margin: .5rem 0; border-radius: .3rem; }
canvas { display: block; width: min(100%, 32rem); height: 20rem; margin: .5rem 0; border-radius: .3rem; background: #8882; cursor: grab; }
audio { display: block; width: min(100%, 32rem); margin: .5rem 0; }
pre { white-space: pre-wrap; font: inherit; margin: .5rem 0; }
figure { margin: .5rem 0; }
figcaption, summary { color: #888; }
.fault { color: #c33; }`;

/** The page as HTML, whole in itself but for the files beside it. */
export async function pageOf(all: readonly Done[], at: Date): Promise<string> {
  const credits = formatCredits(all.reduce((sum, done) => sum + done.credits, 0n));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sluice: every kind of model and capability, called once</title>
<style>${STYLE}
</style>
<h1>Every kind of model and capability, called once</h1>
<p>${at.toISOString().slice(0, 16).replace("T", " ")} UTC, ${all.length} calls, ${credits} credits.</p>
${all.map(sectionOf).join("\n")}
<script>${await viewerScript()}</script>
</html>
`;
}

/** Script that makes meshes rotatable, bundled with its library: a page opened from disk may not load modules. */
async function viewerScript(): Promise<string> {
  const viewer = fileURLToPath(new URL("viewer.mjs", import.meta.url));
  const { outputs } = await Bun.build({ entrypoints: [viewer], target: "browser", format: "iife", minify: true });
  return (await outputs[0]?.text())?.replaceAll("</script", "<\\/script") ?? "";
}

function sectionOf({ call, model, seconds, credits, result }: Done): string {
  const price = "receipt" in result ? `, ${formatCredits(credits)} credits` : "";
  return `<section>
<h2>${Bun.escapeHTML(call.title)}</h2>
<small>${Bun.escapeHTML(model)}, ${seconds.toFixed(1)} s${price}</small>
${bodyOf(result)}
</section>`;
}

function bodyOf(result: Done["result"]): string {
  if ("fault" in result) return `<p class="fault">${Bun.escapeHTML(result.fault)}</p>`;
  if ("skipped" in result) return `<p>Not shown: ${Bun.escapeHTML(result.skipped)}</p>`;
  return [...(result.text === undefined ? [] : [textOf(result.text)]), ...result.artifacts.map(captioned)].join("\n");
}

/** JSON can be long, and is for those who ask for it. */
function textOf(text: string): string {
  const whole = `<pre>${Bun.escapeHTML(text)}</pre>`;
  return /^[[{]/.test(text) ? `<details><summary>The answer, as JSON</summary>${whole}</details>` : whole;
}

function captioned(artifact: Artifact): string {
  const { caption } = artifact;
  if (caption === undefined) return shown(artifact);
  return `<figure>${shown(artifact)}<figcaption>${Bun.escapeHTML(caption)}</figcaption></figure>`;
}

function shown({ file, bytes }: Artifact): string {
  const link = encodeURIComponent(file);
  const name = Bun.escapeHTML(file);
  if (/\.(?:png|jpg|webp)$/.test(file)) return `<img src="${link}" alt="${name}">`;
  // Shown from its first half second, since a video may begin blank.
  if (/\.(?:mp4|webm)$/.test(file)) {
    return `<video src="${link}#t=0.5" controls loop playsinline preload="metadata"></video>`;
  }
  if (/\.(?:mp3|wav)$/.test(file)) return `<audio src="${link}" controls></audio>`;
  const canvas = file.endsWith(".glb") ? `<canvas data-mesh="${bytes.toBase64()}"></canvas>\n` : "";
  return `${canvas}<p><a href="${link}">${name}</a></p>`;
}
