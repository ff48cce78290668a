/**
 * Runs LibreOffice in a sandbox that contains only its own files and the run's folder. Documents can reference local files as pictures, and
 * LibreOffice would read those files. For child processes only.
 */
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { LibreOffice } from "../tools.ts";

import type { OfficeKind } from "./office.ts";

/**
 * LibreOffice's names of its import filters, by document format. Without a filter name, LibreOffice detects the format from the content.
 */
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

/** System folders that LibreOffice needs in addition to its own folder. Missing folders are skipped. */
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/fonts", "/etc/libreoffice", "/var/cache/fontconfig"];
const TRIAL_MS = 20_000;

/**
 * Converts a document to PDF with LibreOffice.
 * @returns the path of the PDF in `folder`; the file does not exist if LibreOffice cannot read the document
 */
export async function printOffice(
  libreoffice: LibreOffice | undefined,
  { folder, source, kind }: { readonly folder: string; readonly source: string; readonly kind: OfficeKind | "rtf" },
): Promise<string> {
  const profile = join(folder, "profile");
  mkdirSync(join(profile, "user"), { recursive: true });
  await writeFile(join(profile, "user", "registrymodifications.xcu"), SETTINGS);
  const outputFolder = join(folder, "made");
  mkdirSync(outputFolder, { recursive: true });
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
    outputFolder,
    source,
  ]);
  await office.exited;
  return join(outputFolder, "document.pdf");
}

/** Checks that LibreOffice starts on this machine. @throws Error if it does not */
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
  // LibreOffice's folder, two levels above `program/soffice`, may be outside the system paths.
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
 * Returns arguments for bwrap that mount a `/proc` with only the sandbox's processes. The kernel refuses this in a container that masks
 * parts of its own `/proc`. The container's `/proc` is then mounted read-only. It lists process names, but the user namespace hides their
 * environment and files.
 */
function processesOf(bwrap: string): readonly string[] {
  const own = ["--proc", "/proc"];
  const { success } = Bun.spawnSync([bwrap, "--unshare-all", "--ro-bind", "/", "/", ...own, "true"], {
    stdio: ["ignore", "ignore", "ignore"],
    timeout: TRIAL_MS,
  });
  return success ? own : ["--ro-bind", "/proc", "/proc"];
}
