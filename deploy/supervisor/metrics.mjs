// @ts-check
/** Several processes' Prometheus texts as one. */

/**
 * Each metric family appears once with one HELP and one TYPE, and every sample says which process it is from.
 * @param {readonly { process: string, text: string }[]} parts
 * @returns {string}
 */
export function mergeMetrics(parts) {
  /** @type {Map<string, { help: string | null, type: string | null, samples: string[] }>} */
  const families = new Map();
  const family = (/** @type {string} */ name) => {
    let found = families.get(name);
    if (found === undefined) families.set(name, (found = { help: null, type: null, samples: [] }));
    return found;
  };
  for (const { process, text } of parts) {
    let current = "";
    for (const line of text.split("\n")) {
      const [, keyword, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (keyword !== undefined) {
        current = name;
        if (keyword === "HELP") family(name).help ??= line;
        else family(name).type ??= line;
      } else if (line !== "" && !line.startsWith("#")) {
        const sample = /^[^\s{]+/.exec(line)?.[0] ?? "";
        // The samples of a histogram or summary carry the family's name with a suffix.
        const owner = current !== "" && sample.startsWith(current) ? current : sample;
        family(owner).samples.push(labelled(line, sample, process));
      }
    }
  }
  let merged = "";
  for (const { help, type, samples } of families.values()) {
    for (const line of [help, type, ...samples]) if (line !== null) merged += `${line}\n`;
  }
  return merged;
}

/**
 * @param {string} line
 * @param {string} name
 * @param {string} process
 * @returns {string}
 */
function labelled(line, name, process) {
  const rest = line.slice(name.length);
  if (!rest.startsWith("{")) return `${name}{process="${process}"}${rest}`;
  return `${name}{process="${process}"${rest.startsWith("{}") ? "" : ","}${rest.slice(1)}`;
}
