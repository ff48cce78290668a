/** Engines that are disabled by default, each with the instruction that enables it. */
export const OFF_BY_DEFAULT: Readonly<Record<string, string>> = { python: "Set SLUICE_PYTHON=on." };

/** Engines that need software which a machine may lack. Their capabilities are listed once a worker has reported the engine. */
export const NOT_PACKAGED: ReadonlySet<string> = new Set(["browser", "libreoffice"]);
