/** Single settings of an environment, each with the fault that a wrong one is. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Servers without which most processes cannot start. */
export type Server = "database" | "nats";

/** @param faults gets a sentence for each setting that is missing or malformed; its fallback is what is read then */
export function createReader(environment: Environment, needs: readonly Server[], faults: string[]) {
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const address = (server: Server, name: string, example: string): string => {
    const value = text(name);
    if (value === undefined && needs.includes(server))
      faults.push(`${name} is not set; expected for example ${example}`);
    return value ?? "";
  };
  const url = (name: string, value: string | undefined, protocols: readonly string[]): void => {
    if (value === undefined || value === "") return;
    const ok = value.split(",").every((part) => URL.canParse(part) && protocols.includes(new URL(part).protocol));
    if (!ok) faults.push(`${name} is not a URL with ${protocols.join(" or ")}`);
  };
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    faults.push(`${name} must be a whole number from ${min} to ${max}, got "${value.slice(0, 40)}"`);
    return fallback;
  };
  const flag = (name: string, fallback: boolean): boolean => {
    const value = text(name);
    if (value === undefined) return fallback;
    if (value === "on" || value === "true" || value === "1") return true;
    if (value === "off" || value === "false" || value === "0") return false;
    faults.push(`${name} must be on or off, got "${value.slice(0, 40)}"`);
    return fallback;
  };
  const list = (name: string): readonly string[] =>
    Object.freeze(
      (text(name) ?? "")
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean),
    );

  return { text, address, url, integer, flag, list };
}
