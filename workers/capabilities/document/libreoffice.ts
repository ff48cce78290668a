/**
 * LibreOffice, in a file system that holds its own files and one run's folder: documents name pictures by address, and it
 * reads those from the machine it runs on. For child processes only.
 */
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { LibreOffice } from "../tools.ts";

import type { OfficeKind } from "./office.ts";

/** Its own names of readers: it would otherwise guess by what it finds in the file. */
const READERS: Readonly<Record<OfficeKind | "rtf", string>> = {
  docx: "MS Word 2007 XML",
  xlsx: "Calc MS Excel 2007 XML",
  pptx: "Impress MS PowerPoint 2007 XML",
  odt: "writer8",
  ods: "calc8",
  odp: "impress8",
  rtf: "Rich Text Format",
};

const SETTINGS = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
</oor:items>
`;

/** System paths that it needs besides its own folder; those that do not exist are skipped. */
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/fonts", "/etc/libreoffice", "/var/cache/fontconfig"];
const TRIAL_MS = 20_000;

/** @returns the path of the PDF that it makes in `folder`; nothing is there when it cannot read the document */
export async function printOffice(
  libreoffice: LibreOffice | undefined,
  { folder, source, kind }: { readonly folder: string; readonly source: string; readonly kind: OfficeKind | "rtf" },
): Promise<string> {
  const profile = join(folder, "profile");
  mkdirSync(join(profile, "user"), { recursive: true });
  await writeFile(join(profile, "user", "registrymodifications.xcu"), SETTINGS);
  const made = join(folder, "made");
  mkdirSync(made, { recursive: true });
  const office = start(libreoffice, folder, [
    "--headless",
    "--norestore",
    "--nolockcheck",
    "--nodefault",
    `-env:UserInstallation=file://${profile}`,
    `--infilter=${READERS[kind]}`,
    "--convert-to",
    "pdf",
    "--outdir",
    made,
    source,
  ]);
  await office.exited;
  return join(made, "document.pdf");
}

/** Checks that LibreOffice starts here. @throws Error if it does not */
export async function tryLibreOffice(folder: string, libreoffice: LibreOffice | undefined): Promise<void> {
  const office = start(libreoffice, folder, ["--version"], { timeout: TRIAL_MS, stderr: "pipe" });
  const [code, stderr] = await Promise.all([office.exited, new Response(office.stderr).text()]);
  if (code !== 0) throw new Error(`LibreOffice ended with ${code}: ${stderr}`);
}

function start<Stderr extends "ignore" | "pipe" = "ignore">(
  libreoffice: LibreOffice | undefined,
  folder: string,
  args: readonly string[],
  { timeout, stderr }: { readonly timeout?: number; readonly stderr?: Stderr } = {},
): Bun.Subprocess<"ignore", "ignore", Stderr> {
  if (!libreoffice) throw new Error("there is no LibreOffice here");
  const { path, bwrap } = libreoffice;
  // `program/soffice` is in the folder of its installation, which may be outside of the system's.
  const visible = [...SYSTEM, dirname(dirname(path))].flatMap((one) => ["--ro-bind-try", one, one]);
  const view = [...visible, "--tmpfs", "/tmp", ...processesOf(bwrap), "--dev", "/dev", "--bind", folder, folder];
  return Bun.spawn([bwrap, "--unshare-all", "--die-with-parent", ...view, "--", path, ...args], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: (stderr ?? "ignore") as Stderr,
    env: { HOME: folder, TMPDIR: folder, PATH: "/usr/bin:/bin" },
    ...(timeout === undefined ? {} : { timeout, killSignal: "SIGKILL" as const }),
  });
}

/**
 * Arguments for a `/proc` of its own processes. Where a container hides parts of its own `/proc`, the kernel allows no other: then it is
 * that one, read-only. It shows the names of processes there; the user namespace keeps their environment and files closed.
 */
function processesOf(bwrap: string): readonly string[] {
  const own = ["--proc", "/proc"];
  const { success } = Bun.spawnSync([bwrap, "--unshare-all", "--ro-bind", "/", "/", ...own, "true"], {
    stdio: ["ignore", "ignore", "ignore"],
    timeout: TRIAL_MS,
  });
  return success ? own : ["--ro-bind", "/proc", "/proc"];
}
