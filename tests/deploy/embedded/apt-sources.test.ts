import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { debianArchive, isDebian } from "#deploy/embedded/apt-sources.mjs";

import { temporaryDirectory } from "../../support/infrastructure.ts";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ directory: root, remove } = temporaryDirectory());
  put("etc/os-release", 'PRETTY_NAME="Debian GNU/Linux 12"\nVERSION_CODENAME=bookworm\nID=debian\n');
  put(KEYRING, "");
});
afterEach(() => remove());

function put(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const stanza = (fields: string): void => put("etc/apt/sources.list.d/debian.sources", fields);

test.each([
  ["etc", "ID=debian\n", true],
  ["etc", 'ID="debian"\n', true],
  ["etc", "ID='debian'\n", true],
  ["etc", "NAME=x\r\nID=debian\r\n", true],
  ["usr/lib", "ID=debian", true],
  ["etc", "ID=ubuntu\nID_LIKE=debian\n", false],
  ["etc", "ID=raspbian\nID_LIKE=debian\n", false],
  ["etc", 'VARIANT_ID=debian\nID="fedora"\n', false],
  ["etc", "", false],
])("a system whose os-release in %s is %j is Debian: %p", (folder, text, expected) => {
  rmSync(join(root, "etc/os-release"));
  put(`${folder}/os-release`, text);
  expect(isDebian(root)).toBe(expected);
});

test("os-release in etc takes precedence over the one in usr/lib", () => {
  put("usr/lib/os-release", "ID=fedora\n");
  expect(isDebian(root)).toBe(true);
  put("etc/os-release", "ID=ubuntu\n");
  put("usr/lib/os-release", "ID=debian\n");
  expect(isDebian(root)).toBe(false);
});

// No list of packages has been downloaded there, as in a new container.
describe.skipIf(Bun.which("apt-get") === null)("the Debian mirror of this machine", () => {
  test("is read from a stanza of a .sources file, past other archives", async () => {
    put(
      "etc/apt/sources.list.d/a.sources",
      "Types: deb\nURIs: http://other.example/x\nSuites: nodistro\nComponents: main\n",
    );
    stanza(
      `Types: deb\n# a remark\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: ${KEYRING}\n`,
    );
    expect(await debianArchive(root)).toEqual({ uris: ["http://mirror.example/debian/"], keyring: KEYRING });
  });

  test("is read from a line with and without options", async () => {
    const lines = "# deb http://old.example/debian bookworm main\ndeb http://mirror.example/debian bookworm main\n";
    put("etc/apt/sources.list", lines);
    expect((await debianArchive(root))?.uris).toEqual(["http://mirror.example/debian/"]);
    put(
      "etc/apt/sources.list",
      "deb [arch=amd64 signed-by=/keys/own.gpg] http://signed.example/debian bookworm main\n",
    );
    expect(await debianArchive(root)).toEqual({ uris: ["http://signed.example/debian/"], keyring: KEYRING });
  });

  test("is one of several if another archive uses the suite names of Debian", async () => {
    put("etc/apt/sources.list.d/browser.list", "deb http://browser.example stable main\n");
    stanza("Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n");
    expect((await debianArchive(root))?.uris).toEqual(["http://browser.example/", "http://mirror.example/debian/"]);
  });

  test("is not read from source packages or from a disabled stanza", async () => {
    put("etc/apt/sources.list", "deb-src http://mirror.example/debian bookworm main\n");
    stanza("Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n");
    expect(await debianArchive(root)).toBeNull();
  });

  test("does not exist on another system, or without the keyring of Debian", async () => {
    put("etc/apt/sources.list", "deb http://mirror.example/debian bookworm main\n");
    expect(await debianArchive(root)).not.toBeNull();
    put("etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=bookworm\n");
    expect(await debianArchive(root)).toBeNull();
    put("etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n");
    rmSync(join(root, KEYRING));
    expect(await debianArchive(root)).toBeNull();
  });
});
