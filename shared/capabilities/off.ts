/** Engines that are off until operators switch them on, each with what does so. */
export const OFF_BY_DEFAULT: Readonly<Record<string, string>> = { python: "Set SLUICE_PYTHON=on." };
